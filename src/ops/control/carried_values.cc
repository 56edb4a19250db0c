// SPDX-License-Identifier: Apache-2.0
#include "ops/control/carried_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "onnxseq/errors.h"
#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

// A value settles after a guess at its formula and its widening, each of which may unsettle others; what takes longer
// is given up.
constexpr int kMaxWalks = 8;

const std::string& NameOf(const OptimDim& symbol) { return *onnx_optim::SymbolName(symbol); }

TensorType ElementType(const ShapeValue& value) {
  if (value.IsSequence()) return value.SequenceOf().ElemDtype();
  return value.IsOptional() ? ElementType(value.Elem()) : value.Dtype();
}

// No run can have handed the one on as the other.
bool Clash(const ShapeValue& a, const ShapeValue& b) {
  const ShapeValue& x = a.IsOptional() ? a.Elem() : a;
  const ShapeValue& y = b.IsOptional() ? b.Elem() : b;
  if (x.IsUnknown() || y.IsUnknown()) return false;
  const TensorType s = ElementType(x), t = ElementType(y);
  return x.kind() != y.kind() || (s != t && s != TensorType::kUndefined && t != TensorType::kUndefined);
}

}  // namespace

CarriedValues::CarriedValues(InferScope& scope, const GraphProto& body, std::vector<ShapeValue> initial,
                             size_t first_output, OptimDim number)
    : scope_(scope),
      ctx_(scope.context()),
      body_(body),
      head_(std::move(initial)),
      first_(first_output),
      number_(std::move(number)),
      mark_(FreshNumber(NameOf(number_))),
      stacked_(ctx_, mark_) {}

void CarriedValues::Infer(const Bind& bind) {
  const std::vector<ShapeValue> initial = head_;
  const auto next = [&](size_t i) { return i + first_ < outputs_.size() ? outputs_[i + first_] : ShapeValue(); };
  for (int walk = 0; !head_.empty(); ++walk) {
    bool failed = walk == kMaxWalks;
    try {
      if (!failed) outputs_ = scope_.InferBody(body_, bind(head_), {.record = false, .report = false});
    } catch (const Error&) {
      if (walk == 0) throw;
      failed = true;  // of a head that is only a guess
    }
    if (failed) {
      for (ShapeValue& value : head_) value = KindOf(ctx_, value);
      exact_ = false;
      break;
    }
    changed_ = false;
    for (size_t i = 0; i < head_.size(); ++i) head_[i] = Next(head_[i], next(i), true);
    if (!changed_) break;
  }
  outputs_ = scope_.InferBody(body_, bind(head_));
  for (size_t i = 0; i < head_.size(); ++i) {
    if (!Clash(initial[i], next(i))) continue;
    scope_.Fail(BodyOutputSubject(body_, i + first_),
                fmt::format("is {}, the value before it {}", KindOf(ctx_, next(i)).ToString(),
                            KindOf(ctx_, initial[i]).ToString()));
  }
}

bool CarriedValues::Varies(const OptimDim& dim) const {
  const std::vector<std::string> symbols = onnx_optim::Symbols(dim);
  return std::ranges::any_of(symbols, [&](const std::string& symbol) { return FreshNumber(symbol) >= mark_; });
}

OptimDim CarriedValues::Widened() {
  changed_ = true;
  exact_ = false;
  OptimDim symbol = ctx_.FreshDim();
  widened_.push_back(NameOf(symbol));
  return symbol;
}

bool CarriedValues::IsWidened(const OptimDim& dim) const {
  const std::string* name = onnx_optim::SymbolName(dim);
  return name != nullptr && std::ranges::find(widened_, *name) != widened_.end();
}

OptimDim CarriedValues::At(const OptimDim& dim, const OptimDim& number) const {
  return Substitute(dim, NameOf(number_), number);
}

// The next head ---------------------------------------------------------------------------------

OptimDim CarriedValues::NextDim(const OptimDim& head, const OptimDim& out, bool formulas) {
  if (IsWidened(head) || ctx_.Equal(At(head, number_ + 1), out)) return head;
  if (!formulas || Varies(head)) return Widened();
  const OptimDim step = out - head;
  if (Varies(step)) return Widened();
  changed_ = true;
  return head + number_ * step;
}

