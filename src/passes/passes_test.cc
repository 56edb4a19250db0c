// SPDX-License-Identifier: Apache-2.0
// Each pass on graphs in ONNX text: what is left, and what is not to be touched.
#include <gtest/gtest.h>

#include "passes/test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

TEST(FoldConstants, KeepsWhatNodesOfConstantsGive) {
  EXPECT_EQ(After(FoldConstants, 3, R"(g (float[N] x) => (float[N] y) <float[2] a = {1, 2}> {
              two = Constant <value = float {2}> ()
              b = Mul(a, two)
              n = Neg(b)
              y = Add(x, n)
            })"),
            Text(R"(g (float[N] x) => (float[N] y) <float[2] n = {-2, -4}> { y = Add(x, n) })"));
}

TEST(FoldConstants, LeavesInputsOutputsRandomAndLargeOnesAlone) {
  const std::string graph =
      R"(g (float[2] a) => (float[2] y, float[2] r, float[M] big) <float[2] a = {1, 2}, float[2] c = {1, 2}, int64[1] n = {100000}> {
    y = Neg(a)
    r = Neg(c)
    u = RandomNormal <shape = [2]> ()
    v = RandomNormalLike(c)
    filled = ConstantOfShape(n)
    big = Neg(filled)
  })";
  EXPECT_EQ(After(FoldConstants, 0, graph), Text(graph));
}

TEST(FoldConstants, LeavesWhatFailsToFail) {
  const std::string graph = R"(g (float[3] x) => (float[3] y) <float[2] a = {1, 2}, float[3] b = {1, 2, 3}> {
    c = Add(a, b)
    y = Add(x, c)
  })";
  EXPECT_EQ(After(FoldConstants, 0, graph), Text(graph));
}

TEST(RemoveNoOps, PassesInputsOn) {
  EXPECT_EQ(After(RemoveNoOps, 7,
                  R"(g (float[N,3] x) => (float[N,3] y) <int64[1] zero = {0}, int64[1] end = {9223372036854775807}> {
              a = Identity(x)
              b = Dropout(a)
              c = Cast <to = 1> (b)
              d = Slice(c, zero, end)
              e = Concat <axis = 1> (d)
              f = Sum(e)
              h = Transpose <perm = [0, 1]> (f)
              y = Neg(h)
            })"),
            Text(R"(g (float[N,3] x) => (float[N,3] y) { y = Neg(x) })"));
}

TEST(RemoveNoOps, KeepsNamesOfOutputsAndOfWhatBodiesUse) {
  EXPECT_EQ(After(RemoveNoOps, 1, R"(g (float[N] x, bool c) => (float[N] y, float[N] z, float[N] w) {
              a = Neg(x)
              y = Identity(a)
              b = Identity(x)
              z = If <then_branch = t () => (float[N] r) { r = Neg(b) }, else_branch = e () => (float[N] r) { r = Abs(b) }> (c)
              w = Identity(x)
            })"),
            Text(R"(g (float[N] x, bool c) => (float[N] y, float[N] z, float[N] w) {
              y = Neg(x)
              b = Identity(x)
              z = If <then_branch = t () => (float[N] r) { r = Neg(b) }, else_branch = e () => (float[N] r) { r = Abs(b) }> (c)
              w = Identity(x)
            })"));
}

TEST(RemoveNoOps, KeepsWhatDoesSomething) {
  const std::string graph =
      R"(g (float[N,3] x) => (float[N,3] y) <int64[1] zero = {0}, int64[1] two = {2}, int64[1] axis = {1}> {
    a = Cast <to = 11> (x)
    b = Cast <to = 1> (a)
    c = Slice(b, zero, two, axis)
    d, mask = Dropout(c)
    m = Cast <to = 1> (mask)
    y = Add(d, m)
  })";
  EXPECT_EQ(After(RemoveNoOps, 0, graph), Text(graph));
}

