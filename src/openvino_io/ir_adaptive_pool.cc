// SPDX-License-Identifier: Apache-2.0
// Pools that are told how many windows there are: window i of n over a size of d covers floor(i d / n) up to
// ceil((i + 1) d / n).
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// The sizes of the output's spatial axes, which stand behind batch and channels.
struct Sizes {
  std::vector<int64_t> sizes;
  bool global;  // one window over all
  explicit Sizes(const IrLowering& l) {
    const auto given = l.ConstantInts(1);
    if (!given) l.Refuse("input 1 'output_shape' must be constant integers");
    sizes = *given;
    if (sizes.empty() || sizes.size() > 3)
      l.layer().Fail("input 1 'output_shape'", fmt::format("must have 1 to 3 elements, got {}", sizes.size()));
    constexpr int64_t kLargest = int64_t{1} << 20;
    for (const int64_t size : sizes)
      if (size < 1 || size > kLargest)
        l.layer().Fail("input 1 'output_shape'", fmt::format("must be sizes of 1 to 2^20, got {}", size));
    global = std::ranges::all_of(sizes, [](int64_t size) { return size == 1; });
  }
  std::vector<int64_t> Axes() const {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < sizes.size(); ++i) axes.push_back(static_cast<int64_t>(i) + 2);
    return axes;
  }
};

// Which elements [count, size] the windows cover, and how many each does [count, 1].
struct Windows {
  std::string covered, lengths;
};
Windows WindowsOf(IrLowering& l, const std::string& size, int64_t count) {
  const std::string number = l.Int64Constant("count", {count}), one = l.Int64Constant("one", {1});
  const std::string column = l.Int64Constant("axes", {1});
  const std::string index = l.Apply("Unsqueeze", {l.CountTo(number), column});
  const std::string begin = l.Apply("Div", {l.Apply("Mul", {index, size}), number});
  const std::string last = l.Apply("Sub", {l.Apply("Mul", {l.Apply("Add", {index, one}), size}), one});
  const std::string end = l.Apply("Add", {l.Apply("Div", {last, number}), one});
  const std::string place = l.CountTo(size);
  return {l.Apply("And", {l.Apply("GreaterOrEqual", {place, begin}), l.Apply("Less", {place, end})}),
          l.Apply("Sub", {end, begin})};
}

void SetOutputs(IrLowering& l, const Sizes& sizes) {
  for (int i = 0; i < static_cast<int>(l.layer().outputs.size()); ++i)
    l.output(i).rank = static_cast<int>(sizes.sizes.size()) + 2;
  l.output(0).type = l.input(0).type;
}

}  // namespace

// Axis by axis a product with what each element counts in each window.
void LowerAdaptiveAvgPool(IrLowering& l) {
  const Sizes sizes(l);
  const TensorType type = l.KnownType(0);
  if (sizes.global) {
    l.Finish("ReduceMean", {l.Use(0), l.Int64Constant("axes", sizes.Axes())});
    return SetOutputs(l, sizes);
  }
  std::string value = l.Use(0);
  const auto axes = static_cast<int64_t>(sizes.sizes.size());
  for (int64_t i = 0; i < axes; ++i) {
    const Windows windows = WindowsOf(l, l.AxisSize(value, i + 2), sizes.sizes[static_cast<size_t>(i)]);
    std::vector<int64_t> perm;  // changes this axis and the last, twice
    for (int64_t axis = 0; axis < axes + 2; ++axis) perm.push_back(axis);
    std::swap(perm[static_cast<size_t>(i) + 2], perm.back());
    const std::string share = l.Apply("Div", {l.CastTo(windows.covered, type), l.CastTo(windows.lengths, type)});
    const std::string product =
        l.Apply("MatMul", {l.Transposed(value, perm), l.Transposed(share, std::vector<int64_t>{1, 0})});
    value = l.Transposed(product, perm);
  }
  l.Finish("Identity", {value});
  SetOutputs(l, sizes);
}

// All places at once, so that the first of equal elements is found: [N, C, 1, places] where a window covers them.
void LowerAdaptiveMaxPool(IrLowering& l) {
  const Sizes sizes(l);
  const TensorType type = l.KnownType(0);
  if (!onnx_optim::IsFloatTensorType(type)) l.Refuse("it is read for float types");
  const std::string x = l.Use(0), last = l.Int64Constant("axes", {-1});
  const std::string flat = l.Apply("Reshape", {x, l.Int64Constant("flat", {0, 0, 1, -1})});
  std::string values = flat;
  if (!sizes.global) {
    std::string covered;  // [windows, places]
    for (size_t i = 0; i < sizes.sizes.size(); ++i) {
      const Windows next = WindowsOf(l, l.AxisSize(x, static_cast<int64_t>(i) + 2), sizes.sizes[i]);
      if (i == 0) {
        covered = next.covered;
        continue;
      }
      const std::string a = l.Apply("Unsqueeze", {covered, l.Int64Constant("axes", {1, 3})});
      const std::string b = l.Apply("Unsqueeze", {next.covered, l.Int64Constant("axes", {0, 2})});
      const std::string both = l.Apply("And", {a, b}), shape = l.Apply("Shape", {both});
      const auto product = [&](int64_t k) {
        const std::string of = l.Apply("Slice", {shape, l.Int64Constant("from", {k}), l.Int64Constant("to", {k + 2})});
        return l.Apply("ReduceProd", {of});
      };
      covered = l.Apply("Reshape", {both, l.Along("Concat", {product(0), product(2)}, 0)});
    }
    const std::string least = l.ScalarConstant("least", type, -std::numeric_limits<double>::infinity());
    values = l.Apply("Where", {covered, flat, least});
  }
  std::vector<int64_t> shape{0, 0};
  shape.insert(shape.end(), sizes.sizes.begin(), sizes.sizes.end());
  const std::string output_shape = l.Int64Constant("shape", shape);
  const std::string places = l.Along("ArgMax", {values}, -1);
  const std::string indices = l.IndicesName(1, "index_element_type", TensorType::kInt64);
  l.Node("Reshape", {places, output_shape}, {indices});
  l.FinishIndices(indices, 1);
  l.Finish("Reshape", {l.Apply("ReduceMax", {values, last}), output_shape});
  SetOutputs(l, sizes);
}

}  // namespace ONNX_LIGHT_NAMESPACE
