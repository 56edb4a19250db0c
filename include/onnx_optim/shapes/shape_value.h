// SPDX-License-Identifier: Apache-2.0
// ShapeValue: what is known of any ONNX value before it exists: its kind, element types, shapes, lengths, small integer
// values.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx_optim/optim_sequence.h"
#include "onnx_optim/optim_tensor.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

class TypeProto;

namespace onnx_optim {
namespace shapes {

class ShapesContext;
class ShapeValue;

// The elements of a small integer tensor in row-major order (bool: 0 and 1); an element nothing is known of is empty.
using KnownElements = std::vector<std::optional<OptimDim>>;

// A number of a floating tensor: dim / divisor * factor, computed in this order and in the tensor's own precision. A
// constant is its factor, dim and divisor 1. Of others the factor is 1 unless the divisor is, and dim >= 0, divisor
// >= 1.
struct KnownFloat {
  OptimDim dim = 1;
  OptimDim divisor = 1;
  double factor = 1;
  bool IsConstant() const noexcept { return dim.IsInt() && divisor.IsInt(); }
  friend bool operator==(const KnownFloat& a, const KnownFloat& b) = default;
};
// The elements of a small float or double tensor, as KnownElements.
using KnownFloats = std::vector<std::optional<KnownFloat>>;

// What is known of a sequence. A summary speaks of every element; a list, where there is one, of each.
struct SequenceInfo;

// A value: copies share what is heavy, and only assignment changes one. Distinct objects may be used by distinct
// threads. Members of another kind than Is...() says throw std::bad_variant_access (BadDimAccess) unless noted.
class ONNXSEQ_API ShapeValue {
 public:
  enum class Kind : uint8_t { kUnknown, kTensor, kSequence, kOptional, kMap, kSparse };
  // Values of more elements are not kept.
  static constexpr size_t kMaxKnownElements = 1024;

  // Nothing known, not even the kind.
  ShapeValue() = default;
  static ShapeValue Tensor(TensorType dtype, OptimShape shape);
  // A tensor with known elements, one per element of `shape`, which must be fully known and hold at most
  // kMaxKnownElements; otherwise, or when no element is known, the value is dropped.
  static ShapeValue TensorWithValue(TensorType dtype, OptimShape shape, KnownElements elements);
  // An int64 tensor: a scalar, and a vector.
  static ShapeValue Int64Scalar(OptimDim value);
  static ShapeValue Int64Vector(const std::vector<OptimDim>& values);
  static ShapeValue Sparse(TensorType dtype, OptimShape shape);
  static ShapeValue Sequence(SequenceInfo info);
  // present: true, false, or unknown.
  static ShapeValue Optional(ShapeValue elem, std::optional<bool> present);
  static ShapeValue Map(TensorType key, ShapeValue value);

  // From the documented types. Data pointers are not kept.
  explicit ShapeValue(const OptimTensor& tensor);
  explicit ShapeValue(const OptimSequence& sequence);
  // To the documented types: what they can hold (a value of up to 64 elements, all known, of rank 0 or 1; element
  // shapes when every element is a tensor). Another kind gives the default object.
  OptimTensor ToOptimTensor() const;
  OptimSequence ToOptimSequence() const;

  Kind kind() const noexcept { return kind_; }
  bool IsUnknown() const noexcept { return kind_ == Kind::kUnknown; }
  bool IsTensor() const noexcept { return kind_ == Kind::kTensor; }
  bool IsSequence() const noexcept { return kind_ == Kind::kSequence; }
  bool IsOptional() const noexcept { return kind_ == Kind::kOptional; }
  bool IsMap() const noexcept { return kind_ == Kind::kMap; }
  bool IsSparse() const noexcept { return kind_ == Kind::kSparse; }

  // Tensor and Sparse: the element type; Map: the key type. Any other kind: kUndefined.
  TensorType Dtype() const noexcept { return dtype_; }
  // Tensor and Sparse; any other kind: Unknown.
  const OptimShape& Shape() const noexcept { return shape_; }
  bool HasRank() const noexcept { return !shape_.IsUnknown(); }

  // Tensor: the known elements, null when none is.
  const KnownElements* Elements() const noexcept { return elements_.get(); }
  // Tensor: every element is known.
  bool HasFullValue() const noexcept;
  // Tensor of one element that is known: that element.
  std::optional<OptimDim> ScalarValue() const;
  // Tensor of rank 0 or 1 whose elements are all known: they.
  std::optional<std::vector<OptimDim>> VectorValue() const;
  // Tensor of float or double: the known elements, null when none is.
  const KnownFloats* Floats() const noexcept { return floats_.get(); }

  // Changes of a Tensor, on a copy.
  ShapeValue WithDtype(TensorType dtype) const;
  ShapeValue WithElements(KnownElements elements) const;
  ShapeValue WithFloats(KnownFloats floats) const;
  ShapeValue WithoutValue() const;

  // Sequence.
  const SequenceInfo& SequenceOf() const;
  // Optional: what it holds when present; Map: what it maps to.
  const ShapeValue& Elem() const;
  // Optional; any other kind: nothing.
  std::optional<bool> Present() const noexcept { return present_; }

  // "tensor(float)[2,N]", "tensor(float)" (rank unknown), "seq(tensor(float)[N,3], length 4)",
  // "optional(tensor(int64)[])", "map(int64,tensor(float)[N])", "sparse_tensor(float)[3,4]", "unknown".
  std::string ToString() const;

  // Equal knowledge; an unknown rank is no scalar.
  friend bool operator==(const ShapeValue& a, const ShapeValue& b) { return a.Equals(b); }
  friend std::ostream& operator<<(std::ostream& out, const ShapeValue& value) { return Print(out, value); }

