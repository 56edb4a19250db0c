// SPDX-License-Identifier: Apache-2.0
// SegmentMatMul (onnxseq.internal 1): MatMul of the matrices of each element, one or both of them packed. With S the
// sum of the lengths, `form` is
//   contract   A [m,S], B [S,n] -> [N,m,n]     over the axis elements differ in
//   left       A [S,k], B [N,k,n] -> [S,n]
//   right      A [N,m,k], B [k,S] -> [m,S]
// segments.h has the words.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/cast/cast.h"
#include "ops/as_type.h"
#include "ops/internal/internal_domain.h"
#include "ops/internal/segments.h"
#include "ops/math/matmul_op.h"
#include "ops/type_dispatch.h"
#include "ops/unified_size.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

enum class Form : uint8_t { kContract, kLeft, kRight };
enum Input : uint8_t { kA, kB, kLengths };

Form ReadForm(const NodeAttributes& attrs) {
  const std::string form = attrs.String("form", "");
  if (form == "contract") return Form::kContract;
  if (form == "left") return Form::kLeft;
  if (form != "right") FailAttribute("form", fmt::format("must be contract, left or right, got \"{}\"", form));
  return Form::kRight;
}

// The products of all elements. What differs from one to the next: a size, and where the matrices begin, by their place
// among the elements and by the sizes of those before.
struct Products {
  int64_t m, n, k;
  int64_t a_row, b_row, c_row;
  struct Step {
    int64_t element, start;
  };
  Step a, b, c;
};

Products ProductsOf(Form form, const Shape& a, const Shape& b) {
  switch (form) {
    case Form::kContract:
      return {a[0], b[1], 0, a[1], b[1], b[1], {0, 1}, {0, b[1]}, {a[0] * b[1], 0}};
    case Form::kLeft:
      return {0, b[2], a[1], a[1], b[2], b[2], {0, a[1]}, {a[1] * b[2], 0}, {0, b[2]}};
    case Form::kRight:
      break;
  }
  return {a[1], 0, a[2], a[2], b[1], b[1], {a[1] * a[2], 0}, {0, 1}, {0, 1}};
}

template <class T>
void Multiply(RunContext& ctx, Form form, const Segments& segments, const Tensor& a, const Tensor& b, Tensor& c) {
  const Products products = ProductsOf(form, a.shape(), b.shape());
  const T *const from_a = a.View<T>().data(), *const from_b = b.View<T>().data();
  T* const to = c.MutableView<T>().data();
  const auto multiply = [&](int64_t e, ThreadTeam* team) {
    const auto at = [&](const Products::Step& step) { return e * step.element + segments.start(e) * step.start; };
    kernels::MatMulArgs<T> args;
    args.m = form == Form::kLeft ? segments.length(e) : products.m;
    args.n = form == Form::kRight ? segments.length(e) : products.n;
    args.k = form == Form::kContract ? segments.length(e) : products.k;
    args.a = {from_a + at(products.a), products.a_row};
    args.b = {from_b + at(products.b), products.b_row};
    args.c = to + at(products.c);
    args.c_row = products.c_row;
    kernels::MatMul(args, team, ctx.threads());
  };
  const int64_t count = segments.count();
  if (count >= 2 * ctx.threads()) {
    const int64_t work = std::max<int64_t>(products.m, 1) * std::max<int64_t>(products.n, 1) *
                         std::max<int64_t>(products.k, 1) * std::max<int64_t>(segments.total() / count, 1);
    ctx.ParallelFor(count, std::max<int64_t>(1, kElementGrain / work), [&](int64_t begin, int64_t end) {
      for (int64_t e = begin; e < end; ++e) multiply(e, nullptr);
    });
  } else {
    for (int64_t e = 0; e < count; ++e) multiply(e, &ctx.team());
  }
}

