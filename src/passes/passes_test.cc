// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.h"

#include <gmock/gmock.h>

#include "onnx_io/text_parser.h"
#include "onnx_io/text_printer.h"
#include "ops/infer_graph.h"
#include "passes/optimize.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using onnx_optim::OptimShape;
using onnx_optim::shapes::ShapesContext;
using onnx_optim::shapes::ShapeValue;

// What inference says of the main graph, and of bodies under the names of the main graph.
class Inferred : public TypeKnowledge {
 public:
  explicit Inferred(const ModelProto& model) { InferModel(context_, model, &record_); }
  TensorType TypeOf(const GraphProto&, std::string_view value) const override {
    const ShapeValue* known = Find(value);
    return known != nullptr && known->IsTensor() ? known->Dtype() : TensorType::kUndefined;
  }
  OptimShape ShapeOf(const GraphProto&, std::string_view value) const override {
    const ShapeValue* known = Find(value);
    return known != nullptr && known->HasRank() ? known->Shape() : OptimShape::Unknown();
  }
  std::optional<OptimDim> NumberOf(const GraphProto&, std::string_view value) const override {
    const ShapeValue* known = Find(value);
    return known == nullptr ? std::nullopt : known->ScalarValue();
  }
  double ElementsOf(const GraphProto&, std::string_view) const override { return 0; }

 private:
  const ShapeValue* Find(std::string_view value) const {
    const std::string name(value);
    if (const ShapeValue* known = context_.Find(name)) return known;
    for (const BodyRecord& body : record_.bodies)
      if (const auto it = body.values.find(name); it != body.values.end()) return &it->second;
    return nullptr;
  }
  ShapesContext context_;
  InferenceRecord record_;
};

ModelProto Model(const std::string& graph) {
  return ParseModelText("<ir_version: 8, opset_import: [\"\" : 17]>\n" + graph);
}
std::string Text(const std::string& graph) { return PrintGraphText(Model(graph).graph()); }

// The graph after the pass, which is to count `count`.
std::string After(int64_t (*pass)(GraphEdit&), int64_t count, const std::string& graph, int64_t least_fused = 1) {
  ModelProto model = Model(graph);
  const Inferred types(model);
  EditContext context;
  context.types = &types;
  context.least_fused = least_fused;
  context.opsets = {{"", 17}, {"onnxseq.internal", 1}};
  int made = 0;
  context.new_name = [&](std::string_view name) { return std::string(name) + "__" + std::to_string(++made); };
  const Captures captures(model.graph());
  GraphEdit edit(*model.mutable_graph(), captures, nullptr, context);
  EXPECT_EQ(pass(edit), count) << graph;
  edit.Commit();
  return PrintGraphText(model.graph());
}

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
