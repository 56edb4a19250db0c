// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: for each batch entry and class the boxes of the best scores, at most max_output_boxes_per_class,
// each of which overlaps none taken before by more than iou_threshold, as [batch, class, box]. Scores must be greater
// than score_threshold where that is given. Boxes are two opposite corners, or centre and size with center_point_box.
// https://onnx.ai/onnx/operators/onnx__NonMaxSuppression.html
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ops/op_helpers.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Box {
  double y1, x1, y2, x2;
};

Box BoxOf(const float* box, bool by_center) {
  const double a = static_cast<double>(box[0]), b = static_cast<double>(box[1]), c = static_cast<double>(box[2]),
               d = static_cast<double>(box[3]);
  if (by_center) return {b - d / 2, a - c / 2, b + d / 2, a + c / 2};
  return {std::min(a, c), std::min(b, d), std::max(a, c), std::max(b, d)};
}

double Overlap(const Box& a, const Box& b) {
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1),
               width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (height <= 0 || width <= 0) return 0;
  const auto area = [](const Box& box) { return (box.y2 - box.y1) * (box.x2 - box.x1); };
  const double both = height * width, either = area(a) + area(b) - both;
  return either > 0 ? both / either : 0;
}

float ReadScalar(const RunContext& ctx, int i, float absent) {
  if (!ctx.HasInput(i)) return absent;
  const Tensor& t = ctx.tensor(i);
  if (t.NumElements() != 1) ctx.FailInput(i, fmt::format("must have one element, got {}", t.TypeString()));
  return t.View<float>()[0];
}

void Run(RunContext& ctx) {
  const Tensor boxes = ctx.tensor(0), scores = ctx.tensor(1);
  if (boxes.rank() != 3 || boxes.dim(2) != 4)
    ctx.FailInput(0, fmt::format("must be [batch,boxes,4], got {}", boxes.TypeString()));
  const int64_t batch = boxes.dim(0), n = boxes.dim(1);
  if (scores.rank() != 3 || scores.dim(0) != batch || scores.dim(2) != n)
    ctx.FailInput(1, fmt::format("must be [{},classes,{}], got {}", batch, n, scores.TypeString()));
  const int64_t most = ctx.HasInput(2) ? ReadInt(ctx, 2) : 0;
  const auto threshold = static_cast<double>(ReadScalar(ctx, 3, 0));
  const float least = ReadScalar(ctx, 4, 0);
  const bool by_center = ctx.attrs().Int("center_point_box", 0) != 0;
  std::vector<int64_t> selected;
  std::vector<int64_t> order(static_cast<size_t>(n));
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<Box> all;
    for (int64_t i = 0; i < n; ++i) all.push_back(BoxOf(boxes.View<float>().data() + (b * n + i) * 4, by_center));
    for (int64_t c = 0; c < scores.dim(1); ++c) {
      const float* score = scores.View<float>().data() + (b * scores.dim(1) + c) * n;
      std::iota(order.begin(), order.end(), int64_t{0});
      // A NaN is no score.
      std::erase_if(order, [&](int64_t i) { return ctx.HasInput(4) ? !(score[i] > least) : score[i] != score[i]; });
      std::ranges::sort(order,
                        [&](int64_t i, int64_t j) { return score[i] != score[j] ? score[i] > score[j] : i < j; });
      std::vector<int64_t> taken;
      for (const int64_t i : order) {
        if (static_cast<int64_t>(taken.size()) >= most) break;
        ctx.CheckCancelled();
        const bool free = std::ranges::none_of(taken, [&](int64_t j) {
          return Overlap(all[static_cast<size_t>(i)], all[static_cast<size_t>(j)]) > threshold;
        });
        if (!free) continue;
        taken.push_back(i);
        selected.insert(selected.end(), {b, c, i});
      }
      order.resize(static_cast<size_t>(n));
    }
  }
  ctx.SetOutput(0, Tensor::Of<int64_t>(Shape{static_cast<int64_t>(selected.size()) / 3, 3}, selected));
}

void ShapeRule(InferScope& scope) {
  const OptimShape& scores = scope.InputShape(1);
  OptimDim count;
  if (!scores.IsUnknown() && scores.Rank() == 3) {
    const std::optional<std::vector<OptimDim>> most = scope.InputValue(2);
    OptimDim each = scores[2];
    if (most && most->size() == 1) each = Min(each, Max(most->front(), OptimDim(0)));
    if (!scope.HasInput(2)) each = OptimDim(0);
    count = each == OptimDim(0) ? each : scope.context().FreshDim("selected", 0, scores[0] * scores[1] * each);
  } else {
    count = scope.Fresh("selected");
  }
  scope.SetTensor(0, TensorType::kInt64, OptimShape{count, OptimDim(3)});
}

constexpr TypeSet kFloat{TensorType::kFloat};
Formal Optional(std::string_view name, TypeSet types) {
  return {.name = name, .types = types, .count = FormalCount::kOptional};
}

}  // namespace

std::span<const OpDef> non_max_suppression_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "NonMaxSuppression",
       .since_version = 10,
       .inputs = {{"boxes", kFloat},
                  {"scores", kFloat},
                  Optional("max_output_boxes_per_class", {TensorType::kInt64}),
                  Optional("iou_threshold", kFloat),
                  Optional("score_threshold", kFloat)},
       .outputs = {{"selected_indices", {TensorType::kInt64}}},
       .attributes = {{"center_point_box", AttrKind::kInt}},
       .shape = ShapeRule,
       .run = Run},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
