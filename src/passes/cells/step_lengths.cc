// SPDX-License-Identifier: Apache-2.0
#include "passes/cells/step_lengths.h"

#include <utility>

namespace ONNX_LIGHT_NAMESPACE::cells {
namespace {

constexpr int kAbsent = GraphEdit::kAbsent;

// Past nodes that only put in or take out axes of size 1 or widen integers: elements stay in order.
Place PastAxes(const StepBody& steps, Place place) {
  for (;;) {
    place = steps.Resolve(place);
    const int n = place.graph->producer(place.value);
    if (n == kAbsent) return place;
    const bool widens = place.graph->Is(n, "Cast") && place.graph->TypeOf(place.value) == TensorType::kInt64 &&
                        place.graph->TypeOf(place.graph->input(n, 0)) == TensorType::kInt32;
    if (!widens && !place.graph->Is(n, "Unsqueeze") && !place.graph->Is(n, "Squeeze") && !place.graph->Is(n, "Reshape"))
      return place;
    place.value = place.graph->input(n, 0);
  }
}

// All axes but those of size 1.
std::vector<OptimDim> Dims(const OptimShape& shape) {
  std::vector<OptimDim> dims;
  for (const OptimDim& dim : shape)
    if (!(dim == OptimDim(1))) dims.push_back(dim);
  return dims;
}

}  // namespace

std::optional<ByLength> ReadByLength(const StepBody& steps, int value) {
  const Place place = steps.Resolve({steps.body, value});
  if (place.graph != steps.body) return std::nullopt;
  const GraphEdit& body = *steps.body;
  const int where = body.producer(place.value);
  if (where == kAbsent || !body.Is(where, "Where")) return std::nullopt;
  // One element for each row, beside the columns.
  const OptimShape shape = body.ShapeOf(body.input(where, 0)), of = body.ShapeOf(place.value);
  if (shape.IsUnknown() || of.IsUnknown() || shape.Rank() < 2 || shape.Rank() != of.Rank() ||
      !(shape[shape.Rank() - 1] == OptimDim(1)))
    return std::nullopt;
  for (size_t i = 0; i + 1 < shape.Rank(); ++i)
    if (!(shape[i] == of[i])) return std::nullopt;

  bool is_turned = false;
  Place condition = PastAxes(steps, {&body, body.input(where, 0)});
  while (condition.graph == &body && body.producer(condition.value) != kAbsent &&
         body.Is(body.producer(condition.value), "Not")) {
    is_turned = !is_turned;
    condition = PastAxes(steps, {&body, body.input(body.producer(condition.value), 0)});
  }
  const int n = condition.graph == &body ? body.producer(condition.value) : kAbsent;
  if (n == kAbsent) return std::nullopt;
  const bool less = body.Is(n, "Less"), greater = body.Is(n, "Greater");
  const bool less_equal = body.Is(n, "LessOrEqual"), greater_equal = body.Is(n, "GreaterOrEqual");
  if (!less && !greater && !less_equal && !greater_equal) return std::nullopt;
  if (less_equal || greater_equal) is_turned = !is_turned;
  // t < length and length > t; length <= t and t >= length are the opposite.
  const size_t time = less || greater_equal ? 0 : 1;
  const auto number = steps.Number({&body, body.input(n, time)});
  const Place lengths = PastAxes(steps, {&body, body.input(n, 1 - time)});
  if (!number || !(*number == StepNumber()) || !steps.IsOuter(lengths)) return std::nullopt;
  const TensorType type = lengths.graph->TypeOf(lengths.value);
  const OptimShape each = lengths.graph->ShapeOf(lengths.value);
  if (each.IsUnknown() || (type != TensorType::kInt32 && type != TensorType::kInt64)) return std::nullopt;
  std::vector<OptimDim> row_dims = of.Dims();
  row_dims.pop_back();
  if (Dims(each) != Dims(OptimShape(std::move(row_dims)))) return std::nullopt;
  const int yes = body.input(where, 1), no = body.input(where, 2);
  return ByLength{{lengths.value}, is_turned ? no : yes, is_turned ? yes : no};
}

}  // namespace ONNX_LIGHT_NAMESPACE::cells
