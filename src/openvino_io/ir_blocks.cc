// SPDX-License-Identifier: Apache-2.0
// Blocks and patches of an image, axes turned round, and parts written over.
#include <fmt/format.h>

#include <array>
#include <limits>
#include <numeric>

#include "openvino_io/ir_layer_functions.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

std::string From(IrLowering& l, const std::string& vector, int64_t first) {
  return l.Apply("Slice", {vector, l.Int64Constant("from", {first}), l.Int64Constant("to", {kEnd})});
}

// The block sizes of a layer, the first of which is that of the batch and 1; and the rank, that of the input.
std::vector<int64_t> BlockShape(const IrLowering& l) {
  const auto blocks = l.ConstantInts(1);
  if (!blocks) l.Refuse("input 1 'block_shape' must be constant integers");
  const int rank = l.KnownRank(0, "to cut it into blocks");
  if (static_cast<int>(blocks->size()) != rank || rank < 2)
    l.layer().Fail("input 1 'block_shape'",
                   fmt::format("has {} elements for an input of rank {}, at least 2", blocks->size(), rank));
  for (const int64_t size : *blocks)
    if (size < 1) l.layer().Fail("input 1 'block_shape'", fmt::format("must be sizes >= 1, got {}", size));
  if (blocks->front() != 1)
    l.layer().Fail("input 1 'block_shape'", fmt::format("must begin with 1, got {}", blocks->front()));
  return *blocks;
}

// first, first + step, ... below end.
std::vector<int64_t> Every(int64_t first, int64_t end, int64_t step) {
  std::vector<int64_t> numbers;
  for (int64_t i = first; i < end; i += step) numbers.push_back(i);
  return numbers;
}

}  // namespace

// [N, D1, D2, ..] -> [b1, b2, .., N / (b1 b2 ..), D1, D2, ..] -> [N', D1, b1, D2, b2, ..] -> [N', D1 b1, ..], cropped.
void LowerBatchToSpace(IrLowering& l) {
  const std::vector<int64_t> blocks = BlockShape(l);
  const auto count = static_cast<int64_t>(blocks.size()) - 1;
  const std::string x = l.Use(0), spatial = l.Int64Constant("blocks", {blocks.begin() + 1, blocks.end()});
  const std::string rest = l.Int64Constant("rest", {-1}), dims = From(l, l.Apply("Shape", {x}), 1);
  const std::string cut = l.Apply("Reshape", {x, l.Along("Concat", {spatial, rest, dims}, 0)});
  std::vector<int64_t> perm{count};
  for (int64_t i = 0; i < count; ++i) perm.insert(perm.end(), {count + 1 + i, i});
  const std::string joined =
      l.Apply("Reshape", {l.Transposed(cut, perm), l.Along("Concat", {rest, l.Apply("Mul", {dims, spatial})}, 0)});
  const std::string begin = l.Int64(2, true), end = l.Int64(3, true);
  l.Finish("Slice", {joined, begin, l.Apply("Sub", {l.Apply("Shape", {joined}), end})});
  l.SameAs(0);
}

// The other way round, of the input with zeros around it.
void LowerSpaceToBatch(IrLowering& l) {
  const std::vector<int64_t> blocks = BlockShape(l);
  const auto count = static_cast<int64_t>(blocks.size()) - 1;
  const std::string padded = l.Apply("Pad", {l.Use(0), l.Along("Concat", {l.Int64(2, true), l.Int64(3, true)}, 0)});
  const std::string spatial = l.Int64Constant("blocks", {blocks.begin() + 1, blocks.end()});
  const std::string rest = l.Int64Constant("rest", {-1}), axis = l.Int64Constant("axes", {1});
  const std::string dims = l.Apply("Div", {From(l, l.Apply("Shape", {padded}), 1), spatial});
  const std::string pairs =
      l.Along("Concat", {l.Apply("Unsqueeze", {dims, axis}), l.Apply("Unsqueeze", {spatial, axis})}, 1);
  const std::string batch = l.AxisSize(padded, 0);
  const std::string cut =
      l.Apply("Reshape", {padded, l.Along("Concat", {batch, l.Apply("Reshape", {pairs, rest})}, 0)});
  std::vector<int64_t> perm = Every(2, 2 * count + 1, 2);
  perm.push_back(0);
  const std::vector<int64_t> spaces = Every(1, 2 * count + 1, 2);
  perm.insert(perm.end(), spaces.begin(), spaces.end());
  l.Finish("Reshape", {l.Transposed(cut, perm), l.Along("Concat", {rest, dims}, 0)});
  l.SameAs(0);
}