void Run(RunContext& ctx) {
  const Form form = ReadForm(ctx.attrs());
  CheckRank(ctx, kA, form == Form::kRight ? 3 : 2);
  CheckRank(ctx, kB, form == Form::kLeft ? 3 : 2);
  const Shape a = ctx.tensor(kA).shape(), b = ctx.tensor(kB).shape();
  const Segments segments = ReadSegments(ctx, kLengths);
  if (form == Form::kRight) {
    CheckStacked(ctx, segments, kLengths, kA);
  } else {
    CheckFilled(ctx, segments, kLengths, kA, form == Form::kLeft ? 0 : 1);
  }
  if (form == Form::kLeft) {
    CheckStacked(ctx, segments, kLengths, kB);
  } else {
    CheckFilled(ctx, segments, kLengths, kB, form == Form::kRight ? 1 : 0);
  }
  const int64_t columns = a[a.rank() - 1], rows = b[b.rank() - 2];
  if (columns != rows)
    ctx.FailInput(kB, fmt::format("shape {} does not multiply with {}: {} rows for {} columns", b.ToString(),
                                  a.ToString(), rows, columns));
  Shape shape{segments.count(), a[0], b[1]};
  if (form == Form::kLeft) shape = {segments.total(), b[2]};
  if (form == Form::kRight) shape = {a[1], segments.total()};
  const TensorType type = ctx.tensor(kA).dtype();
  Tensor& out = ctx.AllocateOutput(0, type, shape);
  if (out.NumElements() == 0) return;
  const Tensor wide_a = Widened(ctx.tensor(kA)), wide_b = Widened(ctx.tensor(kB));
  const bool narrow = wide_a.dtype() != type;
  Tensor wide = narrow ? Tensor(wide_a.dtype(), shape) : Tensor();
  Dispatch(
      TypeList<float, double, int32_t, int64_t, uint32_t, uint64_t>(), wide_a.dtype(),
      [&]<class T>(std::type_identity<T>) { Multiply<T>(ctx, form, segments, wide_a, wide_b, narrow ? wide : out); });
  if (narrow) kernels::Cast(wide.data(), wide.dtype(), out.mutable_data(), type, out.NumElements());
}

void ShapeRule(InferScope& scope) {
  const Form form = ReadForm(scope.attrs());
  const OptimShape* const a = RankedInput(scope, kA, form == Form::kRight ? 3 : 2);
  const OptimShape* const b = RankedInput(scope, kB, form == Form::kLeft ? 3 : 2);
  UnifiedSize inner, elements, sum;
  elements.Add(scope, SegmentCount(scope, kLengths), "the number of lengths");
  if (a != nullptr) {
    const int columns = static_cast<int>(a->Rank()) - 1;
    inner.Add(scope, *a, kA, columns);
    if (form == Form::kRight) elements.Add(scope, *a, kA, 0);
    if (form == Form::kLeft) sum.Add(scope, *a, kA, 0);
  }
  if (b != nullptr) {
    inner.Add(scope, *b, kB, static_cast<int>(b->Rank()) - 2);
    if (form == Form::kLeft) elements.Add(scope, *b, kB, 0);
    if (form == Form::kRight) sum.Add(scope, *b, kB, 1);
  }
  const auto rows = [&] { return a != nullptr ? (*a)[a->Rank() - 2] : scope.Fresh("m"); };
  const auto columns = [&] { return b != nullptr ? (*b)[b->Rank() - 1] : scope.Fresh("n"); };
  switch (form) {
    case Form::kContract:
      return SetLikeInput(scope, 0, {elements.Get(scope, "N"), rows(), columns()});
    case Form::kLeft:
      return SetLikeInput(scope, 0, {sum.Get(scope, "sum"), columns()});
    case Form::kRight:
      return SetLikeInput(scope, 0, {rows(), sum.Get(scope, "sum")});
  }
}

}  // namespace

std::span<const OpDef> segment_matmul_ops() {
  static const OpDef ops[] = {
      {.domain = kInternalDomain,
       .type = "SegmentMatMul",
       .since_version = 1,
       .inputs = {{"A", kMatrixTypes, "T"}, {"B", kMatrixTypes, "T"}, kLengthsFormal},
       .outputs = {{"Y", kMatrixTypes, "T"}},
       .attributes = {{"form", AttrKind::kString, true}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