TEST(RemoveNoOps, MergesTransposesAndReshapes) {
  EXPECT_EQ(
      After(
          RemoveNoOps, 4,
          R"(g (float[2,3,4] x) => (float[2,3,4] y, float[4,2,3] z, float[6,4] w) <int64[2] s = {-1, 4}, int64[3] t = {3, 2, 4}> {
              a = Transpose <perm = [2, 0, 1]> (x)
              b = Transpose <perm = [1, 2, 0]> (a)
              y = Neg(b)
              c = Transpose <perm = [1, 0, 2]> (x)
              z = Transpose <perm = [2, 1, 0]> (c)
              r = Reshape(x, t)
              w = Reshape(r, s)
            })"),
      Text(
          R"(g (float[2,3,4] x) => (float[2,3,4] y, float[4,2,3] z, float[6,4] w) <int64[2] s = {-1, 4}, int64[3] t = {3, 2, 4}> {
              a = Transpose <perm = [2, 0, 1]> (x)
              y = Neg(x)
              c = Transpose <perm = [1, 0, 2]> (x)
              z = Transpose <perm = [2, 0, 1]> (x)
              r = Reshape(x, t)
              w = Reshape(x, s)
            })"));
}

TEST(MergeEqual, LeavesTheFirst) {
  EXPECT_EQ(After(MergeEqual, 2, R"(g (float[N] x) => (float[N] y) {
              a = Elu <alpha = 2.0> (x)
              b = Elu <alpha = 2.0> (x)
              c = Elu <alpha = 3.0> (x)
              d = Add(a, c)
              e = Add(b, c)
              y = Mul(d, e)
            })"),
            Text(R"(g (float[N] x) => (float[N] y) {
              a = Elu <alpha = 2.0> (x)
              c = Elu <alpha = 3.0> (x)
              d = Add(a, c)
              y = Mul(d, d)
            })"));
  const std::string random =
      "g (float[N] x) => (float[N] y) { a = RandomNormalLike(x) b = RandomNormalLike(x) y = Add(a, b) }";
  EXPECT_EQ(After(MergeEqual, 0, random), Text(random));
}

TEST(FoldBatchNormalization, GoesIntoWeights) {
  EXPECT_EQ(After(FoldBatchNormalization, 1, R"(g (float[1,1,2] x) => (float[1,2,2] y)
              <float[2,1,1] w = {1, 2}, float[2] s = {2, 4}, float[2] b = {1, 1}, float[2] m = {0, 3}, float[2] v = {4, 1}> {
              c = Conv(x, w)
              y = BatchNormalization <epsilon = 0.0> (c, s, b, m, v)
            })"),
            Text(R"(g (float[1,1,2] x) => (float[1,2,2] y) <float[2,1,1] w__1 = {1, 8}, float[2] y__2 = {1, -11}> {
              y = Conv(x, w__1, y__2)
            })"));
  const std::string shared = R"(g (float[1,1,2] x) => (float[1,2,2] y, float[1,2,2] z)
      <float[2,1,1] w = {1, 2}, float[2] s = {2, 4}> {
      c = Conv(x, w)
      y = BatchNormalization(c, s, s, s, s)
      z = Neg(c)
    })";
  EXPECT_EQ(After(FoldBatchNormalization, 0, shared), Text(shared));
}

TEST(FuseConvBias, TakesTheAdd) {
  EXPECT_EQ(After(FuseConvBias, 1,
                  R"(g (float[1,1,2] x) => (float[1,2,2] y) <float[2,1,1] w = {1, 2}, float[2,1] b = {5, 6}> {
              c = Conv(x, w)
              y = Add(b, c)
            })"),
            Text(R"(g (float[1,1,2] x) => (float[1,2,2] y) <float[2,1,1] w = {1, 2}, float[2] b__1 = {5, 6}> {
              y = Conv(x, w, b__1)
            })"));
  // Along another axis, and for each batch.
  for (const char* b : {"float[2] b = {5, 6}", "float[1,2,2] b = {5, 6, 7, 8}", "float[1,1,1,1] b = {5}"}) {
    const std::string graph = std::string("g (float[1,1,2] x) => (float y) <float[2,1,1] w = {1, 2}, ") + b +
                              "> { c = Conv(x, w) y = Add(c, b) }";
    EXPECT_EQ(After(FuseConvBias, 0, graph), Text(graph));
  }
}

