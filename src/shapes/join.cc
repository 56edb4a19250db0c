// SPDX-License-Identifier: Apache-2.0
// Join, unify, and what sequences say of their elements.
#include <algorithm>
#include <set>

#include "fmt/format.h"
#include "onnx_optim/shapes/shape_value.h"
#include "onnx_optim/shapes/shapes_context.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace shapes {

namespace {

using Kind = ShapeValue::Kind;

bool Contains(const std::vector<std::string>& sorted, const std::string& name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

// The names of `candidates` that are in `elem`, sorted, each once.
std::vector<std::string> Mentioned(const ShapeValue& elem, const std::vector<std::string>& candidates) {
  const std::vector<std::string> names = SymbolsOf(elem);
  std::set<std::string> kept;
  for (const std::string& name : candidates) {
    if (Contains(names, name)) kept.insert(name);
  }
  return {kept.begin(), kept.end()};
}

ShapeValue JoinTensors(const ShapeValue& a, const ShapeValue& b, ShapesContext& ctx) {
  TensorType dtype = a.Dtype();
  if (a.Dtype() != b.Dtype()) {
    if (a.Dtype() != TensorType::kUndefined && b.Dtype() != TensorType::kUndefined) return ShapeValue();
    dtype = TensorType::kUndefined;
  }
  OptimShape shape = JoinShapes(a.Shape(), b.Shape(), ctx);
  if (a.IsSparse()) return ShapeValue::Sparse(dtype, std::move(shape));
  const ShapeValue joined = ShapeValue::Tensor(dtype, std::move(shape));
  if (a.Floats() != nullptr && b.Floats() != nullptr && a.Floats()->size() == b.Floats()->size()) {
    KnownFloats floats = *a.Floats();
    for (size_t i = 0; i < floats.size(); ++i) {
      if (floats[i] != (*b.Floats())[i]) floats[i].reset();
    }
    return joined.WithFloats(std::move(floats));
  }
  if (a.Elements() == nullptr || b.Elements() == nullptr || a.Elements()->size() != b.Elements()->size()) return joined;
  KnownElements elements = *a.Elements();
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto& other = (*b.Elements())[i];
    if (elements[i] && !(other && ctx.Equal(*elements[i], *other))) elements[i].reset();
  }
  return joined.WithElements(std::move(elements));
}

ShapeValue JoinSequences(const SequenceInfo& a, const SequenceInfo& b, ShapesContext& ctx) {
  SequenceInfo out;
  out.length = JoinDims(a.length, b.length, ctx);
  for (const auto& [axis, sum] : a.axis_sums) {
    const auto other = b.AxisSum(axis);
    if (other && ctx.Equal(sum, *other)) out.axis_sums.emplace(axis, sum);
  }
  const bool a_empty = a.IsKnownEmpty(), b_empty = b.IsKnownEmpty();
  if (a_empty != b_empty) {
    const SequenceInfo& full = a_empty ? b : a;
    const SequenceInfo& empty = a_empty ? a : b;
    const bool clash = full.elem.IsTensor() && empty.elem.IsTensor() && full.ElemDtype() != empty.ElemDtype() &&
                       full.ElemDtype() != TensorType::kUndefined && empty.ElemDtype() != TensorType::kUndefined;
    if (!clash) {
      out.elem = full.elem;
      out.varying = full.varying;
    }
    return ShapeValue::Sequence(std::move(out));
  }
  if (a.elements && b.elements && a.elements->size() == b.elements->size()) {
    out.elements.emplace();
    for (size_t i = 0; i < a.elements->size(); ++i)
      out.elements->push_back(Join((*a.elements)[i], (*b.elements)[i], ctx));
    out.length = OptimDim(out.elements->size());
  }
  out.elem = Join(a.elem, b.elem, ctx);
  std::vector<std::string> varying = a.varying;
  varying.insert(varying.end(), b.varying.begin(), b.varying.end());
  if (!varying.empty()) {
    // A symbol made by this join may stand where one side varies.
    const std::vector<std::string> old_a = SymbolsOf(a.elem), old_b = SymbolsOf(b.elem);
    for (const std::string& name : SymbolsOf(out.elem)) {
      if (!Contains(old_a, name) && !Contains(old_b, name)) varying.push_back(name);
    }
  }
  out.varying = Mentioned(out.elem, varying);
  return ShapeValue::Sequence(std::move(out));
}

[[noreturn]] void ThrowDifferent(std::string_view what, const std::string& a, const std::string& b,
                                 std::string_view origin) {
  throw InvalidArgument(fmt::format("{} {} and {} differ{}{}", what, a, b, origin.empty() ? "" : ", says ", origin));
}

TensorType UnifyTypes(const ShapeValue& a, const ShapeValue& b, std::string_view origin) {
  if (a.Dtype() == TensorType::kUndefined) return b.Dtype();
  if (b.Dtype() != TensorType::kUndefined && a.Dtype() != b.Dtype()) {
    ThrowDifferent("element types", std::string(TensorTypeName(a.Dtype())), std::string(TensorTypeName(b.Dtype())),
                   origin);
  }
  return a.Dtype();
}

ShapeValue UnifyTensors(const ShapeValue& a, const ShapeValue& b, ShapesContext& ctx, std::string_view origin) {
  const TensorType dtype = UnifyTypes(a, b, origin);
  OptimShape shape = UnifyShapes(a.Shape(), b.Shape(), ctx, origin);
  if (a.IsSparse()) return ShapeValue::Sparse(dtype, std::move(shape));
  const ShapeValue both = ShapeValue::Tensor(dtype, std::move(shape));
  if (a.Floats() != nullptr) return both.WithFloats(*a.Floats());
  if (b.Floats() != nullptr) return both.WithFloats(*b.Floats());
  if (a.Elements() == nullptr || b.Elements() == nullptr || a.Elements()->size() != b.Elements()->size()) {
    const KnownElements* known = a.Elements() != nullptr ? a.Elements() : b.Elements();
    return known == nullptr ? both : both.WithElements(*known);
  }
  KnownElements elements = *a.Elements();
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto& other = (*b.Elements())[i];
    if (!elements[i] || (other && other->IsInt() && elements[i]->IsExpr())) elements[i] = other;
  }
  return both.WithElements(std::move(elements));
}

