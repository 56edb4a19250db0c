// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding: pairs of elements of each head turned by angles whose cosines and sines are given by position:
// element i and that half a head on, or neighbours when interleaved; of the first rotary_embedding_dim elements, or
// all. Heads are an axis, or with num_heads lie side by side. Written as nodes of other operators.
// https://onnx.ai/onnx/operators/onnx__RotaryEmbedding.html
#include <fmt/format.h>

#include <string>

#include "graph/node_attributes.h"
#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string Body(const NodeProto& node, int64_t /*opset*/) {
  const NodeAttributes attrs(node);
  const int64_t heads = attrs.Int("num_heads", 0), turned = attrs.Int("rotary_embedding_dim", 0);
  if (heads < 0) FailAttribute("num_heads", fmt::format("is {}, must not be negative", heads));
  if (turned < 0 || turned % 2 != 0)
    FailAttribute("rotary_embedding_dim", fmt::format("is {}, must be even and not negative", turned));
  const bool interleaved = attrs.Int("interleaved", 0) != 0;
  const bool by_position = node.input_size() > 3 && !node.input(3).empty();
  std::string text = "(X, cos_cache, sin_cache, position_ids) => (Y) {\n";
  // As [batch, length, heads, elements].
  text += heads > 0 ? fmt::format(
                          "  split_shape = Constant <value_ints: ints = [0, 0, {}, -1]> ()\n"
                          "  x = Reshape (X, split_shape)\n",
                          heads)
                    : "  x = Transpose <perm: ints = [0, 2, 1, 3]> (X)\n";
  text += R"(  zero = Constant <value_ints: ints = [0]> ()
  one = Constant <value_ints: ints = [1]> ()
  two = Constant <value_ints: ints = [2]> ()
  last = Constant <value_ints: ints = [3]> ()
  end = Constant <value_ints: ints = [9223372036854775807]> ()
)";
  text += turned > 0 ? fmt::format(
                           "  border = Constant <value_ints: ints = [{}]> ()\n"
                           "  rotated = Slice (x, zero, border, last)\n"
                           "  rest = Slice (x, border, end, last)\n",
                           turned)
                     : "  rotated = Identity (x)\n";
  text += by_position ? "  cos_rows = Gather (cos_cache, position_ids)\n  sin_rows = Gather (sin_cache, position_ids)\n"
                      : "  cos_rows = Identity (cos_cache)\n  sin_rows = Identity (sin_cache)\n";
  text += "  cos = Unsqueeze (cos_rows, two)\n  sin = Unsqueeze (sin_rows, two)\n";
  text += interleaved ? "  a = Slice (rotated, zero, end, last, two)\n  b = Slice (rotated, one, end, last, two)\n"
                      : "  a, b = Split <axis: int = 3, num_outputs: int = 2> (rotated)\n";
  text += R"(  a_cos = Mul (a, cos)
  b_sin = Mul (b, sin)
  a_sin = Mul (a, sin)
  b_cos = Mul (b, cos)
  real = Sub (a_cos, b_sin)
  imaginary = Add (a_sin, b_cos)
)";
  text += interleaved ? R"(  inner = Constant <value_ints: ints = [4]> ()
  real_column = Unsqueeze (real, inner)
  imaginary_column = Unsqueeze (imaginary, inner)
  pairs = Concat <axis: int = 4> (real_column, imaginary_column)
  rotated_shape = Shape (rotated)
  turned = Reshape (pairs, rotated_shape)
)"
                      : "  turned = Concat <axis: int = 3> (real, imaginary)\n";
  text += turned > 0 ? "  whole = Concat <axis: int = 3> (turned, rest)\n" : "  whole = Identity (turned)\n";
  text += heads > 0 ? "  shape = Shape (X)\n  Y = Reshape (whole, shape)\n}"
                    : "  Y = Transpose <perm: ints = [0, 2, 1, 3]> (whole)\n}";
  return text;
}

}  // namespace

std::span<const OpDef> rotary_embedding_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .type = "RotaryEmbedding",
       .since_version = 23,
       .inputs = {{"X", kFloatTypes, "T"},
                  {"cos_cache", kFloatTypes, "T"},
                  {"sin_cache", kFloatTypes, "T"},
                  {.name = "position_ids", .types = {TensorType::kInt64}, .count = FormalCount::kOptional}},
       .outputs = {{"Y", kFloatTypes, "T"}},
       .attributes = {{"interleaved", AttrKind::kInt},
                      {"num_heads", AttrKind::kInt},
                      {"rotary_embedding_dim", AttrKind::kInt}},
       .body = Body},
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