TEST(FuseAfterConv, TakesAnActivationAndAPool) {
  EXPECT_EQ(After(FuseAfterConv, 1, R"(g (float[N,1,T,9] x, float[1] b) => (float y) <float[1,1,1,2] w = {1, 2}> {
              [conv] c = Conv <pads = [0, 1, 0, 0]> (x, w, b)
              a = LeakyRelu <alpha = 0.5> (c)
              y = MaxPool <kernel_shape = [1, 4], strides = [2, 4]> (a)
            })"),
            Text(R"(g (float[N,1,T,9] x, float[1] b) => (float y) <float[1,1,1,2] w = {1, 2}> {
              [conv] y = onnxseq.internal.Conv <pads: ints = [0, 1, 0, 0], activation: string = "LeakyRelu",
                alpha: float = 0.5, pool_kernel: ints = [1, 4], pool_strides: ints = [2, 4]> (x, w, b)
            })"));
  EXPECT_EQ(After(FuseAfterConv, 1, R"(g (float[1,1,8] x) => (float y) <float[1,1,2] w = {1, 2}> {
              c = Conv (x, w)
              p = MaxPool <kernel_shape = [2], strides = [2]> (c)
              y = Relu (p)
            })"),
            Text(R"(g (float[1,1,8] x) => (float y) <float[1,1,2] w = {1, 2}> {
              p = onnxseq.internal.Conv <pool_kernel: ints = [2], pool_strides: ints = [2]> (x, w)
              y = Relu (p)
            })"));
}

TEST(FuseAfterConv, LeavesWhatItCannotDo) {
  const std::string conv = "g (float[1,1,T] x) => (float y) <float[1,1,2] w = {1, 2}> { c = Conv(x, w) ";
  const std::string known = "g (float[1,1,8] x) => (float y) <float[1,1,2] w = {1, 2}> { c = Conv(x, w) ";
  // Another function, used twice, weights that are fed; pools of unknown lengths, padded, overlapping, rounded up,
  // with places.
  for (const std::string& graph : {
           conv + "y = Exp(c) }",
           conv + "a = Relu(c) y = Add(a, c) }",
           std::string("g (float[1,1,T] x, float[1,1,2] w) => (float y) { c = Conv(x, w) y = Relu(c) }"),
           conv + "y = MaxPool <kernel_shape = [2], strides = [2]> (c) }",
           known + "y = MaxPool <kernel_shape = [2], strides = [2], pads = [1, 0]> (c) }",
           known + "y = MaxPool <kernel_shape = [2]> (c) }",
           known + "y = MaxPool <kernel_shape = [2], strides = [2], ceil_mode = 1> (c) }",
           known + "p, i = MaxPool <kernel_shape = [2], strides = [2]> (c) y = Cast <to = 1> (i) }",
       })
    EXPECT_EQ(After(FuseAfterConv, 0, graph), Text(graph));
}

TEST(RemoveDead, KeepsRandomAndUnknown) {
  EXPECT_EQ(After(RemoveDead, 2, R"(g (float[N] x) => (float[N] y) {
              a = Neg(x)
              b = Abs(a)
              r = RandomNormalLike(x)
              u = other.Thing(x)
              y = Exp(x)
            })"),
            Text("g (float[N] x) => (float[N] y) { r = RandomNormalLike(x) u = other.Thing(x) y = Exp(x) }"));
}

TEST(FuseElementwise, MakesOneNodeOfAChain) {
  EXPECT_EQ(After(FuseElementwise, 1, R"(g (float[N,3] x, float[3] b) => (float[N,3] y) {
              s = Add(x, b)
              r = Relu(s)
              y = Mul(r, x)
            })"),
            Text(R"(g (float[N,3] x, float[3] b) => (float[N,3] y) {
              y = onnxseq.internal.FusedElementwise <steps: graph = steps (x, b) => (y) {
                s = Add(x, b)
                r = Relu(s)
                y = Mul(r, x)
              }, opset: int = 17> (x, b)
            })"));
}