ShapeValue UnifySequences(const SequenceInfo& a, const SequenceInfo& b, ShapesContext& ctx, std::string_view origin) {
  SequenceInfo out;
  out.length = UnifyDims(a.length, b.length, ctx, origin);
  if (a.IsKnownEmpty() || b.IsKnownEmpty()) {
    // No element: only the types must agree.
    if (a.elem.IsTensor() && b.elem.IsTensor()) {
      out.elem = ShapeValue::Tensor(UnifyTypes(a.elem, b.elem, origin), OptimShape::Unknown());
    } else {
      out.elem = a.elem.IsUnknown() ? b.elem : a.elem;
    }
    out.elements.emplace();
    return ShapeValue::Sequence(std::move(out));
  }
  out.elem = Unify(a.elem, b.elem, ctx, origin);
  if (a.elements && b.elements) {
    out.elements.emplace();
    for (size_t i = 0; i < std::min(a.elements->size(), b.elements->size()); ++i) {
      out.elements->push_back(Unify((*a.elements)[i], (*b.elements)[i], ctx, origin));
    }
  } else if (a.elements || b.elements) {
    out.elements = a.elements ? a.elements : b.elements;
    out.length = OptimDim(out.elements->size());
  }
  std::vector<std::string> varying = a.varying;
  varying.insert(varying.end(), b.varying.begin(), b.varying.end());
  out.varying = Mentioned(out.elem, varying);
  out.axis_sums = a.axis_sums;
  out.axis_sums.insert(b.axis_sums.begin(), b.axis_sums.end());
  return ShapeValue::Sequence(std::move(out));
}

}  // namespace

