// SPDX-License-Identifier: Apache-2.0
// What inference says of loops beyond their outputs. The rest is in loop.test.
#include <gmock/gmock.h>

#include <string>

#include "onnx_optim/shapes/shape_inference.h"
#include "onnxseq/shapes.h"
#include "ops/test_support.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::IsEmpty;

TEST(LoopShapes, ScanOutputThatWouldVaryIsAWarning) {
  const InferredShapes shapes = InferShapes(ParseModelText(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (int64 m, float[N] x, float[1] one) => (float[K] y, float[M, K] s) {
      [l0] y, s = Loop <body = b (int64 i, bool c, float[k] v) => (bool c, float[l] w, float[k] v) {
        w = Concat <axis = 0> (v, one)
      }> (m, "", x)
    })"));
  ASSERT_EQ(shapes.problems.size(), 1u);
  EXPECT_FALSE(shapes.problems[0].is_error);
  EXPECT_EQ(shapes.problems[0].message,
            "Loop node \"l0\", body output 2 (\"v\"): has dim N in iteration 0, N+1 in iteration 1");
}

// The first iteration alone would let the elements of s be [3]; in the second they are not.
TEST(LoopShapes, DirectCallsThrowOnlyWhatHoldsInEveryRun) {
  ShapesContext ctx;
  ctx.SetPrecision(onnx_optim::shapes::Precision::kExact);
  ctx.SetOpsetVersion(17);
  ctx.SetValue("m", ShapeValue::Tensor(TensorType::kInt64, OptimShape()));
  ctx.SetValue("a", ShapeValue::Tensor(TensorType::kFloat, {OptimDim("N")}));
  ctx.SetValue("b", ShapeValue::Tensor(TensorType::kFloat, {OptimDim(3)}));
  onnx_optim::shapes::ComputeShapeNode(ctx, ParseNodeText(R"(
    [l0] y, z = Loop <body = f (int64 i, bool c, float[k] p, float[k] q) => (bool c, float[k] q, float[k] p) { }>
      (m, "", a, b))"));
  EXPECT_TRUE(onnx_optim::IsFresh(ctx.GetValue("y").Shape()[0])) << ctx.GetValue("y").ToString();
  EXPECT_TRUE(onnx_optim::IsFresh(ctx.GetValue("z").Shape()[0])) << ctx.GetValue("z").ToString();
  EXPECT_THAT(ProblemTexts(ctx), IsEmpty());
  EXPECT_EQ(TextOf<std::invalid_argument>([&] {
              onnx_optim::shapes::ComputeShapeNode(ctx, ParseNodeText(R"(
    [l1] w = Loop <body = f (int64 i, bool c, float[k] p) => (bool c, float[k] q) { [t] q = Transpose <perm = [1, 0]> (p) }>
      (m, "", a))"));
            }),
            "Transpose node \"t\", attribute 'perm': [1,0] is no permutation of 1 axes in body 'f' of Loop \"l1\"");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