ShapeValue CarriedValues::Next(const ShapeValue& head, const ShapeValue& out, bool formulas) {
  const auto unknown = [&] {
    exact_ = false;
    changed_ = changed_ || !head.IsUnknown();
    return ShapeValue();
  };
  if (head.IsUnknown() || out.IsUnknown()) return unknown();
  if (head.IsOptional() != out.IsOptional())
    return head.IsOptional() ? Next(head, ShapeValue::Optional(out, true), formulas)
                             : Next(ShapeValue::Optional(head, true), out, formulas);
  if (head.kind() != out.kind()) return unknown();
  if (head.IsSequence()) return NextSequence(head.SequenceOf(), out.SequenceOf());
  if (head.IsOptional()) {
    const std::optional<bool> present = head.Present() == out.Present() ? head.Present() : std::nullopt;
    changed_ = changed_ || present != head.Present();
    // What holds nothing says nothing of what is held later.
    if (head.Present() == false && out.Present() != false) return ShapeValue::Optional(out.Elem(), present);
    if (out.Present() == false && head.Present() != false) return ShapeValue::Optional(head.Elem(), present);
    return ShapeValue::Optional(Next(head.Elem(), out.Elem(), formulas), present);
  }
  if (head.Dtype() != out.Dtype()) return unknown();
  if (head.IsMap()) return ShapeValue::Map(head.Dtype(), Next(head.Elem(), out.Elem(), false));
  const bool ranked = head.HasRank() && out.HasRank() && head.Shape().Rank() == out.Shape().Rank();
  changed_ = changed_ || (head.HasRank() && !ranked);
  exact_ = exact_ && ranked;
  OptimShape shape = OptimShape::Unknown();
  if (ranked) {
    std::vector<OptimDim> dims;
    for (size_t axis = 0; axis < head.Shape().Rank(); ++axis)
      dims.push_back(NextDim(head.Shape()[axis], out.Shape()[axis], formulas));
    shape = OptimShape(std::move(dims));
  }
  if (head.IsSparse()) return ShapeValue::Sparse(head.Dtype(), std::move(shape));
  ShapeValue tensor = ShapeValue::Tensor(head.Dtype(), std::move(shape));
  if (head.Floats() != nullptr) {
    if (out.Floats() != nullptr && *out.Floats() == *head.Floats()) return tensor.WithFloats(*head.Floats());
    changed_ = true;
    return tensor;
  }
  if (head.Elements() == nullptr) return tensor;
  const bool both = out.Elements() != nullptr && out.Elements()->size() == head.Elements()->size();
  KnownElements elements = *head.Elements();
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!elements[i]) continue;
    const std::optional<OptimDim> other = both ? (*out.Elements())[i] : std::nullopt;
    if (other && ctx_.Equal(At(*elements[i], number_ + 1), *other)) continue;
    changed_ = true;
    const bool guess = formulas && other && head.Dtype() == TensorType::kInt64 && !Varies(*elements[i]) &&
                       !Varies(*other - *elements[i]);
    exact_ = exact_ && guess;
    elements[i] = guess ? std::optional(*elements[i] + number_ * (*other - *elements[i])) : std::nullopt;
  }
  return tensor.WithElements(std::move(elements));
}

// Elements join all that were inserted in earlier runs: no formula in i holds for all of them.
ShapeValue CarriedValues::NextSequence(const SequenceInfo& head, const SequenceInfo& out) {
  SequenceInfo next;
  next.length = NextDim(head.length, out.length, true);
  if (head.elements && out.elements && !head.elements->empty() && head.elements->size() == out.elements->size()) {
    const bool others_changed = std::exchange(changed_, false);
    std::vector<ShapeValue> elements;
    for (size_t i = 0; i < head.elements->size(); ++i)
      elements.push_back(Next((*head.elements)[i], (*out.elements)[i], true));
    const bool settled = !changed_;
    changed_ = changed_ || others_changed;
    return ShapeValue::Sequence(settled ? head : SequenceInfo::Of(std::move(elements), ctx_));
  }
  if (head.IsKnownEmpty() && out.IsKnownEmpty()) return ShapeValue::Sequence(head);
  const auto elem_of = [&](const SequenceInfo& info) {
    return info.elements && !info.elements->empty() ? JoinAll(*info.elements, ctx_) : info.elem;
  };
  ShapeValue elem = elem_of(head);
  changed_ = changed_ || head.elements.has_value();
  if (head.IsKnownEmpty()) {
    changed_ = true;
    elem = MapDims(elem_of(out), [&](const OptimDim& dim) { return Varies(dim) && !IsWidened(dim) ? Widened() : dim; });
  } else if (!out.IsKnownEmpty()) {
    elem = Next(elem, elem_of(out), false);
  }
  std::vector<std::string> varying = head.varying;
  varying.insert(varying.end(), out.varying.begin(), out.varying.end());
  for (std::string& symbol : SymbolsOf(elem))
    if (FreshNumber(symbol) >= mark_) varying.push_back(std::move(symbol));
  SequenceInfo summary = SequenceInfo::Summary(next.length, std::move(elem), std::move(varying));
  return ShapeValue::Sequence(std::move(summary));
}