SequenceInfo SequenceInfo::Of(std::vector<ShapeValue> elements, ShapesContext& ctx) {
  SequenceInfo info;
  info.length = OptimDim(elements.size());
  if (elements.empty()) {
    info.elem = ShapeValue::Tensor(TensorType::kUndefined, OptimShape::Unknown());
  } else {
    info.elem = JoinAll(elements, ctx);
    // What is not in every element differs between them.
    std::vector<std::string> shared = SymbolsOf(info.elem);
    for (const ShapeValue& element : elements) {
      const std::vector<std::string> names = SymbolsOf(element);
      std::erase_if(shared, [&](const std::string& name) { return !Contains(names, name); });
    }
    for (const std::string& name : SymbolsOf(info.elem)) {
      if (!Contains(shared, name) && IsFresh(OptimDim::Symbol(name))) info.varying.push_back(name);
    }
  }
  info.elements = std::move(elements);
  return info;
}

SequenceInfo SequenceInfo::Empty(TensorType elem_dtype) {
  SequenceInfo info;
  info.elem = ShapeValue::Tensor(elem_dtype, OptimShape::Unknown());
  info.elements.emplace();
  return info;
}

SequenceInfo SequenceInfo::Summary(OptimDim length, ShapeValue elem) {
  std::vector<std::string> varying = SymbolsOf(elem);
  std::erase_if(varying, [](const std::string& name) { return !IsFresh(OptimDim::Symbol(name)); });
  return Summary(std::move(length), std::move(elem), std::move(varying));
}

SequenceInfo SequenceInfo::Summary(OptimDim length, ShapeValue elem, std::vector<std::string> varying) {
  SequenceInfo info;
  info.length = std::move(length);
  info.varying = Mentioned(elem, varying);
  info.elem = std::move(elem);
  return info;
}

ShapeValue SequenceInfo::AnyElement(ShapesContext& ctx) const {
  if (varying.empty()) return elem;
  std::map<std::string, OptimDim> renamed;
  for (const std::string& name : varying) renamed.emplace(name, ctx.FreshDim({}, ctx.Bounds(OptimDim::Symbol(name))));
  return MapDims(elem, [&](const OptimDim& dim) {
    return Substitute(dim, [&](const std::string& name) -> std::optional<OptimDim> {
      const auto it = renamed.find(name);
      return it == renamed.end() ? std::nullopt : std::optional(it->second);
    });
  });
}

std::optional<OptimDim> SequenceInfo::AxisSum(int64_t axis) const {
  if (axis < 0) return std::nullopt;
  const size_t at = static_cast<size_t>(axis);
  if (elements) {
    std::vector<OptimDim> dims;
    for (const ShapeValue& element : *elements) {
      if (at >= element.Shape().Rank()) return std::nullopt;
      dims.push_back(element.Shape()[at]);
    }
    return Sum(dims);
  }
  if (IsKnownEmpty()) return OptimDim(0);
  if (const auto it = axis_sums.find(axis); it != axis_sums.end()) return it->second;
  if (at >= elem.Shape().Rank()) return std::nullopt;
  const OptimDim& dim = elem.Shape()[at];
  for (const std::string& name : varying) {
    if (Mentions(dim, name)) return std::nullopt;
  }
  return length * dim;
}

OptimDim JoinDims(const OptimDim& a, const OptimDim& b, ShapesContext& ctx) {
  if (ctx.Equal(a, b)) return a.IsInt() || !b.IsInt() ? a : b;
  const Interval x = ctx.Bounds(a), y = ctx.Bounds(b);
  return ctx.FreshDim({}, Interval{std::min(x.lower, y.lower), std::max(x.upper, y.upper)});
}

OptimShape JoinShapes(const OptimShape& a, const OptimShape& b, ShapesContext& ctx) {
  if (a.IsUnknown() || b.IsUnknown() || a.Rank() != b.Rank()) return OptimShape::Unknown();
  std::vector<OptimDim> dims;
  for (size_t i = 0; i < a.Rank(); ++i) dims.push_back(JoinDims(a[i], b[i], ctx));
  return OptimShape(std::move(dims));
}

