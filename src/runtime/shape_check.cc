// SPDX-License-Identifier: Apache-2.0
#include "runtime/shape_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::shapes::KnownElements;
using onnx_optim::shapes::KnownFloats;
using onnx_optim::shapes::SequenceInfo;

namespace {

constexpr size_t kMaxContradictions = 100;
// Expressions that wait for symbols of graphs further out; a loop would add some in each iteration.
constexpr size_t kMaxPending = 10'000;

bool IsWithin(std::string_view path, std::string_view outer) {
  return path.starts_with(outer) && (path.size() == outer.size() || path[outer.size()] == '/');
}

std::string_view CommonPath(std::string_view a, std::string_view b) {
  while (!IsWithin(b, a)) a = a.substr(0, a.rfind('/'));
  return a;
}

std::optional<int64_t> ElementAt(const Tensor& t, size_t i) {
  switch (t.dtype()) {
    case TensorType::kInt64:
      return t.View<int64_t>()[i];
    case TensorType::kInt32:
      return t.View<int32_t>()[i];
    case TensorType::kInt16:
      return t.View<int16_t>()[i];
    case TensorType::kInt8:
      return t.View<int8_t>()[i];
    case TensorType::kUint8:
      return t.View<uint8_t>()[i];
    case TensorType::kUint16:
      return t.View<uint16_t>()[i];
    case TensorType::kUint32:
      return static_cast<int64_t>(t.View<uint32_t>()[i]);
    case TensorType::kUint64:
      return static_cast<int64_t>(t.View<uint64_t>()[i]);
    case TensorType::kBool:
      return t.View<bool>()[i] ? 1 : 0;
    default:
      return std::nullopt;
  }
}

// What is said of all elements of a sequence names a dim that varies without a claim on the name.
std::set<std::string> ClaimedSymbols(const onnx_optim::shapes::ShapeValue& value) {
  if (value.IsOptional()) return ClaimedSymbols(value.Elem());
  const std::vector<std::string> all = SymbolsOf(value);
  std::set<std::string> claimed(all.begin(), all.end());
  if (value.IsSequence())
    for (const std::string& name : value.SequenceOf().varying) claimed.erase(name);
  return claimed;
}

}  // namespace

// A value or a part of one, as it is called in a message: spelled out only for those.
class ShapeCheck::Subject {
 public:
  Subject(std::string_view path, std::string_view name) : path_(path), name_(name) {}
  Subject(const Subject& of, std::string_view part, int64_t index = -1) : of_(&of), name_(part), index_(index) {}
  std::string Text() const {
    if (of_ == nullptr) return path_.empty() ? fmt::format("\"{}\"", name_) : fmt::format("\"{}\" in {}", name_, path_);
    return index_ < 0 ? fmt::format("{} of {}", name_, of_->Text())
                      : fmt::format("{} {} of {}", name_, index_, of_->Text());
  }

 private:
  const Subject* of_ = nullptr;
  std::string_view path_, name_;
  int64_t index_ = -1;
};

// Of one value.
class ShapeCheck::Comparison {
 public:
  Comparison(ShapeCheck& check, uint64_t run) : check_(check), run_(run) {}

  void Of(const Subject& what, const ShapeValue& inferred, const Value& actual) {
    switch (inferred.kind()) {
      case ShapeValue::Kind::kTensor:
        // The documented sequence says that of elements that are no tensors.
        if (inferred.Dtype() == TensorType::kUndefined && !inferred.HasRank()) return;
        if (!actual.IsTensor()) return SayOther(what, inferred, actual);
        return OfTensor(what, inferred, actual.tensor());
      case ShapeValue::Kind::kSequence:
        if (!actual.IsSequence()) return SayOther(what, inferred, actual);
        return OfSequence(what, inferred.SequenceOf(), actual.sequence());
      case ShapeValue::Kind::kMap:
        if (!actual.IsMap() || actual.map().key_type() != inferred.Dtype()) return SayOther(what, inferred, actual);
        for (int64_t i = 0; i < actual.map().size(); ++i)
          Of({what, "value", i}, inferred.Elem(), actual.map().values().ValueAt(i));
        return;
      case ShapeValue::Kind::kOptional:
        if (inferred.Present() && *inferred.Present() == actual.IsNone())
          return Say(what, "{}, inferred {}", actual.TypeString(), *inferred.Present() ? "present" : "absent");
        if (!actual.IsNone()) Of(what, inferred.Elem(), actual);
        return;
      default:
        return;
    }
  }

