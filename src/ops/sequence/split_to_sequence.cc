// SPDX-License-Identifier: Apache-2.0
// SplitToSequence (ai.onnx 11): a tensor cut along `axis` into a sequence. `split` gives the sizes (1-D) or one size
// for all, the last piece then takes what is left (scalar); without it the pieces have size 1 and, with keepdims = 0,
// lose the axis. With `split` keepdims is ignored, except that a scalar 1 cuts as its absence does: PyTorch writes
// torch.unbind so, and engines run it so, though the operator's text does not say it.
// https://onnx.ai/onnx/operators/onnx__SplitToSequence.html
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
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

// Pieces of a split along an axis of known size are kept one by one up to here.
constexpr int64_t kMaxListedPieces = 65536;
// Pieces of a tensor without elements, which no data justifies.
constexpr int64_t kMaxEmptyPieces = 1 << 20;

// The shape rule, with what it needs at hand.
class SplitRule {
 public:
  SplitRule(InferScope& scope, const ShapeValue& input) : scope_(scope), input_(input) {
    if (!input.HasRank() || input.Shape().Rank() == 0)
      return;  // the documented text takes a scalar for an unknown rank
    axis_ =
        static_cast<size_t>(scope.NormalizeAxis(scope.attrs().Int("axis", 0), static_cast<int>(input.Shape().Rank())));
    total_ = input.Shape()[axis_];
    known_ = true;
  }

  void Infer() {
    if (!scope_.HasInput(1)) return WithoutSplit();
    const ShapeValue& split = scope_.Input(1);
    if (split.IsTensor() && split.HasRank() && split.Shape().Rank() > 1) {
      scope_.Fail(scope_.InputSubject(1),
                  fmt::format("must be a scalar or have one dim, got {}", InferScope::Describe(split)));
    }
    const std::optional<std::vector<OptimDim>> values = scope_.InputValue(1);
    const bool is_scalar = split.IsTensor() && split.HasRank() && split.Shape().Rank() == 0;
    const bool is_list = split.IsTensor() && split.HasRank() && split.Shape().Rank() == 1;
    may_squeeze_ = scope_.exact() && scope_.attrs().Int("keepdims", 1) == 0 && !is_list &&
                   !(values && values->front().IsInt() && values->front().AsInt() != 1);
    if (values && is_scalar) {
      if (values->front().IsInt()) return WithSize(values->front().AsInt());
      return Unlisted(scope_.exact() && known_ ? CeilDiv(total_, values->front()) : scope_.Fresh("len"));
    }
    if (values) {
      const bool integers =
          std::all_of(values->begin(), values->end(), [](const OptimDim& value) { return value.IsInt(); });
      if (integers || scope_.exact()) return WithEntries(*values);
    }
    if (scope_.exact() && is_list) return WithUnknownEntries(split);
    Unlisted(scope_.Fresh("len"));
  }

