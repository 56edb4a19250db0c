// SPDX-License-Identifier: Apache-2.0
#include "shapes/infer_scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {

using onnx_optim::shapes::KnownElements;
using onnx_optim::shapes::Problem;

namespace {

const ShapeValue& UnknownValue() {
  static const ShapeValue unknown;
  return unknown;
}

const OptimShape& UnknownShape() {
  static const OptimShape unknown = OptimShape::Unknown();
  return unknown;
}

}  // namespace

InferScope::InferScope(ShapesContext& context, const NodeProto& node, FormalNames names,
                       const BodyInference* body_inference)
    : inputs_(static_cast<size_t>(node.input_size())),
      context_(&context),
      node_(&node),
      attrs_(node),
      names_(names),
      body_inference_(body_inference),
      outputs_(static_cast<size_t>(node.output_size())) {}

bool InferScope::exact() const { return context_->IsExact(); }

int64_t InferScope::opset() const { return context_->OpsetVersion(node_->domain()); }

// Inputs ------------------------------------------------------------------------------------------

bool InferScope::HasInput(int i) const {
  return i >= 0 && i < input_size() && !node_->input(static_cast<size_t>(i)).empty();
}

bool InferScope::IsDefined(int i) const {
  return HasInput(i) && context_->HasValue(node_->input(static_cast<size_t>(i)));
}

const ShapeValue& InferScope::Input(int i) const {
  if (!HasInput(i)) return UnknownValue();
  std::optional<ShapeValue>& cached = inputs_[static_cast<size_t>(i)];
  if (!cached) {
    const ShapeValue* found = context_->Find(node_->input(static_cast<size_t>(i)));
    cached = found == nullptr ? ShapeValue() : Simplified(*context_, *found);
  }
  return *cached;
}

const ShapeValue& InferScope::SequenceInput(int i) const {
  if (!HasInput(i) || i > 1) return Input(i);
  std::optional<ShapeValue>& cached = sequence_input_[i];
  if (!cached) {
    const ShapeValue* found = context_->FindSequence(node_->input(static_cast<size_t>(i)));
    if (found == nullptr) return Input(i);
    cached = Simplified(*context_, *found);
  }
  return *cached;
}

const OptimShape& InferScope::InputShape(int i) const {
  const ShapeValue& value = Input(i);
  return value.IsTensor() ? value.Shape() : UnknownShape();
}

TensorType InferScope::InputType(int i) const {
  const ShapeValue& value = Input(i);
  return value.IsTensor() ? value.Dtype() : TensorType::kUndefined;
}

std::optional<std::vector<OptimDim>> InferScope::InputValue(int i) const {
  const ShapeValue& value = Input(i);
  if (!value.IsTensor() || !value.HasFullValue()) return std::nullopt;
  std::vector<OptimDim> elements;
  elements.reserve(value.Elements()->size());
  for (const std::optional<OptimDim>& element : *value.Elements()) elements.push_back(*element);
  return elements;
}

std::optional<std::vector<int64_t>> InferScope::InputInts(int i) const {
  const ShapeValue& value = Input(i);
  if (!value.IsTensor() || !value.HasFullValue()) return std::nullopt;
  std::vector<int64_t> elements;
  elements.reserve(value.Elements()->size());
  for (const std::optional<OptimDim>& element : *value.Elements()) {
    if (!element->IsInt()) return std::nullopt;
    elements.push_back(element->AsInt());
  }
  return elements;
}

ShapeValue InferScope::Simplified(const ShapesContext& context, const ShapeValue& value) {
  bool facts = false;
  for (const ShapesContext* scope = &context; scope != nullptr && !facts; scope = scope->Parent())
    facts = !scope->Constraints().empty();
  if (!facts) return value;
  bool changed = false;
  ShapeValue simpler = MapDims(value, [&](const OptimDim& dim) {
    OptimDim simple = context.Simplify(dim);
    changed = changed || simple != dim;
    return simple;
  });
  return changed ? simpler : value;
}

// Outputs -----------------------------------------------------------------------------------------