 private:
  template <class... Args>
  void Say(const Subject& what, fmt::format_string<Args...> fact, Args&&... args) {
    check_.Say(fmt::format("{} is {}", what.Text(), fmt::format(fact, std::forward<Args>(args)...)));
  }
  void SayOther(const Subject& what, const ShapeValue& inferred, const Value& actual) {
    Say(what, "{}, inferred {}", actual.TypeString(), inferred.ToString());
  }

  // A dim that is one symbol binds it; all others wait until the graph has run.
  void Dim(const Subject& what, const OptimDim& dim, int64_t actual) {
    if (dim.IsInt()) {
      if (dim.AsInt() != actual) Say(what, "{}, inferred {}", actual, dim.AsInt());
      return;
    }
    if (Varies(dim)) return;
    if (const std::string* name = onnx_optim::SymbolName(dim)) {
      GraphRun* owner = check_.OwnerOf(*name, run_);
      if (owner == nullptr) return;
      const auto [it, is_new] = owner->sizes.try_emplace(*name, actual);
      if (!is_new && it->second != actual)
        Say(what, "{}, but its symbol {} is {} elsewhere", actual, *name, it->second);
      return;
    }
    std::vector<Pending>& pending = check_.runs_.at(run_).pending;
    if (pending.size() < kMaxPending) pending.push_back({what.Text(), dim, actual});
  }
  bool Varies(const OptimDim& dim) const {
    const auto is_in = [&](const std::string& name) { return onnx_optim::Mentions(dim, name); };
    return (varying_ != nullptr && std::ranges::any_of(*varying_, is_in)) || std::ranges::any_of(check_.ragged_, is_in);
  }

  void OfTensor(const Subject& what, const ShapeValue& inferred, const Tensor& actual) {
    const OptimShape& shape = inferred.Shape();
    if (inferred.Dtype() != TensorType::kUndefined && inferred.Dtype() != actual.dtype())
      return SayOther(what, inferred, actual);
    if (shape.IsUnknown()) return;
    if (static_cast<int>(shape.Rank()) != actual.rank()) return SayOther(what, inferred, actual);
    for (size_t d = 0; d < shape.Rank(); ++d)
      Dim({what, "axis", static_cast<int64_t>(d)}, shape[d], actual.dim(static_cast<int>(d)));
    if (inferred.Floats() != nullptr) OfFloats(what, *inferred.Floats(), actual);
    if (inferred.Elements() == nullptr) return;
    const KnownElements& elements = *inferred.Elements();
    if (static_cast<int64_t>(elements.size()) != actual.NumElements())
      return Say({what, "the number of elements"}, "{}, inferred {}", actual.NumElements(), elements.size());
    for (size_t i = 0; i < elements.size(); ++i) {
      const std::optional<int64_t> element = ElementAt(actual, i);
      if (elements[i] && element) Dim({what, "element", static_cast<int64_t>(i)}, *elements[i], *element);
    }
  }

  // Every whole number below it is a float.
  static constexpr double kWholeFloats = 1 << 24;

  // Constants and whole dims; of quotients only what they lie between would be known.
  void OfFloats(const Subject& what, const KnownFloats& floats, const Tensor& actual) {
    if (static_cast<int64_t>(floats.size()) != actual.NumElements())
      return Say({what, "the number of elements"}, "{}, inferred {}", actual.NumElements(), floats.size());
    for (size_t i = 0; i < floats.size(); ++i) {
      const double element = actual.dtype() == TensorType::kFloat ? static_cast<double>(actual.View<float>()[i])
                                                                  : actual.View<double>()[i];
      if (!floats[i]) continue;
      const Subject of_element(what, "element", static_cast<int64_t>(i));
      if (floats[i]->IsConstant()) {
        const double known = floats[i]->factor;
        const bool same = known == element || (std::isnan(known) && std::isnan(element)) ||
                          std::fabs(known - element) <= 1e-6 * std::fabs(known) + 1e-37;
        if (!same) Say(of_element, "{}, inferred {}", element, known);
      } else if (floats[i]->factor == 1 && floats[i]->divisor == OptimDim(1) && std::fabs(element) < kWholeFloats) {
        Dim(of_element, floats[i]->dim, static_cast<int64_t>(element));
      }
    }
  }