TEST(FuseElementwise, LeavesWhatIsSmall) {
  const std::string small = "g (float[5,3] x) => (float[5,3] y) { a = Neg(x) y = Abs(a) }";
  EXPECT_EQ(After(FuseElementwise, 0, small, 16), Text(small));
  EXPECT_EQ(After(FuseElementwise, 1, "g (float[N,3] x) => (float[N,3] y) { a = Neg(x) y = Abs(a) }", 16),
            Text(R"(g (float[N,3] x) => (float[N,3] y) {
              y = onnxseq.internal.FusedElementwise <steps: graph = steps (x) => (y) { a = Neg(x) y = Abs(a) },
                opset: int = 17, together_from: int = 16> (x)
            })"));
}

TEST(FuseElementwise, LeavesOtherShapesTypesAndUses) {
  // Broadcast only later, whole numbers, used elsewhere, an output, read whole.
  for (const char* graph : {
           "g (float[N,1] x, float[N,3] z) => (float[N,3] y) { a = Neg(x) y = Add(a, z) }",
           "g (int64[N] x) => (int64[N] y) { a = Neg(x) y = Abs(a) }",
           "g (float[N] x) => (float[N] y, float s) { a = Neg(x) y = Abs(a) s = ReduceSum <keepdims = 0> (a) }",
           "g (float[N] x) => (float[N] y, float[N] a) { a = Neg(x) y = Abs(a) }",
           "g (float x) => (float y) { a = Neg(x) y = Clip(x, a) }",
       })
    EXPECT_EQ(After(FuseElementwise, 0, graph), Text(graph));
}

// What becomes of a graph with SequenceMaps, "left as it is" included.
std::string Batched(const std::string& graph, const std::vector<std::string>& notes) {
  ModelProto model = Model(graph);
  const ModelProto before = model;
  OptimizeReport report = BatchAllSequenceMaps(model, Inferred(before));
  EXPECT_EQ(report.notes, notes) << graph;
  OptimizeGraphs(model, Inferred(ModelProto(model)), {.standard_only = true});
  return PrintGraphText(model.graph());
}

TEST(BatchSequenceMaps, StacksElementsOfOneShape) {
  EXPECT_EQ(Batched(R"(g (seq(float[3]) xs, float[3] b) => (seq(float) ys) {
              [add] ys = SequenceMap <body = s (float[3] e, float[3] c) => (float[3] r) { r = Add(e, c) }> (xs, b)
            })",
                    {"SequenceMap node \"add\": stacked, 1 node for all elements, in an If for when there are none"}),
            Text(R"(g (seq(float[3]) xs, float[3] b) => (seq(float) ys) <int64[1] ints__3__2 = {0}> {
              SequenceLength__2__3 = SequenceLength(xs)
              Unsqueeze__4__4 = Unsqueeze(SequenceLength__2__3, ints__3__2)
              is_empty__1 = Equal(Unsqueeze__4__4, ints__3__2)
              [add] ys = If <then_branch = no_elements () => (SequenceEmpty__1__5) {
                SequenceEmpty__1__5 = SequenceEmpty <dtype = 1> ()
              }, else_branch = all_elements () => (ys) {
                e__1__6 = ConcatFromSequence <axis = 0, new_axis = 1> (xs)
                r__3__7 = Add(e__1__6, b)
                ys = SplitToSequence <axis = 0, keepdims = 0> (r__3__7)
              }> (is_empty__1)
            })"));
}

