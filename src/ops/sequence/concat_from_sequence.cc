// SPDX-License-Identifier: Apache-2.0
// ConcatFromSequence (ai.onnx 11): the elements of a sequence one after the other along `axis`, or, with new_axis = 1,
// stacked along a new axis there. All elements have one rank and the same other dims (stacked: all dims); an empty
// sequence is refused, for its result would have no shape. https://onnx.ai/onnx/operators/onnx__ConcatFromSequence.html
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "ops/op_helpers.h"
#include "ops/run_context.h"
#include "ops/sequence/copy_elements.h"
#include "ops/sequence/sequence_shapes.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace {

struct ConcatFromSequenceState final : OpState {
  int64_t axis = 0;
  bool new_axis = false;
};

ConcatFromSequenceState ReadAttributes(const NodeAttributes& attributes) {
  ConcatFromSequenceState state;
  state.axis = attributes.Int("axis");
  const int64_t new_axis = attributes.Int("new_axis", 0);
  if (new_axis != 0 && new_axis != 1) {
    FailAttribute("new_axis", fmt::format("{} is not 0 or 1", new_axis));
  }
  state.new_axis = new_axis == 1;
  return state;
}

// The elements' known values as the result's, when that is a vector.
std::optional<KnownElements> ConcatValues(const std::vector<ShapeValue>& elements) {
  KnownElements values;
  for (const ShapeValue& element : elements) {
    if (element.Elements() == nullptr || element.Shape().Rank() > 1) return std::nullopt;
    values.insert(values.end(), element.Elements()->begin(), element.Elements()->end());
  }
  return values;
}

// What one element says of itself, for messages.
std::string ElementDim(size_t element, size_t axis) { return fmt::format("dim {} of element {}", axis, element); }

void InferConcatFromSequence(InferScope& scope) {
  RequireOutput(scope);
  if (!scope.HasInput(0)) scope.Fail(scope.InputSubject(0), "is required");
  const ConcatFromSequenceState attributes = ReadAttributes(scope.attrs());
  const SequenceInfo info = RequireSequence(scope, 0);
  const bool exact = scope.exact();
  const auto set_unknown = [&] { scope.SetTensor(0, info.ElemDtype(), OptimShape::Unknown()); };
  if (info.IsKnownEmpty()) {
    if (exact) scope.Fail(scope.InputSubject(0), "has no elements to concatenate");
    return set_unknown();
  }

  // The known shapes, one rank, and the dims that must agree.
  const bool listed = info.elements && !info.elements->empty();
  bool complete = listed;
  std::optional<size_t> model;  // the first element whose shape is known
  if (listed) {
    for (size_t i = 0; i < info.elements->size(); ++i) {
      const OptimShape& shape = (*info.elements)[i].Shape();
      if (shape.IsUnknown()) {
        complete = false;
      } else if (!model) {
        model = i;
      } else if (shape.Rank() != (*info.elements)[*model].Shape().Rank()) {
        scope.Fail(scope.InputSubject(0),
                   fmt::format("element {} is {}, element {} is {}; their ranks must be equal", *model,
                               (*info.elements)[*model].ToString(), i, (*info.elements)[i].ToString()));
      }
    }
    if (!model || (!complete && !exact)) return set_unknown();
  } else if (!exact || !info.elem.IsTensor() || !info.elem.HasRank()) {
    return set_unknown();
  }
  const OptimShape& first = listed ? (*info.elements)[*model].Shape() : info.elem.Shape();
  const int rank = static_cast<int>(first.Rank());
  if (rank == 0 && !attributes.new_axis)
    scope.Fail(scope.InputSubject(0), "has scalars, which concatenate only along a new axis");
  const auto axis = static_cast<size_t>(scope.NormalizeAxis(attributes.axis, rank + (attributes.new_axis ? 1 : 0)));
  std::vector<OptimDim> dims(first.begin(), first.end());
  for (size_t i = 0; listed && i < info.elements->size(); ++i) {
    const OptimShape& shape = (*info.elements)[i].Shape();
    if (shape.IsUnknown() || i == *model) continue;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (d != axis || attributes.new_axis)
        dims[d] = scope.Unify(dims[d], shape[d], ElementDim(*model, d), ElementDim(i, d));
    }
  }
  if (!listed) {
    // A dim that varies is each element's own; that all are equal here makes it one new size.
    for (OptimDim& dim : dims) {
      const bool varies = std::any_of(info.varying.begin(), info.varying.end(),
                                      [&](const std::string& symbol) { return onnx_optim::Mentions(dim, symbol); });
      if (varies) dim = scope.Fresh();
    }
  }
  if (attributes.new_axis) {
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), info.length);
  } else if (exact) {
    const std::optional<OptimDim> sum = info.AxisSum(static_cast<int64_t>(axis));
    dims[axis] = sum && (!listed || complete) ? *sum : scope.Fresh();
  } else {
    int64_t sum = 0;
    bool known = true;
    for (const ShapeValue& element : *info.elements) {
      const OptimDim& dim = element.Shape()[axis];
      const std::optional<int64_t> more = dim.IsInt() ? CheckedAdd(sum, dim.AsInt()) : std::nullopt;
      known = known && more.has_value();
      sum = more.value_or(0);
    }
    dims[axis] = known ? OptimDim(sum) : scope.Fresh();
  }
  const size_t out_rank = dims.size();
  scope.SetTensor(0, info.ElemDtype(),
                  dims.size() > OptimShape::kMaxRank ? OptimShape::Unknown() : OptimShape(std::move(dims)));
  if (exact && listed && complete && out_rank == 1) {
    if (std::optional<KnownElements> values = ConcatValues(*info.elements)) {
      const OptimShape shape({OptimDim(values->size())});
      scope.SetOutput(0, ShapeValue::TensorWithValue(info.ElemDtype(), shape, std::move(*values)));
    }
  }
}