  void OfSequence(const Subject& what, const SequenceInfo& inferred, const Sequence& actual) {
    Dim({what, "the length"}, inferred.length, actual.size());
    if (inferred.ElemDtype() != TensorType::kUndefined && actual.dtype() != TensorType::kUndefined &&
        inferred.ElemDtype() != actual.dtype())
      return Say(what, "{}, inferred elements {}", actual.TypeString(), onnx_optim::ToTypeString(inferred.ElemDtype()));
    if (inferred.elements && static_cast<int64_t>(inferred.elements->size()) != actual.size())
      return Say({what, "the length"}, "{}, inferred {}", actual.size(), inferred.elements->size());
    for (int64_t i = 0; i < actual.size(); ++i) {
      const Subject element(what, "element", i);
      if (inferred.elements) Of(element, (*inferred.elements)[static_cast<size_t>(i)], actual.ValueAt(i));
      const auto* const outer = std::exchange(varying_, &inferred.varying);
      Of(element, inferred.elem, actual.ValueAt(i));
      varying_ = outer;
    }
    if (!actual.HoldsTensors()) return;
    for (const auto& [axis, sum] : inferred.axis_sums) {
      int64_t total = 0;
      for (const Tensor& element : actual.elements())
        total += axis < element.rank() ? element.dim(static_cast<int>(axis)) : 0;
      Dim({what, "the sum of one axis"}, sum, total);
    }
  }

  ShapeCheck& check_;
  uint64_t run_;
  const std::vector<std::string>* varying_ = nullptr;  // of the sequence whose elements are looked at
};

ShapeCheck::ShapeCheck(const ModelProto& model) : ShapeCheck(model, InferShapes(model)) {}

ShapeCheck::ShapeCheck(const ModelProto& model, InferredShapes inferred) : inferred_(std::move(inferred)) {
  if (NeedsInlining(model)) {
    ModelProto copy(model);
    calls_ = InlineFunctions(copy);
  }
  for (const InlinedCall& call : calls_) call_of_prefix_.emplace(call.prefix, &call);
  for (const InferredGraph& graph : inferred_.graphs) {
    graphs_.emplace(graph.path, &graph.values);
    for (const auto& [name, value] : graph.values) {
      for (const std::string& symbol : ClaimedSymbols(value)) {
        const auto [it, is_new] = owners_.try_emplace(symbol, graph.path);
        if (!is_new) it->second = std::string(CommonPath(it->second, graph.path));
      }
    }
  }
}

const ShapeCheck::ShapeValue* ShapeCheck::Find(std::string_view path, std::string_view name) const {
  // A function's values stand among those of the graph that calls it.
  for (size_t slash = name.find('/'); slash != name.npos && !calls_.empty(); slash = name.find('/', slash + 1)) {
    const auto call = call_of_prefix_.find(name.substr(0, slash + 1));
    if (call == call_of_prefix_.end()) continue;
    if (!IsWithin(path, call->second->path)) path = call->second->path;
    name = name.substr(slash + 1);
    break;
  }
  const auto graph = graphs_.find(path);
  if (graph == graphs_.end()) return nullptr;
  const auto value = graph->second->find(std::string(name));
  return value == graph->second->end() ? nullptr : &value->second;
}

ShapeCheck::GraphRun* ShapeCheck::OwnerOf(std::string_view symbol, uint64_t run) {
  const auto owner = owners_.find(symbol);
  if (owner == owners_.end()) return nullptr;
  for (;;) {
    GraphRun& graph = runs_.at(run);
    if (IsWithin(owner->second, graph.path) || graph.outer == run) return &graph;
    run = graph.outer;
  }
}

void ShapeCheck::Say(std::string contradiction) {
  if (contradictions_.size() < kMaxContradictions &&
      std::ranges::find(contradictions_, contradiction) == contradictions_.end())
    contradictions_.push_back(std::move(contradiction));
}