TEST(BatchSequenceMaps, NeedsNoSequenceBetweenSplitAndConcat) {
  EXPECT_EQ(Batched(R"(g (float[N,4] x, int64[K] sizes) => (float[M,4] y, float[M,4] z) {
              xs = SplitToSequence <axis = 0> (x, sizes)
              ys, zs = SequenceMap <body = s (float[L,4] e) => (float[L,4] r, float[L,4] q) { r = Abs(e) q = Neg(r) }> (xs)
              y = ConcatFromSequence <axis = 0> (ys)
              z = ConcatFromSequence <axis = -2> (zs)
            })",
                    {"SequenceMap node of \"ys\": packed along axis 0, 2 nodes for all elements"}),
            Text(R"(g (float[N,4] x, int64[K] sizes) => (float[M,4] y, float[M,4] z) {
              y = Abs(x)
              z = Neg(y)
            })"));
  // Along another axis the elements are needed, here of the sizes they were cut to.
  EXPECT_EQ(Batched(R"(g (float[4,N] x, int64[K] sizes) => (float[M,N] y) {
              xs = SplitToSequence <axis = 1> (x, sizes)
              ys = SequenceMap <body = s (float[4,L] e) => (float[4,L] r) { r = Abs(e) }> (xs)
              y = ConcatFromSequence <axis = 0> (ys)
            })",
                    {"SequenceMap node of \"ys\": packed along axis 1, 1 node for all elements"}),
            Text(R"(g (float[4,N] x, int64[K] sizes) => (float[M,N] y) {
              r__4__2 = Abs(x)
              ys = SplitToSequence <axis = 1> (r__4__2, sizes)
              y = ConcatFromSequence <axis = 0> (ys)
            })"));
}

TEST(BatchSequenceMaps, SlicesAndEvenPiecesAreStacked) {
  EXPECT_EQ(Batched(R"(g (float[3,N,4] x) => (float[3,N,4] y) {
              xs = SplitToSequence <axis = 1, keepdims = 0> (x)
              ys = SequenceMap <body = s (float[3,4] e) => (float[3,4] r) { r = Softmax <axis = 0> (e) }> (xs)
              y = ConcatFromSequence <axis = 1, new_axis = 1> (ys)
            })",
                    {"SequenceMap node of \"ys\": stacked, 1 node for all elements"}),
            Text(R"(g (float[3,N,4] x) => (float[3,N,4] y) {
              e__1__1 = Transpose <perm = [1, 0, 2]> (x)
              r__3__2 = Softmax <axis = 1> (e__1__1)
              y = Transpose <perm = [1, 0, 2]> (r__3__2)
            })"));
  EXPECT_EQ(
      Batched(R"(g (float[8,3] x) => (float[8,3] y) <int64 two = {2}> {
              xs = SplitToSequence(x, two)
              ys = SequenceMap <body = s (float[2,3] e) => (float[2,3] r) { r = Softmax <axis = 0> (e) }> (xs)
              y = ConcatFromSequence <axis = 0> (ys)
            })",
              {"SequenceMap node of \"ys\": stacked, 1 node for all elements"}),
      Text(R"(g (float[8,3] x) => (float[8,3] y) <int64[3] ints__2__1 = {-1, 2, 3}, int64[2] ints__5__2 = {-1, 3}> {
              Reshape__3__3 = Reshape(x, ints__2__1)
              r__3__5 = Softmax <axis = 1> (Reshape__3__3)
              y = Reshape(r__3__5, ints__5__2)
            })"));
}

TEST(BatchSequenceMaps, GoesIntoBodies) {
  EXPECT_EQ(Batched(R"(g (int64 n, float[4,3] x) => (float[4,3] y) {
              y = Loop <body = b (int64 i, bool c, float[4,3] v) => (bool d, float[4,3] u) {
                d = Identity(c)
                vs = SplitToSequence <axis = 0, keepdims = 0> (v)
                us = SequenceMap <body = s (float[3] e) => (float[3] r) { t = ReduceSum <keepdims = 0> (x) r = Add(e, t) }> (vs)
                u = ConcatFromSequence <axis = 0, new_axis = 1> (us)
              }> (n, "", x)
            })",
                    {"SequenceMap node of \"us\": stacked, 1 node for all elements"}),
            Text(R"(g (int64 n, float[4,3] x) => (float[4,3] y) {
              y = Loop <body = b (int64 i, bool c, float[4,3] v) => (bool d, float[4,3] u) {
                d = Identity(c)
                t__1 = ReduceSum <keepdims = 0> (x)
                u = Add(v, t__1)
              }> (n, "", x)
            })"));
}