 private:
  bool Equals(const ShapeValue& other) const;
  static std::ostream& Print(std::ostream& out, const ShapeValue& value);

  Kind kind_ = Kind::kUnknown;
  TensorType dtype_ = TensorType::kUndefined;
  std::optional<bool> present_;
  OptimShape shape_ = OptimShape::Unknown();
  std::shared_ptr<const KnownElements> elements_;
  std::shared_ptr<const KnownFloats> floats_;
  std::shared_ptr<const SequenceInfo> sequence_;
  std::shared_ptr<const ShapeValue> elem_;
};

// Pieces of size `size` of an axis of size `total`, the last one smaller when it must be: piece i is min(size, total -
// i * size).
struct SequenceChunks {
  int64_t axis = 0;
  OptimDim size;
  OptimDim total;
  friend bool operator==(const SequenceChunks& a, const SequenceChunks& b) = default;
};

struct ONNXSEQ_API SequenceInfo {
  OptimDim length;
  // The join of all elements: a fact about each. Unknown when nothing is known; for a sequence known to be empty only
  // its element type is meaningful.
  ShapeValue elem;
  // Each element, when they are known one by one; then length is their number.
  std::optional<std::vector<ShapeValue>> elements;
  // The symbols in elem that stand for another number in each element; sorted. All others are the same for all.
  std::vector<std::string> varying;
  // axis -> the sum over all elements of their dim along that axis. Axes are >= 0 and count from the front.
  std::map<int64_t, OptimDim> axis_sums;
  // Set when the elements are such pieces, in order. Joins and rules that do not know of it leave it out.
  std::optional<SequenceChunks> chunks;

  // `elements` one by one; elem is their join when all agree in kind and element type (dims that differ: fresh from
  // `ctx`).
  static SequenceInfo Of(std::vector<ShapeValue> elements, ShapesContext& ctx);
  // A list of no elements.
  static SequenceInfo Empty(TensorType elem_dtype);
  // Nothing known of single elements. Fresh symbols in `elem` are taken to vary; the second form says which do.
  static SequenceInfo Summary(OptimDim length, ShapeValue elem);
  static SequenceInfo Summary(OptimDim length, ShapeValue elem, std::vector<std::string> varying);

  // The element type of a sequence of tensors, kUndefined when unknown.
  TensorType ElemDtype() const noexcept { return elem.IsMap() ? TensorType::kUndefined : elem.Dtype(); }
  bool IsKnownEmpty() const noexcept { return length.IsInt() && length.AsInt() == 0; }
  // One element, not said which: `elem` with new fresh symbols for those that vary.
  ShapeValue AnyElement(ShapesContext& ctx) const;
  // The sum over the elements of their dim along `axis`: from the list, the summary's sums, or length * dim when the
  // dim is the same for all. Nothing when it cannot be said.
  std::optional<OptimDim> AxisSum(int64_t axis) const;
  friend bool operator==(const SequenceInfo& a, const SequenceInfo& b) = default;
};

// `value` with every dim, length and known element replaced by what `fn` makes of it.
ONNXSEQ_API ShapeValue MapDims(const ShapeValue& value, const std::function<OptimDim(const OptimDim&)>& fn);
// The symbols in it, sorted, each once.
ONNXSEQ_API std::vector<std::string> SymbolsOf(const ShapeValue& value);

// Join: what is true of both, as where control flow meets. Equal dims (by the facts of `ctx`) stay, others become fresh
// symbols within the bounds of both; different ranks become unknown; different kinds or element types give Unknown; an
// empty sequence adds nothing.
ONNXSEQ_API OptimDim JoinDims(const OptimDim& a, const OptimDim& b, ShapesContext& ctx);
ONNXSEQ_API OptimShape JoinShapes(const OptimShape& a, const OptimShape& b, ShapesContext& ctx);
ONNXSEQ_API ShapeValue Join(const ShapeValue& a, const ShapeValue& b, ShapesContext& ctx);
ONNXSEQ_API ShapeValue JoinAll(const std::vector<ShapeValue>& values, ShapesContext& ctx);

// Unify: both describe the same value. An integer beats a symbol, an author's name a fresh one, else the first stays;
// equalities are recorded in `ctx`. InvalidArgument, naming both, for two different integers, ranks, element types or
// kinds.
ONNXSEQ_API OptimDim UnifyDims(const OptimDim& a, const OptimDim& b, ShapesContext& ctx, std::string_view origin = {});
ONNXSEQ_API OptimShape UnifyShapes(const OptimShape& a, const OptimShape& b, ShapesContext& ctx,
                                   std::string_view origin = {});
ONNXSEQ_API ShapeValue Unify(const ShapeValue& a, const ShapeValue& b, ShapesContext& ctx,
                             std::string_view origin = {});

// The declared type. A dim without value or name is a fresh symbol of `ctx`; a dim_param is read by DimFromParam with
// the symbols `ctx` knows, and declared to it.
ONNXSEQ_API ShapeValue FromTypeProto(const TypeProto& type, ShapesContext& ctx);
// Declares the identifiers that stand alone as a dim_param in `type`: done for all inputs first, "N-1" is an expression
// in any.
ONNXSEQ_API void DeclareSymbols(const TypeProto& type, ShapesContext& ctx);
// False, `type` untouched, for an unknown kind or a tensor of unknown element type. Fresh dims are written by name in a
// tensor, dims that vary between the elements of a sequence are left out, since a name would say that all share it.
ONNXSEQ_API bool ToTypeProto(const ShapeValue& value, TypeProto& type);

}  // namespace shapes
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
