// SPDX-License-Identifier: Apache-2.0
#include "ops/nn/window_op.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Keeps products of two of them within 64 bits.
constexpr int64_t kMaxEntry = 0x7fffffff;

std::vector<int64_t> ReadEntries(const NodeAttributes& attrs, std::string_view name, size_t count, int64_t otherwise,
                                 int64_t least) {
  std::vector<int64_t> entries = attrs.Ints(name);
  if (!attrs.Has(name)) entries.assign(count, otherwise);
  if (entries.size() != count) FailAttribute(name, fmt::format("has {} entries, needs {}", entries.size(), count));
  for (const int64_t entry : entries)
    if (entry < least || entry > kMaxEntry)
      FailAttribute(name, fmt::format("{} is not in [{}, {}]", entry, least, kMaxEntry));
  return entries;
}

AutoPad ReadAutoPad(const NodeAttributes& attrs) {
  const std::string name = attrs.String("auto_pad", "NOTSET");
  if (name == "NOTSET") return AutoPad::kNotSet;
  if (name == "VALID") return AutoPad::kValid;
  if (name == "SAME_UPPER") return AutoPad::kSameUpper;
  if (name != "SAME_LOWER") FailAttribute("auto_pad", fmt::format("is \"{}\", which is not known", name));
  return AutoPad::kSameLower;
}

std::string DoesNotFit(int64_t extent, int64_t length, int axis) {
  return fmt::format("a window of {} does not fit in the {} elements, padding included, of axis {}", extent, length,
                     axis);
}

}  // namespace

int64_t WindowAttributes::Extent(int axis) const {
  const auto d = static_cast<size_t>(axis);
  return (kernel[d] - 1) * dilations[d] + 1;
}

WindowAttributes ReadWindow(const NodeAttributes& attrs, int axes, const std::vector<int64_t>& kernel) {
  const auto count = static_cast<size_t>(axes);
  WindowAttributes window;
  window.kernel = attrs.Has("kernel_shape") ? ReadEntries(attrs, "kernel_shape", count, 1, 1) : kernel;
  if (!kernel.empty() && window.kernel != kernel) FailAttribute("kernel_shape", "is not that of the weights");
  for (const int64_t entry : kernel)
    if (entry < 1 || entry > kMaxEntry)
      FailAttribute("kernel_shape", fmt::format("{}, as the weights say, is not in [1, {}]", entry, kMaxEntry));
  window.kernel.resize(count, 1);
  window.strides = ReadEntries(attrs, "strides", count, 1, 1);
  window.dilations = ReadEntries(attrs, "dilations", count, 1, 1);
  window.auto_pad = ReadAutoPad(attrs);
  window.ceil = attrs.Int("ceil_mode", 0) != 0;
  // Pads beside an auto_pad are ignored, as they are elsewhere.
  std::vector<int64_t> pads(2 * count);
  if (window.auto_pad == AutoPad::kNotSet) pads = ReadEntries(attrs, "pads", 2 * count, 0, 0);
  window.begin.assign(pads.begin(), pads.begin() + axes);
  window.end.assign(pads.begin() + axes, pads.end());
  return window;
}

OptimDim WindowLength(const WindowAttributes& window, int axis, const OptimDim& in) {
  const auto d = static_cast<size_t>(axis);
  const int64_t stride = window.strides[d];
  if (window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower) return CeilDiv(in, stride);
  const OptimDim room = in + (window.begin[d] + window.end[d] - window.Extent(axis));
  if (!window.ceil || window.auto_pad == AutoPad::kValid) return FloorDiv(room, stride) + 1;
  return Min(CeilDiv(room, stride), FloorDiv(in + (window.begin[d] - 1), stride)) + 1;
}