TEST(BatchSequenceMaps, SaysWhyOneStays) {
  const auto stays = [](const std::string& inputs, const std::string& body, const std::string& why,
                        const std::string& map_inputs = "xs") {
    const std::string graph =
        "g (" + inputs + ") => (seq(float) ys) { ys = SequenceMap <body = s " + body + "> (" + map_inputs + ") }";
    EXPECT_EQ(Batched(graph, {"SequenceMap node of \"ys\": left as it is: " + why}), Text(graph));
  };
  stays("seq(float[]) xs", "(float e) => (float r) { r = Neg(e) }",
        "nothing is known of the dims of the elements of \"xs\"");
  stays("seq(float[M,L]) xs", "(float[M,L] e) => (float r) { r = Neg(e) }",
        "the elements of \"xs\" are [M,L]: that is neither one known shape nor open along one axis");
  stays("seq(float[L]) xs", "(float[L] e) => (float r) { r = Neg(e) }", "the lengths of its elements are not at hand");
  stays("seq(float[L]) xs", "(float[L] e) => (float r) { r = Softmax(e) }",
        "that takes SegmentSoftmax, which is no standard operator");
  stays("seq(float[L]) xs, seq(float[3]) zs", "(float[L] e, float[3] f) => (float r) { r = Add(e, f) }",
        "Add: lengths meet other sizes", "xs, zs");
  stays("seq(float[3]) xs", "(float[3] e) => (float[3] r) { q = RandomNormalLike(e) r = Add(q, e) }",
        "RandomNormalLike: it is random");
  stays("seq(float[3]) xs, float[] b", "(float[3] e, float c) => (float r) { r = Add(e, c) }",
        "the rank of \"b\", which its body uses, is not known", "xs, b");
  stays("seq(float[3]) xs", "(float[3] e) => (float r) { r = other.Thing(e) }", "its body has nodes of type Thing");
  stays("seq(float[3]) xs, bool c",
        "(float[3] e) => (float r) { r = If <then_branch = t () => (float[3] a) { a = Neg(e) }, "
        "else_branch = f () => (float[3] b) { b = Abs(e) }> (c) }",
        "If has a body of its own");
  stays("seq(float[0]) xs, seq(float[0]) zs", "(float[0] e, float[0] f) => (float r) { r = Add(e, f) }",
        "its sequences are not known to be equally long", "xs, zs");
}

TEST(FuseProduct, TakesRowAndRelu) {
  EXPECT_EQ(After(FuseProduct, 2,
                  R"(g (float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}, float[2] b = {1, 2}> {
              p = MatMul(x, w)
              [add] s = Add(b, p)
              [relu] r = Relu(s)
              q = Gemm <transB = 1> (r, w, b)
              y = Relu(q)
            })"),
            Text(R"(g (float[N,2] x) => (float[N,2] y) <float[2,2] w = {1, 2, 3, 4}, float[2] b = {1, 2}> {
              ["add+relu"] r = onnxseq.internal.FusedProduct <steps: graph = steps (x, w, b) => (r) {
                p = MatMul(x, w)
                [add] s = Add(b, p)
                [relu] r = Relu(s)
              }, gemm: int = 0, relu: int = 1> (x, w, "", b)
              y = onnxseq.internal.FusedProduct <steps: graph = steps (r, w, b) => (y) {
                q = Gemm <transB = 1> (r, w, b)
                y = Relu(q)
              }, gemm: int = 1, relu: int = 1, transB: int = 1> (r, w, b, "")
            })"));
  // Fed factors, whole numbers, other rows, results used elsewhere, what Gemm does besides.
  for (const char* graph : {
           "g (float[N,2] x, float[2,2] w) => (float[N,2] y) { p = MatMul(x, w) y = Relu(p) }",
           "g (int32[N,2] x) => (int32[N,2] y) <int32[2,2] w = {1, 2, 3, 4}> { p = MatMul(x, w) y = Relu(p) }",
           "g (float[N,2] x) => (float y) <float[2,2] w = {1, 2, 3, 4}, float[1,2] b = {1, 2}> { p = MatMul(x, w) y = "
           "Add(p, b) }",
           "g (float[N,2] x) => (float y) <float[2,2] w = {1, 2, 3, 4}, float[1] b = {1}> { p = MatMul(x, w) y = "
           "Add(p, "
           "b) }",
           "g (float[N,2] x) => (float y) <float[2,2] w = {1, 2, 3, 4}> { p = MatMul(x, w) y = Add(p, p) }",
           "g (float[N,2] x) => (float y, float p) <float[2,2] w = {1, 2, 3, 4}> { p = MatMul(x, w) y = Relu(p) }",
           "g (float[N,2] x) => (float y) <float[2,2] w = {1, 2, 3, 4}> { p = Gemm <alpha = 2.0> (x, w) y = Relu(p) }",
           "g (float[2,N] x) => (float y) <float[2,2] w = {1, 2, 3, 4}> { p = Gemm <transA = 1> (x, w) y = Relu(p) }",
           "g (float[2,2] x) => (float y) <float[2,2] w = {1, 2, 3, 4}> { p = Gemm(x, w, w) y = Relu(p) }",
       })
    EXPECT_EQ(After(FuseProduct, 0, graph), Text(graph));
}