bool InferScope::HasOutput(int i) const {
  return i >= 0 && i < output_size() && !node_->output(static_cast<size_t>(i)).empty();
}

void InferScope::SetOutput(int i, ShapeValue value) {
  if (HasOutput(i)) outputs_[static_cast<size_t>(i)] = std::move(value);
}

const ShapeValue* InferScope::Output(int i) const {
  const bool set = i >= 0 && i < output_size() && outputs_[static_cast<size_t>(i)].has_value();
  return set ? &*outputs_[static_cast<size_t>(i)] : nullptr;
}

void InferScope::SetTensor(int i, TensorType dtype, OptimShape shape) {
  SetOutput(i, ShapeValue::Tensor(dtype, std::move(shape)));
}

void InferScope::SetKnown(int i, std::vector<OptimDim> elements) {
  if (!HasOutput(i) || !outputs_[static_cast<size_t>(i)]) return;
  ShapeValue& value = *outputs_[static_cast<size_t>(i)];
  KnownElements known(std::make_move_iterator(elements.begin()), std::make_move_iterator(elements.end()));
  value = ShapeValue::TensorWithValue(value.Dtype(), value.Shape(), std::move(known));
}

void InferScope::Commit() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i]) continue;
    const std::string& name = node_->output(i);
    // The documented types in documented precision: they say no more than their text does, and one name may be of both
    // kinds.
    if (!exact() && outputs_[i]->IsTensor() && outputs_[i]->Elements() == nullptr) {
      context_->Set(name, outputs_[i]->ToOptimTensor());
    } else if (!exact() && outputs_[i]->IsSequence()) {
      onnx_optim::OptimSequence sequence = outputs_[i]->ToOptimSequence();
      sequence.ClearElem();
      context_->SetSequence(name, std::move(sequence));
    } else {
      context_->SetValue(name, std::move(*outputs_[i]));
    }
  }
  if (!equalities_.empty() || !sizes_.empty()) {
    const std::string origin = fmt::format("{} node \"{}\"", node_->op_type().as_string(), node_->name().as_string());
    for (const Equality& equality : equalities_) context_->AddConstraint(equality.a, equality.b, origin);
    for (const OptimDim& size : sizes_) context_->AddLessEqualConstraint(0, size, origin);
  }
  CommitWarnings();
}

void InferScope::CommitWarnings() {
  for (std::string& warning : warnings_) context_->AddProblem(Problem::Level::kWarning, std::move(warning));
  warnings_.clear();
}

// Dims --------------------------------------------------------------------------------------------

OptimDim InferScope::Fresh(std::string_view hint) { return context_->FreshDim(hint); }

OptimShape InferScope::FreshShape(int rank) {
  std::vector<OptimDim> dims;
  dims.reserve(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) dims.push_back(Fresh());
  return OptimShape(std::move(dims));
}

OptimDim InferScope::Unify(const OptimDim& a, const OptimDim& b, std::string_view subject_a,
                           std::string_view subject_b) {
  if (a.IsInt() && b.IsInt()) {
    if (a.AsInt() != b.AsInt()) {
      Fail({}, fmt::format("{} is {}, {} is {}; they must be equal", subject_a, a.AsInt(), subject_b, b.AsInt()));
    }
    return a;
  }
  if (!exact()) return b.IsInt() ? b : a;
  if (context_->Equal(a, b)) return a.IsInt() || !b.IsInt() ? a : b;
  if (context_->ProvablyDifferent(a, b)) {
    Fail({}, fmt::format("{} is {}, {} is {}; they must be equal", subject_a, a.ToString(), subject_b, b.ToString()));
  }
  equalities_.push_back({a, b});
  if (a.IsInt()) return a;
  if (b.IsInt()) return b;
  return onnx_optim::MentionsFresh(a) && !onnx_optim::MentionsFresh(b) ? b : a;
}

void InferScope::RequireSize(const OptimDim& dim) {
  if (exact() && dim.IsExpr() && !context_->ProvablyGreaterEqual(dim, 0)) sizes_.push_back(dim);
}