kernels::Window WindowOver(const RunContext& ctx, const WindowAttributes& attributes, const Shape& x) {
  kernels::Window window{.in = {},
                         .out = {},
                         .kernel = attributes.kernel,
                         .stride = attributes.strides,
                         .dilation = attributes.dilations,
                         .begin = attributes.begin,
                         .end = attributes.end};
  // Padding as large lets windows of any size fit.
  constexpr int64_t kMaxPlaces = int64_t{1} << 27;
  const std::optional<int64_t> places = CheckedProduct(window.kernel);
  if (!places || *places > kMaxPlaces) ctx.Fail("attribute 'kernel_shape'", "makes a window of more than 2^27 places");
  for (int axis = 0; axis < attributes.axes(); ++axis) {
    const auto d = static_cast<size_t>(axis);
    const int64_t in = x[axis + 2], extent = attributes.Extent(axis);
    const OptimDim length = WindowLength(attributes, axis, in);
    if (!length.IsInt()) ctx.FailInput(0, fmt::format("axis {} is too long", axis + 2));
    window.in.push_back(in);
    window.out.push_back(length.AsInt());
    if (attributes.auto_pad == AutoPad::kSameUpper || attributes.auto_pad == AutoPad::kSameLower) {
      const int64_t pad = std::max<int64_t>(0, (length.AsInt() - 1) * attributes.strides[d] + extent - in);
      window.begin[d] = attributes.auto_pad == AutoPad::kSameUpper ? pad / 2 : pad - pad / 2;
      window.end[d] = pad - window.begin[d];
    } else if (in + window.begin[d] + window.end[d] < extent) {
      ctx.FailInput(0, DoesNotFit(extent, in + window.begin[d] + window.end[d], axis + 2));
    }
  }
  return window;
}

OptimShape WindowedShape(InferScope& scope, const WindowAttributes& attributes, const OptimShape& x) {
  OptimShape shape = x;
  for (int axis = 0; axis < attributes.axes(); ++axis) {
    const auto d = static_cast<size_t>(axis);
    OptimDim& dim = shape[d + 2];
    const bool same = attributes.auto_pad == AutoPad::kSameUpper || attributes.auto_pad == AutoPad::kSameLower;
    const int64_t pads = attributes.begin[d] + attributes.end[d];
    if (dim.IsInt() && !same && dim.AsInt() + pads < attributes.Extent(axis))
      scope.Fail(scope.InputSubject(0), DoesNotFit(attributes.Extent(axis), dim.AsInt() + pads, axis + 2));
    if (!same) scope.RequireSize(dim + (pads - attributes.Extent(axis)));
    dim = WindowLength(attributes, axis, dim);
  }
  return shape;
}

void CheckPooled(const RunContext& ctx) {
  const Tensor& x = ctx.tensor(0);
  if (x.rank() < 3) ctx.FailInput(0, fmt::format("must have rank 3 or more, got {}", x.TypeString()));
}

void PoolShape(InferScope& scope) {
  const OptimShape& x = scope.InputShape(0);
  OptimShape y = x;
  if (x.IsUnknown()) {
    const std::vector<int64_t> kernel = scope.attrs().Ints("kernel_shape");
    if (!kernel.empty()) y = scope.FreshShape(static_cast<int>(kernel.size()) + 2);
  } else {
    if (x.Rank() < 3)
      scope.Fail(scope.InputSubject(0),
                 fmt::format("must have rank 3 or more, got {}", InferScope::Describe(scope.Input(0))));
    y = WindowedShape(scope, ReadWindow(scope.attrs(), static_cast<int>(x.Rank()) - 2), x);
  }
  SetLikeInput(scope, 0, y);
  scope.SetTensor(1, TensorType::kInt64, y);
}

OpDef PoolOp(std::string_view type, int since, TypeSet types, void (*run)(RunContext&), std::vector<AttrDef> more) {
  OpDef op{.domain = "",
           .type = type,
           .since_version = since,
           .inputs = {{"X", types, "T"}},
           .outputs = {{"Y", types, "T"}},
           .attributes = {{"auto_pad", AttrKind::kString},
                          {"kernel_shape", AttrKind::kInts, true},
                          {"pads", AttrKind::kInts},
                          {"strides", AttrKind::kInts}},
           .shape = PoolShape,
           .run = run};
  op.attributes.insert(op.attributes.end(), more.begin(), more.end());
  return op;
}

}  // namespace ONNX_LIGHT_NAMESPACE
