// SPDX-License-Identifier: Apache-2.0
#include "check_shapes.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>
#include <string_view>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::shapes::KnownElements;
using onnx_optim::shapes::KnownFloats;
using onnx_optim::shapes::SequenceInfo;
using onnx_optim::shapes::ShapeValue;

class Checker {
 public:
  // A file may declare seq(float[N]) although its elements differ in N, as models of the official tests do: then N
  // stands for nothing, and what mentions it is not held against anything.
  void FindRagged(const ShapeValue& inferred, const Value& actual) {
    if (!inferred.IsSequence() || !actual.IsSequence() || !actual.sequence().HoldsTensors()) return;
    const OptimShape& shape = inferred.SequenceOf().elem.Shape();
    for (size_t d = 0; d < shape.Rank(); ++d) {
      const std::string* name = onnx_optim::SymbolName(shape[d]);
      std::set<int64_t> dims;
      for (const Tensor& element : actual.sequence().elements())
        if (static_cast<int>(d) < element.rank()) dims.insert(element.dim(static_cast<int>(d)));
      if (name != nullptr && dims.size() > 1) ragged_.insert(*name);
    }
  }

  // Dims that are one symbol bind it; all others wait until every value was seen.
  void Dim(const std::string& what, const OptimDim& dim, int64_t actual) {
    if (dim.IsInt()) {
      if (dim.AsInt() != actual) Say("{} is {}, inferred {}", what, actual, dim.AsInt());
      return;
    }
    // What no author named may differ from element to element.
    if (in_summary_ && onnx_optim::MentionsFresh(dim)) return;
    for (const std::string& name : ragged_)
      if (onnx_optim::Mentions(dim, name)) return;
    if (const std::string* name = onnx_optim::SymbolName(dim)) {
      const auto [it, is_new] = symbols_.try_emplace(*name, actual);
      if (!is_new && it->second != actual)
        Say("{} is {}, but its symbol {} is {} elsewhere", what, actual, *name, it->second);
      return;
    }
    later_.push_back({what, dim, actual});
  }

  void Of(const std::string& what, const ShapeValue& inferred, const Value& actual) {
    switch (inferred.kind()) {
      case ShapeValue::Kind::kTensor:
        // The documented sequence says that of elements that are no tensors.
        if (inferred.Dtype() == TensorType::kUndefined && !inferred.HasRank()) return;
        if (!actual.IsTensor()) return Say("{} is {}, inferred {}", what, actual.TypeString(), inferred.ToString());
        return OfTensor(what, inferred, actual.tensor());
      case ShapeValue::Kind::kSequence:
        if (!actual.IsSequence()) return Say("{} is {}, inferred {}", what, actual.TypeString(), inferred.ToString());
        return OfSequence(what, inferred.SequenceOf(), actual.sequence());
      case ShapeValue::Kind::kMap:
        if (!actual.IsMap() || actual.map().key_type() != inferred.Dtype())
          return Say("{} is {}, inferred {}", what, actual.TypeString(), inferred.ToString());
        for (int64_t i = 0; i < actual.map().size(); ++i)
          Of(fmt::format("value {} of {}", i, what), inferred.Elem(), actual.map().values().ValueAt(i));
        return;
      case ShapeValue::Kind::kOptional:
        if (inferred.Present() && *inferred.Present() == actual.IsNone())
          return Say("{} is {}, inferred {}", what, actual.TypeString(), *inferred.Present() ? "present" : "absent");
        if (!actual.IsNone()) Of(what, inferred.Elem(), actual);
        return;
      default:
        return;
    }
  }

  std::vector<std::string> Finish() {
    for (const Pending& p : later_) {
      const std::optional<int64_t> value =
          onnx_optim::Evaluate(p.dim, [&](std::string_view name) -> std::optional<int64_t> {
            const auto it = symbols_.find(name);
            return it == symbols_.end() ? std::nullopt : std::optional(it->second);
          });
      if (value && *value != p.actual) Say("{} is {}, inferred {} = {}", p.what, p.actual, p.dim.ToString(), *value);
    }
    return std::move(contradictions_);
  }