 private:
  // A piece of this size along the axis; `first` is where it begins, when known, for its values.
  ShapeValue Piece(const OptimDim& size, std::optional<int64_t> first, bool squeeze = false) const {
    std::vector<OptimDim> dims = input_.Shape().Dims();
    if (squeeze) {
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis_));
    } else {
      dims[axis_] = size;
    }
    const ShapeValue piece = ShapeValue::Tensor(input_.Dtype(), OptimShape(std::move(dims)));
    if (!scope_.exact() || !first || !size.IsInt() || input_.Elements() == nullptr || input_.Shape().Rank() != 1)
      return piece;
    // Entries may contradict the axis (a symbol stands for what is left): then nothing is said of the values.
    const auto have = static_cast<int64_t>(input_.Elements()->size());
    if (*first < 0 || size.AsInt() < 0 || *first > have || size.AsInt() > have - *first) return piece;
    const auto begin = input_.Elements()->begin() + *first;
    return piece.WithElements(KnownElements(begin, begin + size.AsInt()));
  }

  void Listed(std::vector<ShapeValue> pieces) {
    if (pieces.empty()) return scope_.SetOutput(0, ShapeValue::Sequence(SequenceInfo::Empty(input_.Dtype())));
    scope_.SetOutput(0, ShapeValue::Sequence(SequenceInfo::Of(std::move(pieces), scope_.context())));
  }

  // Nothing said of single pieces; in exact precision all they share. `size` is the size of each, when it is one.
  void Unlisted(OptimDim length, std::optional<OptimDim> size = std::nullopt, bool squeeze = false) {
    if (!scope_.exact() || !known_ || may_squeeze_)
      return scope_.SetOutput(0, PlainSequence(input_.Dtype(), std::move(length)));
    const OptimDim along = size ? *size : scope_.context().FreshDim("part", onnx_optim::Interval{0, INT64_MAX});
    std::vector<std::string> varying;
    if (!size) varying.push_back(along.AsExpr());
    SequenceInfo info =
        SequenceInfo::Summary(std::move(length), Piece(along, std::nullopt, squeeze), std::move(varying));
    if (!squeeze) info.axis_sums[static_cast<int64_t>(axis_)] = total_;
    scope_.SetOutput(0, ShapeValue::Sequence(std::move(info)));
  }

  void WithoutSplit() {
    const bool squeeze = scope_.attrs().Int("keepdims", 1) == 0;
    if (!known_) return Unlisted(scope_.Fresh("len"));
    if (!total_.IsInt()) return Unlisted(scope_.exact() ? total_ : scope_.Fresh("len"), OptimDim(1), squeeze);
    const int64_t total = total_.AsInt();
    if (total > kMaxListedPieces) return Unlisted(total_, OptimDim(1), squeeze);
    std::vector<ShapeValue> pieces;
    for (int64_t i = 0; i < total; ++i) {
      ShapeValue piece = Piece(OptimDim(1), i, squeeze);
      if (squeeze && scope_.exact() && input_.Elements() != nullptr && input_.Shape().Rank() == 1) {
        piece = piece.WithElements({(*input_.Elements())[static_cast<size_t>(i)]});
      }
      pieces.push_back(std::move(piece));
    }
    Listed(std::move(pieces));
  }

  void WithSize(int64_t size) {
    if (size <= 0) scope_.Fail(scope_.InputSubject(1), fmt::format("must be positive, got {}", size));
    if (!known_) return Unlisted(scope_.Fresh("len"));
    if (may_squeeze_) return Unlisted(total_);
    if (!total_.IsInt()) {
      if (!scope_.exact()) return Unlisted(scope_.Fresh("len"));
      const OptimDim count = onnx_optim::CeilDiv(total_, size);
      if (Mod(total_, size) == OptimDim(0)) return Unlisted(count, OptimDim(size));
      const OptimDim along = scope_.context().FreshDim("part", onnx_optim::Interval{1, size});
      SequenceInfo info = SequenceInfo::Summary(count, Piece(along, std::nullopt), {along.AsExpr()});
      info.axis_sums[static_cast<int64_t>(axis_)] = total_;
      info.chunks = onnx_optim::shapes::SequenceChunks{static_cast<int64_t>(axis_), OptimDim(size), total_};
      return scope_.SetOutput(0, ShapeValue::Sequence(std::move(info)));
    }
    const int64_t total = total_.AsInt();
    const int64_t count = total / size + (total % size != 0 ? 1 : 0);
    if (count > kMaxListedPieces)
      return Unlisted(count, total % size == 0 ? std::optional(OptimDim(size)) : std::nullopt);
    std::vector<ShapeValue> pieces;
    for (int64_t i = 0; i < count; ++i) pieces.push_back(Piece(std::min(size, total - i * size), i * size));
    Listed(std::move(pieces));
  }

  void WithEntries(const std::vector<OptimDim>& sizes) {
    for (const OptimDim& size : sizes) {
      if (size.IsInt() && size.AsInt() < 0)
        scope_.Fail(scope_.InputSubject(1), fmt::format("must not be negative, got {}", size.AsInt()));
    }
    const OptimDim sum = onnx_optim::Sum(sizes);
    if (!known_) {
      const bool counted = scope_.exact();
      return Unlisted(counted ? OptimDim(sizes.size()) : scope_.Fresh("len"));
    }
    if (scope_.exact() || (total_.IsInt() && sum.IsInt())) {
      scope_.Unify(total_, sum, fmt::format("dim {} of {}", axis_, scope_.InputSubject(0)),
                   fmt::format("the sum of {}", scope_.InputSubject(1)));
    }
    if (!total_.IsInt() && !scope_.exact()) return Unlisted(scope_.Fresh("len"));
    std::vector<ShapeValue> pieces;
    std::optional<int64_t> first = 0;
    for (const OptimDim& size : sizes) {
      pieces.push_back(Piece(size, total_.IsInt() ? first : std::nullopt));
      first = first && size.IsInt() ? CheckedAdd(*first, size.AsInt()) : std::nullopt;
    }
    Listed(std::move(pieces));
  }

  // Sizes that are not all known, but how many there are may be; the last unknown one is what the others leave.
  void WithUnknownEntries(const ShapeValue& split) {
    const OptimDim count = split.Shape()[0];
    if (!known_ || !count.IsInt() || count.AsInt() > static_cast<int64_t>(kMaxListedElements) || count.AsInt() < 1) {
      return Unlisted(count);
    }
    const auto n = static_cast<size_t>(count.AsInt());
    std::vector<std::optional<OptimDim>> sizes(n);
    if (split.Elements() != nullptr && split.Elements()->size() == n) sizes = *split.Elements();
    size_t rest = n;
    for (size_t i = 0; i < n; ++i) {
      if (!sizes[i]) rest = i;
    }
    OptimDim others;
    for (size_t i = 0; i < n; ++i) {
      if (i == rest) continue;
      if (!sizes[i]) sizes[i] = scope_.Fresh("part");
      others += *sizes[i];
    }
    if (rest < n) sizes[rest] = total_ - others;
    std::vector<ShapeValue> pieces;
    for (const std::optional<OptimDim>& size : sizes) pieces.push_back(Piece(*size, std::nullopt));
    Listed(std::move(pieces));
  }

  InferScope& scope_;
  const ShapeValue& input_;
  bool known_ = false;  // the rank, and so axis and total
  bool may_squeeze_ =
      false;  // a scalar that is or may be 1, with keepdims = 0: texts and engines differ, so the rank is open
  size_t axis_ = 0;
  OptimDim total_;
};