void ShapeCheck::Check(uint64_t run, const std::string& name, const Value& value) {
  const std::string& path = runs_.at(run).path;
  const ShapeValue* inferred = Find(path, name);
  if (inferred == nullptr) return;
  ++checked_;
  Comparison(*this, run).Of(Subject(path, name), *inferred, value);
}

void ShapeCheck::FindRagged(const ShapeValue& inferred, const Value& fed) {
  const bool is_sequence = inferred.IsSequence() && fed.IsSequence();
  if (!is_sequence && !(inferred.IsMap() && fed.IsMap())) return;
  const OptimShape& shape = is_sequence ? inferred.SequenceOf().elem.Shape() : inferred.Elem().Shape();
  const Sequence& elements = is_sequence ? fed.sequence() : fed.map().values();
  if (!elements.HoldsTensors()) return;
  for (size_t d = 0; d < shape.Rank(); ++d) {
    const std::string* name = onnx_optim::SymbolName(shape[d]);
    std::set<int64_t> dims;
    for (const Tensor& element : elements.elements())
      if (static_cast<int>(d) < element.rank()) dims.insert(element.dim(static_cast<int>(d)));
    if (name != nullptr && dims.size() > 1) ragged_.insert(*name);
  }
}

void ShapeCheck::OnGraph(const GraphEvent& event) {
  const std::lock_guard lock(mutex_);
  runs_[event.run] = {.path = std::string(event.path), .outer = event.outer, .sizes = {}, .pending = {}};
  const bool is_main = event.run == event.outer;
  for (size_t i = 0; i < event.inputs.size() && is_main; ++i) {
    if (const ShapeValue* inferred = Find(event.path, event.graph.input(i).name()))
      FindRagged(*inferred, event.inputs[i]);
  }
  for (size_t i = 0; i < event.inputs.size(); ++i) {
    // An input of the model that is not fed: an absent optional, or one with a default.
    if (is_main && event.inputs[i].IsNone()) continue;
    Check(event.run, event.graph.input(i).name(), event.inputs[i]);
  }
}

void ShapeCheck::OnNode(const NodeEvent& event) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < event.outputs.size(); ++i)
    if (event.outputs[i] != nullptr) Check(event.run, event.node.output(i), *event.outputs[i]);
}

void ShapeCheck::OnGraphEnd(uint64_t run) {
  const std::lock_guard lock(mutex_);
  const auto size_of = [&](std::string_view symbol) -> std::optional<int64_t> {
    const GraphRun* owner = OwnerOf(symbol, run);
    if (owner == nullptr) return std::nullopt;
    const auto it = owner->sizes.find(symbol);
    return it == owner->sizes.end() ? std::nullopt : std::optional(it->second);
  };
  GraphRun& graph = runs_.at(run);
  for (Pending& pending : graph.pending) {
    const std::optional<int64_t> value = onnx_optim::Evaluate(pending.dim, size_of);
    if (value && *value != pending.actual)
      Say(fmt::format("{} is {}, inferred {} = {}", pending.what, pending.actual, pending.dim.ToString(), *value));
    if (value || graph.outer == run) continue;
    // A graph further out may yet tell; not of the symbols of this one.
    const std::vector<std::string> symbols = onnx_optim::Symbols(pending.dim);
    const bool own_are_known = std::ranges::all_of(
        symbols, [&](const std::string& symbol) { return OwnerOf(symbol, run) != &graph || size_of(symbol); });
    std::vector<Pending>& outer = runs_.at(graph.outer).pending;
    if (!own_are_known || outer.size() >= kMaxPending) continue;
    pending.dim = onnx_optim::Substitute(pending.dim, [&](const std::string& symbol) -> std::optional<OptimDim> {
      const std::optional<int64_t> size = OwnerOf(symbol, run) == &graph ? size_of(symbol) : std::nullopt;
      return size ? std::optional<OptimDim>(*size) : std::nullopt;
    });
    outer.push_back(std::move(pending));
  }
  runs_.erase(run);
}

}  // namespace ONNX_LIGHT_NAMESPACE
