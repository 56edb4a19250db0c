// SPDX-License-Identifier: Apache-2.0
#include "onnx_optim/shapes/shape_value.h"

#include <algorithm>
#include <ostream>
#include <set>

#include "fmt/format.h"
#include "onnx_optim/shapes/shapes_context.h"
#include "shapes/known_float.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace shapes {

namespace {

template <class T>
bool SamePointee(const std::shared_ptr<T>& a, const std::shared_ptr<T>& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

template <class Elements>
bool AnyKnown(const Elements& elements) {
  return std::any_of(elements.begin(), elements.end(), [](const auto& e) { return e.has_value(); });
}

// `elements` are as many as `shape` holds, few enough to be kept.
bool Fits(const OptimShape& shape, size_t count) {
  if (count > ShapeValue::kMaxKnownElements || shape.IsUnknown()) return false;
  const auto total = shape.SymbolicNumElements();
  return total && *total == OptimDim(count);
}

// Every dim, length, sum and known element.
template <class Fn>
void ForEachDim(const ShapeValue& value, const Fn& fn) {
  for (const OptimDim& dim : value.Shape()) fn(dim);
  if (value.Elements() != nullptr) {
    for (const auto& element : *value.Elements()) {
      if (element) fn(*element);
    }
  }
  if (value.Floats() != nullptr) {
    for (const auto& element : *value.Floats()) {
      if (!element || element->IsConstant()) continue;
      fn(element->dim);
      fn(element->divisor);
    }
  }
  if (value.IsOptional() || value.IsMap()) ForEachDim(value.Elem(), fn);
  if (!value.IsSequence()) return;
  const SequenceInfo& info = value.SequenceOf();
  fn(info.length);
  ForEachDim(info.elem, fn);
  for (const auto& [axis, sum] : info.axis_sums) fn(sum);
  if (info.elements) {
    for (const ShapeValue& element : *info.elements) ForEachDim(element, fn);
  }
}

}  // namespace

ShapeValue ShapeValue::Tensor(TensorType dtype, OptimShape shape) {
  ShapeValue value;
  value.kind_ = Kind::kTensor;
  value.dtype_ = dtype;
  value.shape_ = std::move(shape);
  return value;
}

ShapeValue ShapeValue::TensorWithValue(TensorType dtype, OptimShape shape, KnownElements elements) {
  return Tensor(dtype, std::move(shape)).WithElements(std::move(elements));
}

ShapeValue ShapeValue::Int64Scalar(OptimDim value) {
  return TensorWithValue(TensorType::kInt64, OptimShape(), {std::move(value)});
}

ShapeValue ShapeValue::Int64Vector(const std::vector<OptimDim>& values) {
  return TensorWithValue(TensorType::kInt64, OptimShape{OptimDim(values.size())},
                         KnownElements(values.begin(), values.end()));
}

ShapeValue ShapeValue::Sparse(TensorType dtype, OptimShape shape) {
  ShapeValue value = Tensor(dtype, std::move(shape));
  value.kind_ = Kind::kSparse;
  return value;
}

ShapeValue ShapeValue::Sequence(SequenceInfo info) {
  ShapeValue value;
  value.kind_ = Kind::kSequence;
  value.sequence_ = std::make_shared<const SequenceInfo>(std::move(info));
  return value;
}

ShapeValue ShapeValue::Optional(ShapeValue elem, std::optional<bool> present) {
  ShapeValue value;
  value.kind_ = Kind::kOptional;
  value.present_ = present;
  value.elem_ = std::make_shared<const ShapeValue>(std::move(elem));
  return value;
}

ShapeValue ShapeValue::Map(TensorType key, ShapeValue mapped) {
  ShapeValue value;
  value.kind_ = Kind::kMap;
  value.dtype_ = key;
  value.elem_ = std::make_shared<const ShapeValue>(std::move(mapped));
  return value;
}

ShapeValue::ShapeValue(const OptimTensor& tensor) : ShapeValue(Tensor(tensor.Dtype(), tensor.Shape())) {
  if (!tensor.HasValueAsShape() || tensor.ValueAsShape().IsUnknown()) return;
  const std::vector<OptimDim>& dims = tensor.ValueAsShape().Dims();
  *this = WithElements(KnownElements(dims.begin(), dims.end()));
}

ShapeValue::ShapeValue(const OptimSequence& sequence) {
  SequenceInfo info;
  info.length = sequence.Length();
  info.elem = sequence.HasElem() ? ShapeValue(sequence.Elem()).WithDtype(sequence.ElemDtype())
                                 : Tensor(sequence.ElemDtype(), OptimShape::Unknown());
  const std::vector<OptimShape>& shapes = sequence.ElemShapes();
  if (sequence.HasElemShapes() && info.length == OptimDim(shapes.size())) {
    info.elements.emplace();
    for (const OptimShape& shape : shapes) info.elements->push_back(Tensor(sequence.ElemDtype(), shape));
    const bool alike =
        std::all_of(shapes.begin(), shapes.end(), [&](const OptimShape& s) { return SameShape(s, shapes[0]); });
    if (!sequence.HasElem() && !shapes.empty() && alike) info.elem = Tensor(sequence.ElemDtype(), shapes[0]);
  }
  const bool listed = info.elements.has_value();
  if (!listed || sequence.HasElem()) {
    // What differs between listed elements, or may between others.
    for (const std::string& name : SymbolsOf(info.elem)) {
      const bool shared =
          listed && std::all_of(info.elements->begin(), info.elements->end(), [&](const ShapeValue& element) {
            const std::vector<std::string> names = SymbolsOf(element);
            return std::binary_search(names.begin(), names.end(), name);
          });
      if (IsFresh(OptimDim::Symbol(name)) && !shared) info.varying.push_back(name);
    }
  }
  *this = Sequence(std::move(info));
}

OptimTensor ShapeValue::ToOptimTensor() const {
  if (kind_ != Kind::kTensor) return OptimTensor();
  OptimTensor tensor(nullptr, dtype_, shape_);
  if (const auto values = VectorValue(); values && values->size() <= OptimShape::kMaxRank) {
    tensor.SetValueAsShape(OptimShape(*values));
  }
  return tensor;
}

OptimSequence ShapeValue::ToOptimSequence() const {
  if (kind_ != Kind::kSequence) return OptimSequence();
  const SequenceInfo& info = *sequence_;
  const bool of_tensors = info.elem.IsTensor();
  OptimSequence sequence(of_tensors ? info.elem.Dtype() : TensorType::kUndefined, info.length);
  if (info.elements &&
      std::all_of(info.elements->begin(), info.elements->end(), [](const auto& e) { return e.IsTensor(); })) {
    std::vector<OptimShape> shapes;
    for (const ShapeValue& element : *info.elements) shapes.push_back(element.Shape());
    sequence.SetElemShapes(std::move(shapes));
  }
  if (of_tensors && info.elem.HasRank()) sequence.SetElem(info.elem.ToOptimTensor());
  return sequence;
}

bool ShapeValue::HasFullValue() const noexcept {
  return elements_ != nullptr &&
         std::all_of(elements_->begin(), elements_->end(), [](const auto& e) { return e.has_value(); });
}

std::optional<OptimDim> ShapeValue::ScalarValue() const {
  if (elements_ == nullptr || elements_->size() != 1) return std::nullopt;
  return elements_->front();
}

std::optional<std::vector<OptimDim>> ShapeValue::VectorValue() const {
  if (!HasFullValue() || shape_.Rank() > 1) return std::nullopt;
  std::vector<OptimDim> values;
  for (const auto& element : *elements_) values.push_back(*element);
  return values;
}

ShapeValue ShapeValue::WithDtype(TensorType dtype) const {
  ShapeValue copy = *this;
  copy.dtype_ = dtype;
  return copy;
}

ShapeValue ShapeValue::WithElements(KnownElements elements) const {
  ShapeValue copy = WithoutValue();
  // No element at all is a full value of an empty tensor.
  if (kind_ == Kind::kTensor && Fits(shape_, elements.size()) && (elements.empty() || AnyKnown(elements))) {
    copy.elements_ = std::make_shared<const KnownElements>(std::move(elements));
  }
  return copy;
}

ShapeValue ShapeValue::WithFloats(KnownFloats floats) const {
  ShapeValue copy = WithoutValue();
  if (kind_ == Kind::kTensor && Fits(shape_, floats.size()) && (floats.empty() || AnyKnown(floats))) {
    copy.floats_ = std::make_shared<const KnownFloats>(std::move(floats));
  }
  return copy;
}

ShapeValue ShapeValue::WithoutValue() const {
  ShapeValue copy = *this;
  copy.elements_ = nullptr;
  copy.floats_ = nullptr;
  return copy;
}

const SequenceInfo& ShapeValue::SequenceOf() const {
  if (sequence_ == nullptr) throw BadDimAccess(fmt::format("must be a sequence, got {}", ToString()));
  return *sequence_;
}

const ShapeValue& ShapeValue::Elem() const {
  if (elem_ == nullptr) throw BadDimAccess(fmt::format("must be an optional or a map, got {}", ToString()));
  return *elem_;
}

std::string ShapeValue::ToString() const {
  switch (kind_) {
    case Kind::kUnknown:
      return "unknown";
    case Kind::kTensor:
      return ToTypeString(dtype_) + (HasRank() ? shape_.ToString() : std::string());
    case Kind::kSparse:
      return "sparse_" + ToTypeString(dtype_) + (HasRank() ? shape_.ToString() : std::string());
    case Kind::kSequence:
      return fmt::format("seq({}, length {})", sequence_->elem.ToString(), sequence_->length.ToString());
    case Kind::kOptional:
      return fmt::format("optional({})", elem_->ToString());
    case Kind::kMap:
      return fmt::format("map({},{})", TensorTypeName(dtype_), elem_->ToString());
  }
  return {};
}

std::ostream& ShapeValue::Print(std::ostream& out, const ShapeValue& value) { return out << value.ToString(); }

bool ShapeValue::Equals(const ShapeValue& other) const {
  return kind_ == other.kind_ && dtype_ == other.dtype_ && present_ == other.present_ &&
         SameShape(shape_, other.shape_) && SamePointee(elements_, other.elements_) &&
         SamePointee(floats_, other.floats_) && SamePointee(sequence_, other.sequence_) &&
         SamePointee(elem_, other.elem_);
}

ShapeValue MapDims(const ShapeValue& value, const std::function<OptimDim(const OptimDim&)>& fn) {
  auto map_shape = [&](const OptimShape& shape) {
    if (shape.IsUnknown()) return shape;
    std::vector<OptimDim> dims;
    for (const OptimDim& dim : shape) dims.push_back(fn(dim));
    return OptimShape(std::move(dims));
  };
  switch (value.kind()) {
    case ShapeValue::Kind::kUnknown:
      return value;
    case ShapeValue::Kind::kSparse:
      return ShapeValue::Sparse(value.Dtype(), map_shape(value.Shape()));
    case ShapeValue::Kind::kTensor: {
      const ShapeValue tensor = ShapeValue::Tensor(value.Dtype(), map_shape(value.Shape()));
      if (value.Floats() != nullptr) {
        KnownFloats floats = *value.Floats();
        for (auto& element : floats) {
          if (element && !element->IsConstant())
            element = Quotient(value.Dtype(), fn(element->dim), fn(element->divisor), element->factor);
        }
        return tensor.WithFloats(std::move(floats));
      }
      if (value.Elements() == nullptr) return tensor;
      KnownElements elements = *value.Elements();
      for (auto& element : elements) {
        if (element) element = fn(*element);
      }
      return tensor.WithElements(std::move(elements));
    }
    case ShapeValue::Kind::kOptional:
      return ShapeValue::Optional(MapDims(value.Elem(), fn), value.Present());
    case ShapeValue::Kind::kMap:
      return ShapeValue::Map(value.Dtype(), MapDims(value.Elem(), fn));
    case ShapeValue::Kind::kSequence: {
      SequenceInfo info = value.SequenceOf();
      info.length = fn(info.length);
      info.elem = MapDims(info.elem, fn);
      if (info.elements) {
        for (ShapeValue& element : *info.elements) element = MapDims(element, fn);
      }
      for (auto& [axis, sum] : info.axis_sums) sum = fn(sum);
      if (info.chunks) {
        info.chunks->size = fn(info.chunks->size);
        info.chunks->total = fn(info.chunks->total);
      }
      // A symbol that varied may have become others.
      std::set<std::string> varying;
      const std::vector<std::string> left = info.varying.empty() ? std::vector<std::string>() : SymbolsOf(info.elem);
      for (const std::string& name : info.varying) {
        for (const std::string& now : Symbols(fn(OptimDim::Symbol(name)))) {
          if (std::binary_search(left.begin(), left.end(), now)) varying.insert(now);
        }
      }
      info.varying.assign(varying.begin(), varying.end());
      return ShapeValue::Sequence(std::move(info));
    }
  }
  return value;
}

std::vector<std::string> SymbolsOf(const ShapeValue& value) {
  std::set<std::string> names;
  ForEachDim(value, [&](const OptimDim& dim) {
    for (std::string& name : Symbols(dim)) names.insert(std::move(name));
  });
  return {names.begin(), names.end()};
}

}  // namespace shapes
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