OptimShape InferScope::Broadcast(const OptimShape& a, const OptimShape& b) {
  if (a.IsUnknown() || b.IsUnknown()) return OptimShape::Unknown();
  const size_t rank = std::max(a.Rank(), b.Rank());
  std::vector<OptimDim> dims(rank);
  for (size_t i = 0; i < rank; ++i) {
    const size_t from_end = rank - 1 - i;
    const bool in_a = from_end < a.Rank();
    const bool in_b = from_end < b.Rank();
    if (!in_a || !in_b) {
      dims[i] = in_a ? a[a.Rank() - 1 - from_end] : b[b.Rank() - 1 - from_end];
      continue;
    }
    const OptimDim& x = a[a.Rank() - 1 - from_end];
    const OptimDim& y = b[b.Rank() - 1 - from_end];
    if (x.IsInt() && y.IsInt() && x != y && x != OptimDim(1) && y != OptimDim(1)) {
      Fail({}, fmt::format("{} and {} do not broadcast: {} and {} at axis {}", a.ToString(), b.ToString(), x.ToString(),
                           y.ToString(), static_cast<int64_t>(i)));
    }
    dims[i] = context_->Equal(x, y) ? x : onnx_optim::Broadcast(x, y);
  }
  return OptimShape(std::move(dims));
}

int InferScope::NormalizeAxis(int64_t axis, int rank, std::string_view subject) {
  if (axis < -rank || axis >= rank) {
    const std::string range = rank == 0 ? "a scalar has no axes" : fmt::format("is not in [{}, {}]", -rank, rank - 1);
    Fail(std::string(subject), rank == 0 ? fmt::format("{}: {}", axis, range) : fmt::format("{} {}", axis, range));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

// Bodies ------------------------------------------------------------------------------------------

std::vector<ShapeValue> InferScope::InferBody(const GraphProto& body, std::span<const ShapeValue> inputs,
                                              const BodyOptions& options) {
  if (body_inference_ == nullptr) return std::vector<ShapeValue>(static_cast<size_t>(body.output_size()));
  return (*body_inference_)(*this, body, inputs, options);
}

// Problems ----------------------------------------------------------------------------------------

std::string InferScope::Subject(std::string_view what, std::span<const std::string_view> formals, int i,
                                std::string_view name) const {
  std::string subject = fmt::format("{} {}", what, i);
  if (!formals.empty()) subject += fmt::format(" '{}'", formals[std::min(static_cast<size_t>(i), formals.size() - 1)]);
  if (!name.empty()) subject += fmt::format(" (\"{}\")", name);
  return subject;
}

std::string InferScope::InputSubject(int i) const {
  return Subject("input", names_.inputs, i,
                 HasInput(i) ? std::string_view(node_->input(static_cast<size_t>(i))) : std::string_view());
}

std::string InferScope::OutputSubject(int i) const {
  return Subject("output", names_.outputs, i,
                 HasOutput(i) ? std::string_view(node_->output(static_cast<size_t>(i))) : std::string_view());
}

std::string InferScope::Describe(const ShapeValue& value) {
  return value.IsUnknown() ? "nothing known" : value.ToString();
}

void InferScope::Fail(std::string subject, std::string fact) const {
  throw InvalidArgument(std::move(fact), ErrorWhere{.op_type = node_->op_type().as_string(),
                                                    .node_name = node_->name().as_string(),
                                                    .subject = std::move(subject),
                                                    .path = {}});
}

void InferScope::FailMissing(std::string subject, std::string fact) const {
  throw OutOfRange(std::move(fact), ErrorWhere{.op_type = node_->op_type().as_string(),
                                               .node_name = node_->name().as_string(),
                                               .subject = std::move(subject),
                                               .path = {}});
}

void InferScope::Warn(std::string subject, std::string fact) {
  const InvalidArgument text(std::move(fact), ErrorWhere{.op_type = node_->op_type().as_string(),
                                                         .node_name = node_->name().as_string(),
                                                         .subject = std::move(subject),
                                                         .path = {}});
  warnings_.emplace_back(text.what());
}

}  // namespace ONNX_LIGHT_NAMESPACE