void InferSplitToSequence(InferScope& scope) {
  RequireOutput(scope);
  const ShapeValue input = RequireTensor(scope, 0);
  if (scope.HasInput(1)) static_cast<void>(RequireTensor(scope, 1));
  SplitRule(scope, input).Infer();
}

// The sizes of the pieces along the axis, which is `total` long.
std::vector<int64_t> ReadSizes(const RunContext& ctx, int64_t total) {
  std::vector<int64_t> sizes;
  if (!ctx.HasInput(1)) return std::vector<int64_t>(static_cast<size_t>(total), 1);
  const Tensor& split = ctx.tensor(1);
  if (split.rank() > 1) ctx.FailInput(1, fmt::format("must be a scalar or have one dim, got {}", split.TypeString()));
  if (split.rank() == 0) {
    const int64_t size = ReadInt(ctx, 1);
    if (size <= 0) ctx.FailInput(1, fmt::format("must be positive, got {}", size));
    for (int64_t left = total; left > 0; left -= size) sizes.push_back(std::min(size, left));
    return sizes;
  }
  sizes = ReadInts(ctx, 1);
  int64_t sum = 0;
  for (const int64_t size : sizes) {
    if (size < 0) ctx.FailInput(1, fmt::format("must not be negative, got {}", size));
    const std::optional<int64_t> more = CheckedAdd(sum, size);
    if (!more) ctx.FailInput(1, fmt::format("its sizes add up to more than {}", INT64_MAX));
    sum = *more;
  }
  if (sum != total)
    ctx.FailInput(1, fmt::format("its sizes add up to {}, the axis of {} is {}", sum, ctx.InputSubject(0), total));
  return sizes;
}

void RunSplitToSequence(RunContext& ctx) {
  const Tensor& input = ctx.tensor(0);
  if (input.rank() == 0) ctx.FailInput(0, fmt::format("must have an axis to split, got {}", input.TypeString()));
  const int axis = NormalizeAxis(ctx, ctx.attrs().Int("axis", 0), input.rank());
  const bool unit_pieces = !ctx.HasInput(1) || (ctx.tensor(1).rank() == 0 && ReadInt(ctx, 1) == 1);
  const bool squeeze = unit_pieces && ctx.attrs().Int("keepdims", 1) == 0;
  const int64_t total = input.dim(axis);
  if (input.NumElements() == 0 && total > kMaxEmptyPieces && (!ctx.HasInput(1) || ctx.tensor(1).rank() == 0)) {
    ctx.FailInput(0,
                  fmt::format("{} would be cut into more than {} empty pieces", input.TypeString(), kMaxEmptyPieces));
  }
  const std::vector<int64_t> sizes = ReadSizes(ctx, total);

  const int64_t outer = input.NumElements() == 0 ? 0 : DimsProduct(input.shape().dims(), 0, axis);
  const int64_t inner = input.NumElements() == 0 ? 0 : DimsProduct(input.shape().dims(), axis + 1, input.rank());
  std::vector<Tensor> pieces;
  pieces.reserve(sizes.size());
  int64_t first = 0;
  for (const int64_t size : sizes) {
    Shape shape = input.shape();
    if (squeeze) {
      shape.erase(axis);
    } else {
      shape[axis] = size;
    }
    if (outer == 1) {
      pieces.push_back(input.Part(first * inner, std::move(shape)));  // consecutive: shared, not copied
    } else {
      Tensor piece(input.dtype(), std::move(shape));
      for (int64_t o = 0; o < outer; ++o)
        CopyElements(piece, o * size * inner, input, (o * total + first) * inner, size * inner);
      pieces.push_back(std::move(piece));
    }
    first += size;
  }
  ctx.SetOutput(0, Sequence(input.dtype(), std::move(pieces)));
}

}  // namespace

std::span<const OpDef> split_to_sequence_ops() {
  static const OpDef ops[] = {{.domain = "",
                               .type = "SplitToSequence",
                               .since_version = 11,
                               .inputs = {{.name = "input", .type_var = "T"},
                                          {.name = "split", .types = kIndexTypes, .count = FormalCount::kOptional}},
                               .outputs = {{.name = "output_sequence", .type_var = "T", .kind = FormalKind::kSequence}},
                               .attributes = {{"axis", AttrKind::kInt}, {"keepdims", AttrKind::kInt}},
                               .shape = InferSplitToSequence,
                               .run = RunSplitToSequence}};
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
