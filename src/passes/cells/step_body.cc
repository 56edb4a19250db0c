// SPDX-License-Identifier: Apache-2.0
#include "passes/cells/step_body.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/node_attributes.h"
#include "passes/cells/cell_sums.h"
#include "passes/fold_constants.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE::cells {
namespace {

constexpr int kAbsent = GraphEdit::kAbsent;
constexpr int kMaxDepth = 200;

// The value node n passes on as it is; kAbsent when it does something.
int PassedOn(const GraphEdit& graph, int n) {
  if (graph.Is(n, "Identity")) return graph.input(n, 0);
  if (!graph.Is(n, "Cast")) return kAbsent;
  const TensorType type = graph.TypeOf(graph.input(n, 0));
  return type != TensorType::kUndefined && type == graph.TypeOf(graph.outputs(n)[0]) ? graph.input(n, 0) : kAbsent;
}

}  // namespace

bool IsLastAxis(int64_t axis, const OptimShape& shape) {
  return axis == -1 || (!shape.IsUnknown() && axis == static_cast<int64_t>(shape.Rank()) - 1);
}

const Carried* StepBody::CarriedAt(Place place) const {
  if (place.graph != body) return nullptr;
  const auto it = std::ranges::find(carried, place.value, &Carried::in);
  return it == carried.end() ? nullptr : &*it;
}

bool StepBody::IsInvariant(const Carried& value) const {
  int v = value.next;
  while (v != value.in) {
    const int n = body->producer(v);
    v = n == kAbsent ? kAbsent : PassedOn(*body, n);
    if (v == kAbsent) return false;
  }
  return true;
}

Place StepBody::Resolve(Place place) const {
  for (;;) {
    const auto [graph, v] = place;
    if (const int n = graph->producer(v); n != kAbsent) {
      const int before = PassedOn(*graph, n);
      if (before == kAbsent) return place;
      place.value = before;
    } else if (const Carried* value = CarriedAt(place); value != nullptr && IsInvariant(*value)) {
      place = {outer, value->initial};
    } else if (graph == body && body != outer && body->IsOutside(v)) {
      place = {outer, outer->Find(body->name(v))};
    } else {
      return place;
    }
  }
}

std::vector<Place> StepBody::Parts(Place place) const {
  constexpr size_t kMaxParts = 64;
  std::vector<Place> parts, rest{place};
  while (!rest.empty()) {
    place = Resolve(rest.back());
    rest.pop_back();
    const auto [graph, v] = place;
    const int n = graph->producer(v);
    if (n == kAbsent || !graph->Is(n, "Concat") || parts.size() + rest.size() > kMaxParts ||
        !IsLastAxis(NodeAttributes(graph->node(n)).Int("axis"), graph->ShapeOf(v))) {
      parts.push_back(place);
      continue;
    }
    for (size_t i = graph->inputs(n).size(); i-- > 0;) rest.push_back({graph, graph->inputs(n)[i]});
  }
  return parts;
}

std::optional<StepInput> StepBody::FixedPart(Place place) const {
  place = Resolve(place);
  const GraphEdit& graph = *place.graph;
  int v = place.value, n = graph.producer(v);
  while (n != kAbsent && (graph.Is(n, "Squeeze") || graph.Is(n, "Unsqueeze") || graph.Is(n, "Reshape"))) {
    v = Resolve({&graph, graph.input(n, 0)}).value;
    n = graph.producer(v);
  }
  if (n == kAbsent || (!graph.Is(n, "Gather") && !graph.Is(n, "Split") && !graph.Is(n, "Slice"))) return std::nullopt;
  const int data = Resolve({&graph, graph.input(n, 0)}).value;
  const OptimShape shape = graph.ShapeOf(data);
  if (shape.IsUnknown()) return std::nullopt;
  const auto rank = static_cast<int64_t>(shape.Rank());
  const auto number = [&](size_t i) -> std::optional<int64_t> {
    const auto known = Number({&graph, graph.input(n, i)});
    return known && known->IsInt() ? std::optional(known->AsInt()) : std::nullopt;
  };
  StepInput part{.value = data, .axis = NodeAttributes(graph.node(n)).Int("axis", 0)};
  if (graph.Is(n, "Slice")) {
    const auto start = number(1), end = number(2), axis = number(3), step = number(4);
    if (!start || !end || !axis || step.value_or(1) != 1 || *end <= *start || *end - 1 != *start || *end == 0)
      return std::nullopt;
    part.axis = *axis;
    part.index = *start;
  } else if (graph.Is(n, "Gather")) {
    const auto index = number(1);
    if (!index) return std::nullopt;
    part.index = *index;
  }
  if (part.axis < 0) part.axis += rank;
  if (part.axis < 0 || part.axis + 1 >= rank) return std::nullopt;
  const auto axis = static_cast<size_t>(part.axis);
  if (graph.Is(n, "Split")) {
    part.index = 0;
    for (const int output : graph.outputs(n)) {
      const OptimShape size = output == kAbsent ? OptimShape::Unknown() : graph.ShapeOf(output);
      if (size.Rank() != shape.Rank() || !(size[axis] == OptimDim(1))) return std::nullopt;
      if (output == v) break;
      ++part.index;
    }
  }
  if (part.index < 0) part.index += shape[axis].IsInt() ? shape[axis].AsInt() : 0;
  return part.index < 0 ? std::nullopt : std::optional(part);
}