TEST(Optimize, FusesNothingInBodiesThatAreBatchedLater) {
  const std::string graph = R"(g (seq(float[N]) xs) => (seq(float[]) ys) {
    ys = SequenceMap <body = s (float[N] e) => (float[N] r) { n = Neg(e) r = Abs(n) }> (xs)
  })";
  ModelProto model = Model(graph);
  const Inferred types(model);
  OptimizeGraphs(model, types);
  EXPECT_EQ(PrintGraphText(model.graph()), Text(graph));
}

TEST(Optimize, GoesIntoBodies) {
  ModelProto model = Model(R"(g (float[N] x, bool c) => (float[N] y) <float two = {2}> {
    y = If <then_branch = t () => (float[N] r) { four = Mul(two, two) i = Identity(x) r = Mul(i, four) },
            else_branch = e () => (float[N] r) { dead = Neg(x) r = Abs(x) }> (c)
  })");
  const Inferred types(model);
  const OptimizeReport report = OptimizeGraphs(model, types, {.standard_only = true});
  EXPECT_EQ(report.nodes_before, 6);
  EXPECT_EQ(report.nodes_after, 3);
  EXPECT_EQ(PrintGraphText(model.graph()), Text(R"(g (float[N] x, bool c) => (float[N] y) <float two = {2}> {
    y = If <then_branch = t () => (float[N] r) <float four = {4}> { r = Mul(x, four) },
            else_branch = e () => (float[N] r) { r = Abs(x) }> (c)
  })"));
}

TEST(Optimize, StandardModelsImportNothingNew) {
  ModelProto model = Model("g (float[N] x) => (float[N] y) { a = Neg(x) y = Abs(a) }");
  const ModelProto before = model;
  OptimizeGraphs(model, Inferred(before), {.standard_only = true});
  EXPECT_TRUE(model == before);
}

TEST(Optimize, LeavesFunctionsAlone) {
  ModelProto model = Model("g (float[N] x) => (float[N] y) { a = Identity(x) y = Abs(a) }");
  FunctionProto& function = *model.add_functions();
  function.set_name("Identity");
  const ModelProto before = model;
  OptimizeGraphs(model, Inferred(before), {.standard_only = true});
  EXPECT_TRUE(model == before);
}

TEST(Optimize, OldModelsGetInitializersThatAreNoInputs) {
  ModelProto model = ParseModelText(R"(<ir_version: 3, opset_import: ["" : 8]>
    g (float[N] x) => (float[N] y) { two = Constant <value = float {2}> () y = Mul(x, two) })");
  const ModelProto before = model;
  OptimizeGraphs(model, Inferred(before), {.standard_only = true});
  EXPECT_EQ(model.ir_version(), 4);
  EXPECT_EQ(model.graph().node_size(), 1);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