std::unique_ptr<OpState> PrepareConcatFromSequence(const PrepareContext& ctx) {
  return std::make_unique<ConcatFromSequenceState>(ReadAttributes(ctx.attrs()));
}

void RunConcatFromSequence(RunContext& ctx) {
  const auto& attributes = ctx.state<ConcatFromSequenceState>();
  const Sequence& sequence = ctx.sequence(0);
  const int64_t n = sequence.size();
  if (n == 0) ctx.FailInput(0, "has no elements to concatenate");
  const Tensor& first = sequence[0];
  const int rank = first.rank();
  if (rank == 0 && !attributes.new_axis) ctx.FailInput(0, "has scalars, which concatenate only along a new axis");
  const int axis = NormalizeAxis(ctx, attributes.axis, rank + (attributes.new_axis ? 1 : 0));

  int64_t along = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Tensor& element = sequence[i];
    bool fits = element.rank() == rank;
    for (int d = 0; fits && d < rank; ++d) fits = (d == axis && !attributes.new_axis) || element.dim(d) == first.dim(d);
    if (!fits) {
      ctx.FailInput(
          0, fmt::format("element {} is {}, element 0 is {}; they must agree in {}", i, element.TypeString(),
                         first.TypeString(), attributes.new_axis ? "all dims" : fmt::format("all dims but {}", axis)));
    }
    const std::optional<int64_t> more = CheckedAdd(along, attributes.new_axis ? 1 : element.dim(axis));
    if (!more) ctx.FailInput(0, fmt::format("its dims add up to more than {}", INT64_MAX));
    along = *more;
  }
  if (n == 1 && !attributes.new_axis) return ctx.SetOutput(0, first);

  Shape shape = first.shape();
  if (attributes.new_axis) {
    shape.insert(axis, along);
  } else {
    shape[axis] = along;
  }
  if (first.NumElements() > 0 && DimsProduct(shape.dims(), 0, axis) == 1) {
    Tensor joined = JoinInPlace(sequence, n, [](int64_t i) { return i; }, shape);
    if (joined.defined()) return ctx.SetOutput(0, std::move(joined));
  }
  Tensor& result = ctx.AllocateOutput(0, first.dtype(), shape);
  if (result.NumElements() == 0) return;
  const int64_t outer = DimsProduct(shape.dims(), 0, axis);
  const int64_t inner = DimsProduct(shape.dims(), axis + 1, shape.rank());
  const int64_t row = along * inner;
  int64_t column = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t width = inner * (attributes.new_axis ? 1 : sequence[i].dim(axis));
    for (int64_t o = 0; o < outer; ++o) CopyElements(result, o * row + column, sequence[i], o * width, width);
    column += width;
  }
}

}  // namespace

std::span<const OpDef> concat_from_sequence_ops() {
  static const OpDef ops[] = {{.domain = "",
                               .type = "ConcatFromSequence",
                               .since_version = 11,
                               .inputs = {{.name = "input_sequence", .type_var = "T", .kind = FormalKind::kSequence}},
                               .outputs = {{.name = "concat_result", .type_var = "T"}},
                               .attributes = {{"axis", AttrKind::kInt, true}, {"new_axis", AttrKind::kInt}},
                               .shape = InferConcatFromSequence,
                               .prepare = PrepareConcatFromSequence,
                               .run = RunConcatFromSequence}};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