const Tensor& StepBody::Constant(Place place) const {
  static const Tensor none{};
  if (place.value == kAbsent || depth_ > kMaxDepth) return none;
  place = Resolve(place);
  if (const auto it = constants_.find(place); it != constants_.end()) return it->second;
  ++depth_;
  Tensor tensor = Fold(place);
  --depth_;
  return constants_.emplace(place, std::move(tensor)).first->second;
}

Tensor StepBody::Fold(Place place) const {
  const auto [graph, v] = place;
  if (const TensorProto* constant = graph->Constant(v)) {
    try {
      return TensorFromProto(*constant);
    } catch (const std::exception&) {
      return {};  // planning says what is wrong with it
    }
  }
  const int n = graph->producer(v);
  if (n == kAbsent || (graph->inputs(n).empty() && !graph->Is(n, "Constant"))) return {};
  std::vector<Value> values;
  for (const int input : graph->inputs(n)) {
    values.emplace_back();
    if (input == kAbsent) continue;
    const Tensor& tensor = Constant({graph, input});
    if (!tensor.defined()) return {};
    values.back() = tensor;
  }
  return FoldNode(*graph, n, std::move(values)).value_or(Tensor());
}

bool StepBody::IsZero(Place place) const {
  const Tensor& tensor = Constant(place);
  const auto is_zero = [](auto elements) { return std::ranges::all_of(elements, [](auto e) { return e == 0; }); };
  if (tensor.dtype() == TensorType::kDouble) return is_zero(tensor.View<double>());
  return tensor.dtype() == TensorType::kFloat && is_zero(tensor.View<float>());
}

OptimDim StepNumber() { return OptimDim::Symbol("number of the step"); }

std::optional<OptimDim> StepBody::Number(Place place) const {
  if (place.value == kAbsent || depth_ > kMaxDepth) return std::nullopt;
  place = Resolve(place);
  const auto [graph, v] = place;
  if (graph == body && v == iteration) return StepNumber();
  if (const Carried* counter = CarriedAt(place)) return CountedNumber(*counter);
  if (IsOuter(place)) {
    if (auto number = graph->context().types->NumberOf(outer->graph(), outer->name(v))) return number;
  }
  if (const Tensor& tensor = Constant(place); tensor.defined()) {
    if (tensor.NumElements() != 1) return std::nullopt;
    switch (tensor.dtype()) {
      case TensorType::kInt64:
        return OptimDim(tensor.View<int64_t>()[0]);
      case TensorType::kInt32:
        return OptimDim(tensor.View<int32_t>()[0]);
      case TensorType::kFloat: {
        const float number = tensor.View<float>()[0];
        if (std::trunc(number) != number || std::abs(number) > float{1 << 24}) return std::nullopt;
        return OptimDim(static_cast<int64_t>(number));
      }
      default:
        return std::nullopt;
    }
  }
  ++depth_;
  auto number = NumberOfNode(place);
  --depth_;
  return number;
}

std::optional<OptimDim> StepBody::NumberOfNode(Place place) const {
  const auto [graph, v] = place;
  const int n = graph->producer(v);
  if (n == kAbsent) return std::nullopt;
  const auto input = [&](size_t i) { return Number({graph, graph->input(n, i)}); };
  for (const std::string_view same : {"Cast", "Squeeze", "Unsqueeze", "Reshape"})
    if (graph->Is(n, same)) return input(0);
  const bool add = graph->Is(n, "Add"), subtract = graph->Is(n, "Sub");
  if (!add && !subtract) return std::nullopt;
  const auto left = input(0), right = input(1);
  if (!left || !right) return std::nullopt;
  return add ? *left + *right : *left - *right;
}