// The elements of all patches at one place of the window are a part of the image with steps; channels lie innermost.
void LowerExtractImagePatches(IrLowering& l) {
  const IrAttributes attrs = l.attrs();
  std::array<std::vector<int64_t>, 3> given{attrs.Ints("sizes"), attrs.Ints("strides"), attrs.Ints("rates")};
  constexpr std::array kNames{"sizes", "strides", "rates"};
  for (size_t k = 0; k < given.size(); ++k)
    if (given[k].size() != 2 || given[k][0] < 1 || given[k][1] < 1)
      l.layer().Fail(fmt::format("attribute '{}'", kNames[k]), "must be two integers >= 1");
  const auto& [sizes, strides, rates] = given;
  constexpr int64_t kMostPlaces = 1024, kLargest = 1 << 20;
  if (sizes[0] > kMostPlaces || sizes[1] > kMostPlaces || sizes[0] * sizes[1] > kMostPlaces ||
      std::max(rates[0], rates[1]) > kLargest || std::max(strides[0], strides[1]) > kLargest)
    l.Refuse(fmt::format("windows of over {} places, or strides or rates over 2^20, are not read", kMostPlaces));
  const std::string pad = attrs.String("auto_pad", "valid");
  if (pad != "valid" && pad != "same_upper" && pad != "same_lower")
    l.layer().Fail("attribute 'auto_pad'",
                   fmt::format("must be valid, same_upper or same_lower, got {}", QuoteForMessage(pad)));
  const std::array<int64_t, 2> reach{(sizes[0] - 1) * rates[0], (sizes[1] - 1) * rates[1]};
  std::string image = l.Use(0);
  const std::string axes = l.Int64Constant("axes", {2, 3}), steps = l.Int64Constant("steps", strides);
  if (pad != "valid") {
    // max((ceil(size / stride) - 1) * stride + window - size, 0), of which the larger half lies behind or before.
    const std::string size =
        l.Apply("Slice", {l.Apply("Shape", {image}), l.Int64Constant("from", {2}), l.Int64Constant("to", {4})});
    const std::string last = l.Apply("Div", {l.Apply("Sub", {size, l.Int64Constant("one", {1})}), steps});
    const std::string needed =
        l.Apply("Add", {l.Apply("Mul", {last, steps}), l.Int64Constant("window", {reach[0] + 1, reach[1] + 1})});
    const std::string missing = l.Apply("Max", {l.Apply("Sub", {needed, size}), l.Int64Constant("none", {0})});
    const std::string less = l.Apply("Div", {missing, l.Int64Constant("two", {2})});
    const std::string more = l.Apply("Sub", {missing, less});
    const bool upper = pad == "same_upper";
    const std::string pads = l.Along("Concat", {upper ? less : more, upper ? more : less}, 0);
    image = l.Apply("Pad", {image, pads, "", axes});
  }
  std::vector<std::string> parts;
  const auto end = [&](size_t axis, int64_t at) {
    const int64_t left = at - reach[axis];
    return left == 0 ? kEnd : left;
  };
  for (int64_t i = 0; i <= reach[0]; i += rates[0]) {
    for (int64_t k = 0; k <= reach[1]; k += rates[1])
      parts.push_back(l.Apply("Slice", {image, l.Int64Constant("from", {i, k}),
                                        l.Int64Constant("to", {end(0, i), end(1, k)}), axes, steps}));
  }
  SetInt(l.Finish("Concat", parts), "axis", 1);
  l.SameAs(0);
}