 private:
  template <class... Args>
  void Say(fmt::format_string<Args...> format, Args&&... args) {
    contradictions_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void OfTensor(const std::string& what, const ShapeValue& inferred, const Tensor& actual) {
    if (inferred.Dtype() != TensorType::kUndefined && inferred.Dtype() != actual.dtype())
      Say("{} is {}, inferred {}", what, actual.TypeString(), inferred.ToString());
    const OptimShape& shape = inferred.Shape();
    if (shape.IsUnknown()) return;
    if (static_cast<int>(shape.Rank()) != actual.rank())
      return Say("{} is {}, inferred {}", what, actual.TypeString(), inferred.ToString());
    for (size_t d = 0; d < shape.Rank(); ++d)
      Dim(fmt::format("axis {} of {}", d, what), shape[d], actual.dim(static_cast<int>(d)));
    if (inferred.Floats() != nullptr) return OfFloats(what, *inferred.Floats(), actual);
    if (inferred.Elements() == nullptr) return;
    const KnownElements& elements = *inferred.Elements();
    if (static_cast<int64_t>(elements.size()) != actual.NumElements())
      return Say("{} has {} elements, inferred {}", what, actual.NumElements(), elements.size());
    for (size_t i = 0; i < elements.size(); ++i) {
      const std::optional<int64_t> element = ElementAt(actual, i);
      if (elements[i] && element) Dim(fmt::format("element {} of {}", i, what), *elements[i], *element);
    }
  }

  // Constants and whole dims; of quotients only what they lie between would be known.
  void OfFloats(const std::string& what, const KnownFloats& floats, const Tensor& actual) {
    if (static_cast<int64_t>(floats.size()) != actual.NumElements())
      return Say("{} has {} elements, inferred {}", what, actual.NumElements(), floats.size());
    for (size_t i = 0; i < floats.size(); ++i) {
      const double element = actual.dtype() == TensorType::kFloat ? static_cast<double>(actual.View<float>()[i])
                                                                  : actual.View<double>()[i];
      if (!floats[i]) continue;
      if (floats[i]->IsConstant()) {
        const double known = floats[i]->factor;
        const bool same = known == element || (std::isnan(known) && std::isnan(element)) ||
                          std::fabs(known - element) <= 1e-6 * std::fabs(known) + 1e-37;
        if (!same) Say("element {} of {} is {}, inferred {}", i, what, element, known);
      } else if (floats[i]->factor == 1 && floats[i]->divisor == OptimDim(1)) {
        Dim(fmt::format("element {} of {}", i, what), floats[i]->dim, static_cast<int64_t>(element));
      }
    }
  }

  void OfSequence(const std::string& what, const SequenceInfo& inferred, const Sequence& actual) {
    Dim("the length of " + what, inferred.length, actual.size());
    if (inferred.ElemDtype() != TensorType::kUndefined && actual.dtype() != TensorType::kUndefined &&
        inferred.ElemDtype() != actual.dtype())
      Say("{} is {}, inferred elements {}", what, actual.TypeString(), onnx_optim::ToTypeString(inferred.ElemDtype()));
    if (inferred.elements && static_cast<int64_t>(inferred.elements->size()) != actual.size())
      return Say("{} has {} elements, inferred {}", what, actual.size(), inferred.elements->size());
    for (int64_t i = 0; i < actual.size(); ++i) {
      const std::string element = fmt::format("element {} of {}", i, what);
      if (inferred.elements) {
        Of(element, (*inferred.elements)[static_cast<size_t>(i)], actual.ValueAt(i));
      } else {
        in_summary_ = true;
        Of(element, inferred.elem, actual.ValueAt(i));
        in_summary_ = false;
      }
    }
    for (const auto& [axis, sum] : inferred.axis_sums) {
      int64_t total = 0;
      for (const Tensor& element : actual.elements())
        total += axis < element.rank() ? element.dim(static_cast<int>(axis)) : 0;
      Dim(fmt::format("the sum along axis {} of {}", axis, what), sum, total);
    }
  }

  static std::optional<int64_t> ElementAt(const Tensor& t, size_t i) {
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
      case TensorType::kBool:
        return t.View<bool>()[i] ? 1 : 0;
      default:
        return std::nullopt;
    }
  }

  struct Pending {
    std::string what;
    OptimDim dim;
    int64_t actual;
  };
  std::set<std::string> ragged_;
  bool in_summary_ = false;
  std::map<std::string, int64_t, std::less<>> symbols_;
  std::vector<Pending> later_;
  std::vector<std::string> contradictions_;
};

}  // namespace

std::vector<std::string> Contradictions(const ValueMap& values, const ValueMap& inputs, const FindShape& find) {
  Checker checker;
  for (const auto& [name, value] : values) {
    const ShapeValue* inferred = find(name);
    if (inferred != nullptr && inputs.contains(name)) checker.FindRagged(*inferred, value);
  }
  for (const auto& [name, value] : values) {
    if (const ShapeValue* inferred = find(name)) checker.Of(fmt::format("\"{}\"", name), *inferred, value);
  }
  return checker.Finish();
}

std::vector<std::string> BodyContradictions(
    const std::vector<BodyValue>& values,
    const std::function<const ShapeValue*(const std::string& path, const std::string& name)>& find) {
  std::vector<std::string> all;
  for (const BodyValue& value : values) {
    const ShapeValue* inferred = find(value.path, value.name);
    if (inferred == nullptr) continue;
    Checker checker;
    checker.Of(fmt::format("\"{}\" in {}", value.name, value.path), *inferred, value.value);
    for (std::string& contradiction : checker.Finish()) all.push_back(std::move(contradiction));
  }
  return all;
}

}  // namespace ONNX_LIGHT_NAMESPACE