ShapeValue Join(const ShapeValue& a, const ShapeValue& b, ShapesContext& ctx) {
  if (a == b) return a;
  if (a.kind() != b.kind()) return ShapeValue();
  switch (a.kind()) {
    case Kind::kUnknown:
      return a;
    case Kind::kTensor:
    case Kind::kSparse:
      return JoinTensors(a, b, ctx);
    case Kind::kSequence:
      return JoinSequences(a.SequenceOf(), b.SequenceOf(), ctx);
    case Kind::kOptional: {
      const std::optional<bool> present = a.Present() == b.Present() ? a.Present() : std::nullopt;
      // One that is absent says nothing of what the other holds, but for the type it was declared with.
      if (a.Present() == false && b.Present() != false) return ShapeValue::Optional(b.Elem(), present);
      if (b.Present() == false && a.Present() != false) return ShapeValue::Optional(a.Elem(), present);
      return ShapeValue::Optional(Join(a.Elem(), b.Elem(), ctx), present);
    }
    case Kind::kMap:
      if (a.Dtype() != b.Dtype()) return ShapeValue();
      return ShapeValue::Map(a.Dtype(), Join(a.Elem(), b.Elem(), ctx));
  }
  return ShapeValue();
}

ShapeValue JoinAll(const std::vector<ShapeValue>& values, ShapesContext& ctx) {
  if (values.empty()) return ShapeValue();
  ShapeValue all = values[0];
  for (size_t i = 1; i < values.size(); ++i) all = Join(all, values[i], ctx);
  return all;
}

OptimDim UnifyDims(const OptimDim& a, const OptimDim& b, ShapesContext& ctx, std::string_view origin) {
  if (a == b) return a;
  const OptimDim x = ctx.Simplify(a), y = ctx.Simplify(b);
  if (x != y) {
    if (ctx.ProvablyDifferent(x, y)) ThrowDifferent("dims", a.ToString(), b.ToString(), origin);
    ctx.AddConstraint(a, b, origin);
  }
  if (a.IsInt()) return a;
  if (b.IsInt()) return b;
  if (x.IsInt()) return x;
  if (y.IsInt()) return y;
  return MentionsFresh(a) && !MentionsFresh(b) ? b : a;
}

OptimShape UnifyShapes(const OptimShape& a, const OptimShape& b, ShapesContext& ctx, std::string_view origin) {
  if (a.IsUnknown()) return b;
  if (b.IsUnknown()) return a;
  if (a.Rank() != b.Rank()) {
    ThrowDifferent("ranks", fmt::format("{} of {}", a.Rank(), a.ToString()),
                   fmt::format("{} of {}", b.Rank(), b.ToString()), origin);
  }
  std::vector<OptimDim> dims;
  for (size_t i = 0; i < a.Rank(); ++i) dims.push_back(UnifyDims(a[i], b[i], ctx, origin));
  return OptimShape(std::move(dims));
}

ShapeValue Unify(const ShapeValue& a, const ShapeValue& b, ShapesContext& ctx, std::string_view origin) {
  if (a.IsUnknown() || a == b) return b;
  if (b.IsUnknown()) return a;
  if (a.kind() != b.kind()) ThrowDifferent("kinds of", a.ToString(), b.ToString(), origin);
  switch (a.kind()) {
    case Kind::kUnknown:
      return b;
    case Kind::kTensor:
    case Kind::kSparse:
      return UnifyTensors(a, b, ctx, origin);
    case Kind::kSequence:
      return UnifySequences(a.SequenceOf(), b.SequenceOf(), ctx, origin);
    case Kind::kOptional:
      if (a.Present() && b.Present() && a.Present() != b.Present()) {
        ThrowDifferent("optionals", *a.Present() ? "with a value" : "without",
                       *b.Present() ? "with a value" : "without", origin);
      }
      return ShapeValue::Optional(Unify(a.Elem(), b.Elem(), ctx, origin), a.Present() ? a.Present() : b.Present());
    case Kind::kMap:
      return ShapeValue::Map(UnifyTypes(a, b, origin), Unify(a.Elem(), b.Elem(), ctx, origin));
  }
  return a;
}

}  // namespace shapes
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