// Axis by axis, the element at i comes from i - shift.
void LowerRoll(IrLowering& l) {
  const auto axes = l.ConstantInts(2), shifts = l.ConstantInts(1);
  if (!axes) l.Refuse("input 2 'axes' must be constant integers");
  constexpr size_t kMostAxes = 64;
  if (axes->size() > kMostAxes)
    l.layer().Fail("input 2 'axes'", fmt::format("has {} elements, at most {} are possible", axes->size(), kMostAxes));
  if (shifts && shifts->size() != axes->size() && shifts->size() != 1)
    l.layer().Fail("input 1 'shift'", fmt::format("has {} elements for {} axes", shifts->size(), axes->size()));
  const std::string all = l.Int64(1, true);
  std::string value = l.Use(0);
  for (size_t i = 0; i < axes->size(); ++i) {
    const std::string size = l.AxisSize(value, (*axes)[i]);
    std::string shift = all;
    if (!shifts || shifts->size() > 1)
      shift = l.Along("Gather", {all, l.Int64Constant("place", {static_cast<int64_t>(i)})}, 0);
    const std::string from = l.Apply("Mod", {l.Apply("Sub", {l.CountTo(size), shift}), size});
    value = l.Along("Gather", {value, from}, (*axes)[i]);
  }
  l.Finish("Identity", {value});
  l.SameAs(0);
}

// Where the slice's elements lie in the whole tells the slice of their numbers.
void LowerSliceScatter(IrLowering& l) {
  const std::string x = l.Use(0), shape = l.Apply("Shape", {x}), all = l.Int64Constant("all", {-1});
  const std::string size = l.Apply("Reshape", {l.Apply("Size", {x}), all});
  const std::string numbers = l.Apply("Reshape", {l.CountTo(size), shape});
  std::vector<std::string> slice{numbers, l.Int64(2, true), l.Int64(3, true), "", l.Int64(4, true)};
  if (l.input_size() > 5) slice[3] = l.Int64(5, true);
  const std::string places = l.Apply("Slice", slice);
  const std::string updates = l.Apply("Expand", {l.Use(1), l.Apply("Shape", {places})});
  const std::string written =
      l.Along("ScatterElements",
              {l.Apply("Reshape", {x, all}), l.Apply("Reshape", {places, all}), l.Apply("Reshape", {updates, all})}, 0);
  l.Finish("Reshape", {written, shape});
  l.SameAs(0);
}

void LowerCol2Im(IrLowering& l) {
  const int rank = l.KnownRank(0, "to know whether it is a batch");
  if (rank != 2 && rank != 3) l.layer().Fail("input 0 'data'", fmt::format("must have rank 2 or 3, got {}", rank));
  const std::string first = l.Int64Constant("axes", {0});
  std::string columns = l.Use(0);
  if (rank == 2) columns = l.Apply("Unsqueeze", {columns, first});
  const std::string image = rank == 2 ? l.Temporary("image") : l.output(0).name;
  NodeProto& node = l.Node("Col2Im", {columns, l.Int64(1, true), l.Int64(2, true)}, {image});
  std::vector<int64_t> pads = l.attrs().Ints("pads_begin");
  const std::vector<int64_t> end = l.attrs().Ints("pads_end");
  pads.insert(pads.end(), end.begin(), end.end());
  if (!pads.empty()) SetInts(node, "pads", pads);
  for (const char* name : {"strides", "dilations"})
    if (const auto values = l.attrs().Ints(name); !values.empty()) SetInts(node, name, values);
  if (rank == 2) l.Finish("Squeeze", {image, first});
  l.output(0).type = l.input(0).type;
  l.output(0).rank = rank + 1;
}

}  // namespace ONNX_LIGHT_NAMESPACE
