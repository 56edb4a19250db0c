// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "passes/test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// In graphs where x, a, b are uint8 with scale s and zero point z, the bytes of y are those after the pass.
constexpr const char* kBytes = R"(g (uint8[N,2] a, uint8[N,2] b) => (uint8 y)
    <float s = {0.5}, uint8 z = {3}, uint8 least = {0}, int8[2,2] w = {1, 2, 3, 4}, float[2] ws = {0.5, 0.25},
     int8[2] wz = {0, 0}, int32[2] c = {5, 6}, float[2] cs = {0.25, 0.125}, float other = {0.75}> {)";
std::string AfterQuantized(int64_t count, const std::string& nodes) {
  std::string text = After(FuseQuantized, count, kBytes + nodes + "}");
  text = text.substr(text.find("\n{\n") + 3);
  return text.substr(0, text.rfind("}"));
}
constexpr const char* kFloats = "fa = DequantizeLinear(a, s, z) fb = DequantizeLinear(b, s, z) ";

TEST(FuseQuantized, ProductsBecomeThoseOfBytes) {
  EXPECT_EQ(AfterQuantized(1, std::string(kFloats) + R"(
      fw = DequantizeLinear <axis = 1> (w, ws, wz)
      [mm] p = MatMul(fa, fw)
      r = Relu(p)
      [q] y = QuantizeLinear(r, s, least)
      n = Abs(fw))"),
            "  fb = DequantizeLinear(b, s, z)\n"
            "  fw = DequantizeLinear(w, ws, wz) <axis: int = 1>\n"
            "  [mm] y = QLinearMatMul(a, s, z, w, ws, wz, s, least)\n"
            "  n = Abs(fw)\n");
  EXPECT_EQ(AfterQuantized(1, std::string(kFloats) + R"(
      fw = DequantizeLinear <axis = 0> (w, ws)
      fc = DequantizeLinear <axis = 0> (c, cs)
      p = Gemm <transB = 1> (fa, fw, fc)
      y = QuantizeLinear(p, s, z))"),
            "  fb = DequantizeLinear(b, s, z)\n"
            "  y = com.microsoft.QGemm(a, s, z, w, ws, w_zero_point__1, c, s, z) <transB: int = 1>\n");
  EXPECT_EQ(AfterQuantized(1, std::string(kFloats) + "t = Add(fa, fb) y = QuantizeLinear(t, other, z)"),
            "  y = com.microsoft.QLinearAdd(a, s, z, b, s, z, other, z)\n");
  EXPECT_EQ(AfterQuantized(1, std::string(kFloats) + "t = Mul(fa, fb) y = QuantizeLinear(t, other, least)"),
            "  y = com.microsoft.QLinearMul(a, s, z, b, s, z, other, least)\n");
  EXPECT_EQ(
      After(FuseQuantized, 1,
            R"(g (int8[N,2,T] x) => (int8 y) <float s = {0.5}, int8 z = {-128}, int8[3,2,1] w = {1, 2, 3, 4, 5, 6},
              float ws = {0.25}, int32[3] b = {1, 2, 3}, float bs = {0.125}> {
              fx = DequantizeLinear(x, s, z)
              fw = DequantizeLinear(w, ws)
              fb = DequantizeLinear(b, bs)
              c = Conv <strides = [2]> (fx, fw, fb)
              r = Relu(c)
              y = QuantizeLinear(r, s, z)
            })"),
      Text(R"(g (int8[N,2,T] x) => (int8 y) <float s = {0.5}, int8 z = {-128}, int8[3,2,1] w = {1, 2, 3, 4, 5, 6},
              float ws = {0.25}, int32[3] b = {1, 2, 3}, int8 w_zero_point__1 = {0}> {
              y = QLinearConv <strides = [2]> (x, s, z, w, ws, w_zero_point__1, s, z, b)
            })"));
}

TEST(FuseQuantized, MovesBytesOfTheSameScale) {
  EXPECT_EQ(AfterQuantized(1, std::string(kFloats) + "t = Transpose <perm = [1, 0]> (fa) y = QuantizeLinear(t, s, z)"),
            "  fb = DequantizeLinear(b, s, z)\n  y = Transpose(a) <perm: ints = [1, 0]>\n");
  EXPECT_EQ(AfterQuantized(1, std::string(kFloats) + "t = Concat <axis = 0> (fa, fb) y = QuantizeLinear(t, s, z)"),
            "  y = Concat(a, b) <axis: int = 0>\n");
}

TEST(FuseQuantized, LeavesTheRest) {
  // Another scale or zero point, a Relu that does something, a bias of other steps, an axis that is no column's, a
  // factor that is fed, floats that are used elsewhere.
  for (const char* nodes : {
           "t = Transpose(fa) y = QuantizeLinear(t, other, z)",
           "t = Transpose(fa) y = QuantizeLinear(t, s, least)",
           "t = Add(fa, fb) r = Relu(t) y = QuantizeLinear(r, s, z)",
           "fw = DequantizeLinear(w, ws) fc = DequantizeLinear(c, ws) p = Gemm(fa, fw, fc) y = QuantizeLinear(p, s, z)",
           "fw = DequantizeLinear <axis = 0> (w, ws) p = MatMul(fa, fw) y = QuantizeLinear(p, s, z)",
           "p = MatMul(fa, fb) y = QuantizeLinear(p, s, z)",
           "t = Add(fa, fb) u = Abs(t) v = Neg(t) x = Add(u, v) y = QuantizeLinear(u, s, z)",
       }) {
    const std::string graph = std::string(kBytes) + kFloats + nodes + "}";
    EXPECT_EQ(After(FuseQuantized, 0, graph), Text(graph));
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