// What grows by the same in every step.
std::optional<OptimDim> StepBody::CountedNumber(const Carried& counter) const {
  const OptimDim before = OptimDim::Symbol("carried " + std::to_string(counter.in));
  const auto [it, is_new] = counters_.emplace(counter.in, before);
  if (!is_new) return it->second;
  const auto after = Number({body, counter.next});
  const auto initial = Number({outer, counter.initial});
  std::optional<OptimDim> number;
  if (after && initial && (*after - before).IsInt()) number = *initial + (*after - before) * StepNumber();
  return counters_[counter.in] = number;
}

namespace {

// That the value is true: all of these numbers are above 0.
class Conditions {
 public:
  explicit Conditions(const StepBody& steps) : steps_(steps) {}
  std::vector<OptimDim> Of(Place place) {
    std::vector<OptimDim> positive;
    Collect(place, positive, 0);
    return positive;
  }

 private:
  [[noreturn]] static void Fail() { throw NotACell{"its condition is none of a count of steps"}; }

  void Collect(Place place, std::vector<OptimDim>& positive, int depth) {
    if (depth > kMaxDepth) Fail();
    place = steps_.Resolve(place);
    const auto [graph, v] = place;
    if (graph == steps_.body && v == steps_.condition) return;
    if (const Tensor& tensor = steps_.Constant(place); tensor.defined()) {
      if (tensor.dtype() != TensorType::kBool || tensor.NumElements() != 1 || !tensor.View<bool>()[0]) Fail();
      return;
    }
    const int n = graph->producer(v);
    if (n == kAbsent) Fail();
    if (graph->Is(n, "And")) {
      Collect({graph, graph->input(n, 0)}, positive, depth + 1);
      Collect({graph, graph->input(n, 1)}, positive, depth + 1);
      return;
    }
    for (const std::string_view same : {"Squeeze", "Unsqueeze", "Reshape"})
      if (graph->Is(n, same)) return Collect({graph, graph->input(n, 0)}, positive, depth + 1);
    const bool less = graph->Is(n, "Less"), less_equal = graph->Is(n, "LessOrEqual");
    if (!less && !less_equal && !graph->Is(n, "Greater") && !graph->Is(n, "GreaterOrEqual")) Fail();
    const auto left = steps_.Number({graph, graph->input(n, 0)}), right = steps_.Number({graph, graph->input(n, 1)});
    if (!left || !right) Fail();
    const OptimDim difference = less || less_equal ? *right - *left : *left - *right;
    positive.push_back(less || graph->Is(n, "Greater") ? difference : difference + OptimDim(1));
  }

  const StepBody& steps_;
};

// How many more it is than the other.
std::optional<int64_t> MoreThan(const OptimDim& a, const OptimDim& b) {
  const OptimDim difference = a - b;
  return difference.IsInt() ? std::optional(difference.AsInt()) : std::nullopt;
}

}  // namespace

void CheckIterations(const StepBody& steps, int limit, int condition, int goes_on, const OptimDim& count) {
  Conditions conditions(steps);
  const GraphEdit &outer = *steps.outer, &body = *steps.body;
  // Each of the following lets all steps happen; one of them is to let no more happen, be they none.
  bool ends = false, none_at_all = onnx_optim::LowerBound(count).value_or(0) >= 1;
  const auto fail = [](const char* what) {
    throw NotACell{std::string("its ") + what + " is not that of steps in its input"};
  };
  if (limit != kAbsent) {
    const auto most = steps.Number({&outer, limit});
    if (!most) fail("number of iterations");
    const auto more = MoreThan(*most, count);
    constexpr int64_t kManyIterations = int64_t{1} << 31;
    const bool no_limit = most->IsInt() && most->AsInt() >= kManyIterations - 1;
    if (!no_limit && more.value_or(-1) < 0) fail("number of iterations");
    ends = more == 0;
    none_at_all = none_at_all || ends;
  }
  if (condition != kAbsent) {
    for (const OptimDim& positive : conditions.Of({&outer, condition})) {
      // True whenever there is a step.
      const auto more = MoreThan(positive, count);
      if (!(positive.IsInt() && positive.AsInt() > 0) && more.value_or(-1) < 0) fail("first condition");
      none_at_all = none_at_all || more == 0;
    }
  }
  for (const OptimDim& positive : conditions.Of({&body, goes_on})) {
    // After step i it goes on when i < count + more.
    const auto more = MoreThan(positive + StepNumber(), count);
    if (more.value_or(-2) < -1) fail("condition");
    ends = ends || more == -1;
  }
  if (!ends || !none_at_all) fail("number of iterations");
}

}  // namespace ONNX_LIGHT_NAMESPACE::cells