// After the last run ----------------------------------------------------------------------------

std::optional<OptimDim> CarriedValues::LastDim(const OptimDim& head, const OptimDim& out, const OptimDim& runs,
                                               bool some) const {
  if (!IsWidened(head) && ctx_.Equal(At(head, number_ + 1), out)) return At(head, runs);
  if (some) return At(out, runs - 1);
  return std::nullopt;
}

ShapeValue CarriedValues::Last(const ShapeValue& head, const ShapeValue& out, const OptimDim& runs, bool some) const {
  if (head.IsUnknown() || out.IsUnknown()) return some ? out : ShapeValue();
  if (head.IsOptional()) {
    if (!out.IsOptional()) return Last(head, ShapeValue::Optional(out, true), runs, some);
    return ShapeValue::Optional(Last(head.Elem(), out.Elem(), runs, some), some ? out.Present() : head.Present());
  }
  if (head.kind() != out.kind()) return some ? out : ShapeValue();
  const auto last = [&](const OptimDim& a, const OptimDim& b) { return LastDim(a, b, runs, some).value_or(a); };
  if (head.IsSequence()) {
    SequenceInfo info = head.SequenceOf();
    info.length = last(info.length, out.SequenceOf().length);
    if (info.elements) {
      const std::optional<std::vector<ShapeValue>>& others = out.SequenceOf().elements;
      std::vector<ShapeValue> elements;
      for (size_t i = 0; others && i < std::min(info.elements->size(), others->size()); ++i)
        elements.push_back(Last((*info.elements)[i], (*others)[i], runs, some));
      if (others && others->size() == info.elements->size())
        return ShapeValue::Sequence(elements.empty() ? info : SequenceInfo::Of(std::move(elements), ctx_));
    }
    return ShapeValue::Sequence(std::move(info));
  }
  if (!head.IsTensor()) return head;
  OptimShape shape = some ? out.Shape() : OptimShape::Unknown();
  if (!shape.IsUnknown()) {
    std::vector<OptimDim> dims;
    for (const OptimDim& dim : shape) dims.push_back(At(dim, runs - 1));
    shape = OptimShape(std::move(dims));
  }
  if (head.HasRank() && out.HasRank() && head.Shape().Rank() == out.Shape().Rank()) {
    std::vector<OptimDim> dims;
    for (size_t axis = 0; axis < head.Shape().Rank(); ++axis)
      dims.push_back(last(head.Shape()[axis], out.Shape()[axis]));
    shape = OptimShape(std::move(dims));
  } else if (head.HasRank() && !some) {
    shape = head.Shape();
  }
  const ShapeValue tensor =
      ShapeValue::Tensor(head.Dtype() == out.Dtype() ? head.Dtype() : TensorType::kUndefined, shape);
  if (out.Floats() != nullptr) {
    const bool same = head.Floats() != nullptr && *head.Floats() == *out.Floats();
    const bool constant = std::ranges::all_of(*out.Floats(), [](const auto& e) { return !e || e->IsConstant(); });
    return same || (some && constant) ? tensor.WithFloats(*out.Floats()) : tensor;
  }
  if (out.Elements() == nullptr) return tensor;
  KnownElements elements = *out.Elements();
  const KnownElements* heads =
      head.Elements() != nullptr && head.Elements()->size() == elements.size() ? head.Elements() : nullptr;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!elements[i]) continue;
    if (heads != nullptr && (*heads)[i]) {
      elements[i] = LastDim(*(*heads)[i], *elements[i], runs, some);
    } else {
      elements[i] = some ? std::optional(At(*elements[i], runs - 1)) : std::nullopt;
    }
  }
  return tensor.WithElements(std::move(elements));
}

std::vector<ShapeValue> CarriedValues::After(const OptimDim& runs, bool some) {
  OtherInstance last(ctx_, mark_);  // the same moment for all
  std::vector<ShapeValue> values;
  for (size_t i = 0; i < head_.size(); ++i) values.push_back(last.Of(Last(head_[i], outputs_[i + first_], runs, some)));
  return values;
}

// Scan outputs ----------------------------------------------------------------------------------

ShapeValue CarriedValues::Stacked(size_t output, const OptimDim& runs, bool some, int64_t axis) {
  const ShapeValue& each = outputs_[output];
  if (each.IsUnknown()) return ShapeValue::Tensor(TensorType::kUndefined, OptimShape::Unknown());
  if (!each.IsTensor())
    scope_.Fail(BodyOutputSubject(body_, output), fmt::format("must be a tensor, got {}", each.ToString()));
  if (!each.HasRank()) return ShapeValue::Tensor(each.Dtype(), OptimShape::Unknown());
  const bool several = ctx_.ProvablyGreaterEqual(runs, OptimDim(2));
  std::vector<OptimDim> dims;
  for (const OptimDim& dim : each.Shape()) {
    const bool in_number = onnx_optim::Mentions(dim, NameOf(number_));
    const OptimDim first = in_number ? At(dim, OptimDim(0)) : dim;
    const OptimDim second = in_number ? At(dim, OptimDim(1)) : dim;
    if (in_number && ctx_.ProvablyDifferent(first, second)) {
      std::string fact =
          fmt::format("has dim {} in iteration 0, {} in iteration 1", first.ToString(), second.ToString());
      if (several) scope_.Fail(BodyOutputSubject(body_, output), std::move(fact));
      scope_.Warn(BodyOutputSubject(body_, output), std::move(fact));
    }
    // Without a run a size no input names cannot be known.
    const bool lost = in_number || (!some && onnx_optim::MentionsFresh(dim));
    OptimDim stacked = lost ? scope_.Fresh() : stacked_.Of(dim);
    // Nor is there a node then that fails for sizes which make the dim negative.
    if (!some && !ctx_.ProvablyGreaterEqual(stacked, OptimDim(0))) stacked = onnx_optim::Max(stacked, OptimDim(0));
    dims.push_back(std::move(stacked));
  }
  const int at = scope_.NormalizeAxis(axis, static_cast<int>(dims.size()) + 1, "attribute 'scan_output_axes'");
  dims.insert(dims.begin() + at, runs);
  const ShapeValue stacked = ShapeValue::Tensor(each.Dtype(), OptimShape(std::move(dims)));
  const KnownElements* known = each.Elements();
  if (known == nullptr || known->empty() || at != 0 || !runs.IsInt() || !stacked.Shape().IsFullyKnown() ||
      stacked.Shape().NumElements() > static_cast<int64_t>(ShapeValue::kMaxKnownElements))
    return stacked;
  KnownElements elements;
  for (int64_t run = 0; run < runs.AsInt(); ++run) {
    for (const std::optional<OptimDim>& element : *known) {
      std::optional<OptimDim> now;
      if (element) now = At(*element, OptimDim(run));
      if (now && Varies(*now)) now.reset();
      elements.push_back(std::move(now));
    }
  }
  return stacked.WithElements(std::move(elements));
}

// Helpers ---------------------------------------------------------------------------------------

ShapeValue KindOf(ShapesContext& ctx, const ShapeValue& value) {
  if (value.IsTensor()) return ShapeValue::Tensor(value.Dtype(), OptimShape::Unknown());
  if (value.IsSequence()) return PlainSequence(value.SequenceOf().ElemDtype(), ctx.FreshDim("len"));
  if (value.IsOptional()) return ShapeValue::Optional(KindOf(ctx, value.Elem()), std::nullopt);
  return ShapeValue();
}

ShapeValue WithDeclared(ShapesContext& ctx, const ShapeValue& known, const ValueInfoProto& input) {
  if (!known.IsUnknown() || !input.has_type()) return known;
  ShapesContext scratch = ctx.ChildScope();
  return KindOf(ctx, onnx_optim::shapes::FromTypeProto(input.type(), scratch));
}

std::string BodyOutputSubject(const GraphProto& body, size_t i) {
  return fmt::format("body output {} (\"{}\")", i, std::string_view(body.output(i).name()));
}

}  // namespace ONNX_LIGHT_NAMESPACE
