// SPDX-License-Identifier: Apache-2.0
// What each layer type becomes, a line for each node; that the numbers are OpenVINO's is tests/peers/ir_values.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "openvino_io/ir_lowering.h"
#include "openvino_io/ir_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

using Inputs = std::function<std::vector<int>(LayerCase&)>;

std::vector<int> A(LayerCase& c) { return {c.a}; }
std::vector<int> AB(LayerCase& c) { return {c.a, c.b}; }
int Float(LayerCase& c, float value, const char* name = "f") { return c.ir.Const<float>("f32", "", {value}, name); }

struct Lowered {
  const char* type;
  const char* opset;
  const char* data;
  Inputs inputs;
  std::vector<std::string> nodes;
  int outputs = 1;
};

void Expect(const std::vector<Lowered>& table) {
  for (const Lowered& row : table) {
    SCOPED_TRACE(std::string(row.type) + " " + row.data);
    LayerCase c;
    try {
      EXPECT_THAT(c.Lower(row.type, row.opset, row.data, row.inputs(c), row.outputs), ElementsAreArray(row.nodes));
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

// Every entry of the table that names an operator is that operator over its inputs.
TEST(IrLayers, TypesThatNameAnOperatorBecomeIt) {
  int direct = 0;
  for (const IrLayerDef& def : IrLayerDefs()) {
    const bool reduction = def.type.starts_with("Reduce");
    if (def.onnx.empty() || reduction || def.type == "Divide" || def.type.find("oft") != std::string_view::npos)
      continue;
    ++direct;
    LayerCase c;
    const std::vector<int> inputs = def.min_inputs == 1 ? A(c) : AB(c);
    EXPECT_THAT(c.Lower(def.type, "opset16", "", inputs),
                ElementsAre(fmt::format("l = {}({})", def.onnx, def.min_inputs == 1 ? "a" : "a, b")));
  }
  EXPECT_GT(direct, 40);
}

TEST(IrLayers, Arithmetic) {
  const Inputs nn = [](LayerCase& c) { return std::vector{c.n, c.n}; };
  Expect({
      {"Divide",
       "opset1",
       "",
       nn,
       {"l/mod = Mod(n, n)", "l/remainder = Mod(n, n) fmod=1", "l/equal = Equal(l/mod, l/remainder)",
        "l/div = Div(n, n)", "l/not = Not(l/equal)", "l/cast = Cast(l/not) to=6", "l = Sub(l/div, l/cast)"}},
      {"Mod", "opset1", "", AB, {"l = Mod(a, b) fmod=1"}},
      {"FloorMod", "opset1", "", nn, {"l = Mod(n, n)"}},
      {"SquaredDifference", "opset1", "", AB, {"l/sub = Sub(a, b)", "l = Mul(l/sub, l/sub)"}},
      {"NotEqual", "opset1", "", AB, {"l/equal = Equal(a, b)", "l = Not(l/equal)"}},
      {"ConvertLike", "opset8", "", AB, {"l = CastLike(a, b)"}},
      {"Round", "opset5", "mode=\"half_to_even\"", A, {"l = Round(a)"}},
      {"IsInf", "opset10", "detect_negative=\"false\"", A, {"l = IsInf(a) detect_negative=0 detect_positive=1"}},
      {"IsFinite",
       "opset10",
       "",
       A,
       {"l/isnan = IsNaN(a)", "l/isinf = IsInf(a)", "l/or = Or(l/isnan, l/isinf)", "l = Not(l/or)"}},
      {"Select", "opset1", "", [](LayerCase& c) { return std::vector{c.n, c.a, c.b}; }, {"l = Where(n, a, b)"}},
  });
}

TEST(IrLayers, Activations) {
  Expect({
      {"Elu", "opset1", "alpha=\"0.5\"", A, {"l = Elu(a) alpha=0.5"}},
      {"Clamp", "opset1", "min=\"-0.5\" max=\"1\"", A, {"l = Clip(a, min, max)"}},
      {"Gelu", "opset7", "approximation_mode=\"TANH\"", A, {"l = Gelu(a) approximate=tanh"}},
      {"Gelu", "opset2", "", A, {"l = Gelu(a) approximate=none"}},
      {"HSigmoid", "opset5", "", A, {"l = HardSigmoid(a) alpha=0.16666667 beta=0.5"}},
      {"Swish", "opset4", "", A, {"l/sigmoid = Sigmoid(a)", "l = Mul(a, l/sigmoid)"}},
      {"SoftMax", "opset8", "axis=\"-1\"", A, {"l = Softmax(a) axis=-1"}},
      {"LogSoftmax", "opset5", "", A, {"l = LogSoftmax(a) axis=1"}},
      {"HardSigmoid",
       "opset1",
       "",
       [](LayerCase& c) { return std::vector{c.a, Float(c, 0.25F), Float(c, 0.5F)}; },
       {"l = HardSigmoid(a) alpha=0.25 beta=0.5"}},
      {"Selu",
       "opset1",
       "",
       [](LayerCase& c) { return std::vector{c.a, Float(c, 1.5F), Float(c, 2)}; },
       {"l = Selu(a) alpha=1.5 gamma=2"}},
      {"PReLU",
       "opset1",
       "",
       [](LayerCase& c) { return std::vector{c.a, c.ir.Const<float>("f32", "3", {1, 2, 3}, "s")}; },
       {"l = PRelu(a, s)"}},
      // Not as many as channels.
      {"PReLU",
       "opset1",
       "",
       [](LayerCase& c) {
         return std::vector{c.ir.Const<float>("f32", "1,2,3", {1, 2, 3, 4, 5, 6}, "x"),
                            c.ir.Const<float>("f32", "3", {1, 2, 3}, "s")};
       },
       {"l = PRelu(x, s)"}},
  });
}

TEST(IrLayers, ReductionsAndNormalizations) {
  const Inputs one = [](LayerCase& c) { return std::vector{c.a, c.ir.Ints({1}, "axes")}; };
  Expect({
      {"ReduceSum", "opset1", "keep_dims=\"true\"", one, {"l = ReduceSum(a, axes) keepdims=1"}},
      {"ReduceLogicalAnd", "opset1", "", one, {"l = ReduceMin(a, axes) keepdims=0"}},
      {"ReduceMax",
       "opset1",
       "",
       [](LayerCase& c) { return std::vector{c.a, c.n}; },
       {"l/int64 = Cast(n) to=7", "l = ReduceMax(a, l/int64) keepdims=0 noop_with_empty_axes=1"}},
      {"MVN",
       "opset6",
       "eps=\"0.5\" eps_mode=\"inside_sqrt\" normalize_variance=\"false\"",
       one,
       {"l/reduced = ReduceMean(a, axes) noop_with_empty_axes=1", "l = Sub(a, l/reduced)"}},
      {"NormalizeL2",
       "opset1",
       "eps=\"0.5\" eps_mode=\"max\"",
       one,
       {"l/mul = Mul(a, a)", "l/reduced = ReduceSum(l/mul, axes) noop_with_empty_axes=1", "l/max = Max(l/reduced, eps)",
        "l/sqrt = Sqrt(l/max)", "l = Div(a, l/sqrt)"}},
      {"LRN",
       "opset1",
       "alpha=\"0.5\" beta=\"0.25\" bias=\"1\" size=\"3\"",
       one,
       {"l = LRN(a) alpha=0.5 beta=0.25 bias=1 size=3"}},
      {"BatchNormInference",
       "opset5",
       "epsilon=\"0.5\"",
       [](LayerCase& c) { return std::vector{c.a, c.b, c.b, c.b, c.b}; },
       {"l = BatchNormalization(a, b, b, b, b) epsilon=0.5"}},
      {"BatchNormInference",
       "opset1",
       "epsilon=\"0.5\"",
       [](LayerCase& c) { return std::vector{c.b, c.b, c.a, c.b, c.b}; },
       {"l = BatchNormalization(a, b, b, b, b) epsilon=0.5"}},
  });
}

TEST(IrLayers, Windows) {
  const std::string window = "strides=\"2,1\" pads_begin=\"1,0\" pads_end=\"0,1\" ";
  const std::string conv = window + "dilations=\"1,2\" auto_pad=\"explicit\"";
  const std::string pool = window + "kernel=\"3,2\" exclude-pad=\"true\"";
  const Inputs grouped = [](LayerCase& c) {
    return std::vector{c.a, c.ir.Const<float>("f32", "2, 1, 1, 3", {1, 2, 3, 4, 5, 6}, "w")};
  };
  Expect({
      {"Convolution", "opset1", conv.c_str(), AB, {"l = Conv(a, b) pads=[1, 0, 0, 1] strides=[2, 1] dilations=[1, 2]"}},
      {"Convolution", "opset1", "auto_pad=\"same_upper\"", AB, {"l = Conv(a, b) auto_pad=SAME_UPPER"}},
      {"GroupConvolution", "opset1", "", grouped, {"l/reshape = Reshape(w, shape)", "l = Conv(a, l/reshape) group=2"}},
      {"ConvolutionBackpropData",
       "opset1",
       "output_padding=\"1,1\"",
       AB,
       {"l = ConvTranspose(a, b) output_padding=[1, 1]"}},
      {"MaxPool", "opset1", pool.c_str(), A, {"l = MaxPool(a) kernel_shape=[3, 2] pads=[1, 0, 0, 1] strides=[2, 1]"}},
      {"MaxPool",
       "opset8",
       "kernel=\"2,2\" index_element_type=\"i32\"",
       A,
       {"l.0, l/int64 = MaxPool(a) kernel_shape=[2, 2]", "l.1 = Cast(l/int64) to=6"},
       2},
      {"MaxPool",
       "opset8",
       "kernel=\"2,2\" axis=\"2\"",
       A,
       {"l.0, l/place = MaxPool(a) kernel_shape=[2, 2]", "l/shape = Shape(a)", "l/slice = Slice(l/shape, from, to)",
        "l/reduceprod = ReduceProd(l/slice)", "l.1 = Mod(l/place, l/reduceprod)"},
       2},
      {"AvgPool",
       "opset1",
       pool.c_str(),
       A,
       {"l = AveragePool(a) kernel_shape=[3, 2] pads=[1, 0, 0, 1] strides=[2, 1]"}},
      // Same pads leave nothing to round.
      {"AvgPool",
       "opset14",
       "kernel=\"2\" strides=\"2\" auto_pad=\"same_upper\" rounding_type=\"ceil_torch\" exclude-pad=\"false\"",
       A,
       {"l = AveragePool(a) kernel_shape=[2] auto_pad=SAME_UPPER strides=[2] count_include_pad=1"}},
  });
}

TEST(IrLayers, MovingAndMaking) {
  Expect({
      {"Pad",
       "opset1",
       "pad_mode=\"reflect\"",
       [](LayerCase& c) { return std::vector{c.a, c.ir.Ints({0, 1}), c.ir.Ints({1, 0})}; },
       {"l = Pad(a, pads) mode=reflect"}},
      {"Tile",
       "opset1",
       "",
       [](LayerCase& c) { return std::vector{c.a, c.ir.Ints({2}, "t")}; },
       {"l/repeats = Concat(ones, t) axis=0", "l = Tile(a, l/repeats)"}},
      {"CumSum",
       "opset3",
       "exclusive=\"true\"",
       [](LayerCase& c) { return std::vector{c.a, c.n}; },
       {"l = CumSum(a, n) exclusive=1 reverse=0"}},
      {"Reverse",
       "opset1",
       "mode=\"index\"",
       [](LayerCase& c) { return std::vector{c.a, c.ir.Ints({1})}; },
       {"l = Slice(a, starts, ends, axes, steps)"}},
      {"ReverseSequence",
       "opset1",
       "batch_axis=\"1\" seq_axis=\"0\"",
       [](LayerCase& c) { return std::vector{c.a, c.ir.Ints({1, 1, 2}, "n64")}; },
       {"l = ReverseSequence(a, n64) batch_axis=1 time_axis=0"}},
      {"DepthToSpace",
       "opset1",
       "mode=\"depth_first\" block_size=\"2\"",
       A,
       {"l = DepthToSpace(a) blocksize=2 mode=CRD"}},
      {"SpaceToDepth", "opset1", "block_size=\"2\"", A, {"l = SpaceToDepth(a) blocksize=2"}},
      {"Einsum", "opset7", "equation=\"ab,ab->a\"", AB, {"l = Einsum(a, b) equation=ab,ab->a"}},
      {"StridedSlice",
       "opset1",
       "new_axis_mask=\"1,0\" shrink_axis_mask=\"0,1\"",
       [](LayerCase& c) {
         const int zero = c.ir.Ints({0, 1});
         return std::vector{c.a, zero, zero};
       },
       {"l/sliced = Slice(a, starts, ends, axes, steps)", "l/squeezed = Squeeze(l/sliced, axes_1)",
        "l = Unsqueeze(l/squeezed, axes_2)"}},
      {"Interpolate",
       "opset11",
       "mode=\"linear_onnx\" shape_calculation_mode=\"sizes\" coordinate_transformation_mode=\"half_pixel\"",
       [](LayerCase& c) { return std::vector{c.a, c.ir.Ints({4}, "s"), c.ir.Ints({1})}; },
       {"l = Resize(a, , , s) mode=linear coordinate_transformation_mode=half_pixel axes=[1]"}},
  });
}

TEST(IrLayers, Indexing) {
  Expect({
      {"Gather",
       "opset8",
       "batch_dims=\"1\"",
       [](LayerCase& c) { return std::vector{c.a, c.n, c.ir.Ints({1})}; },
       {"l/int64 = Cast(n) to=7", "l/unsqueeze = Unsqueeze(l/int64, axes)",
        "l = GatherND(a, l/unsqueeze) batch_dims=1"}},
      {"Gather",
       "opset8",
       "batch_dims=\"1\"",
       [](LayerCase& c) {
         return std::vector{c.ir.Const<float>("f32", "1,2,3", {1, 2, 3, 4, 5, 6}, "x"), c.n, c.ir.Ints({2})};
       },
       {"l/int64 = Cast(n) to=7", "l/unsqueeze = Unsqueeze(l/int64, axes)",
        "l/transposed = Transpose(x) perm=[0, 2, 1]", "l/gathered = GatherND(l/transposed, l/unsqueeze) batch_dims=1",
        "l = Transpose(l/gathered) perm=[0, 1]"}},
      {"GatherElements",
       "opset6",
       "axis=\"1\"",
       [](LayerCase& c) { return std::vector{c.a, c.n}; },
       {"l = GatherElements(a, n) axis=1"}},
      {"ScatterElementsUpdate",
       "opset12",
       "reduction=\"sum\"",
       [](LayerCase& c) { return std::vector{c.a, c.n, c.b, c.ir.Ints({1})}; },
       {"l = ScatterElements(a, n, b) axis=1 reduction=add"}},
      {"ScatterUpdate",
       "opset3",
       "",
       [](LayerCase& c) { return std::vector{c.a, c.n, c.b, c.ir.Ints({1})}; },
       {"l/int64 = Cast(n) to=7", "l/unsqueeze = Unsqueeze(l/int64, axes)", "l/transposed = Transpose(a) perm=[1, 0]",
        "l/transposed_1 = Transpose(b) perm=[1, 0]",
        "l/scatternd = ScatterND(l/transposed, l/unsqueeze, l/transposed_1)",
        "l = Transpose(l/scatternd) perm=[1, 0]"}},
      {"NonZero", "opset3", "output_type=\"i64\"", A, {"l = NonZero(a)"}},
      {"TopK",
       "opset11",
       "axis=\"1\" mode=\"min\" sort=\"value\" index_element_type=\"i64\"",
       [](LayerCase& c) { return std::vector{c.a, c.ir.Ints({2}, "k")}; },
       {"l.0, l.1 = TopK(a, k) axis=1 largest=0 sorted=1"},
       2},
  });
}

TEST(IrLayers, WhatIsNotExactIsRefused) {
  const auto refused = [](const char* type, const char* data, const Inputs& inputs, int outputs = 1) {
    LayerCase c;
    return IrMessage<Unsupported>([&] { c.Lower(type, "opset8", data, inputs(c), outputs); });
  };
  const Inputs constants = [](LayerCase& c) {
    return std::vector{c.a, c.ir.Ints({1}), c.ir.Ints({1}), c.ir.Ints({1})};
  };
  EXPECT_THAT(refused("AvgPool", "kernel=\"2,2\" rounding_type=\"ceil\" exclude-pad=\"false\"", A),
              HasSubstr("rounding up with exclude-pad \"false\" has no ONNX operator"));
  EXPECT_THAT(refused("MaxPool", "kernel=\"2,2\" strides=\"2,2\" pads_end=\"1,1\" rounding_type=\"ceil\"", A),
              HasSubstr("where a window may begin behind the data has no ONNX operator"));
  EXPECT_THAT(refused("SpaceToDepth", "mode=\"depth_first\"", A),
              HasSubstr("mode \"depth_first\" has no ONNX operator"));
  EXPECT_THAT(refused("GroupConvolution", "", AB),
              HasSubstr("the dims of the weights must be known, at least 4 of them"));
  EXPECT_THAT(refused("Interpolate", "mode=\"cubic\" shape_calculation_mode=\"sizes\" antialias=\"true\"", constants),
              HasSubstr("antialias of mode \"cubic\" has no ONNX operator"));
  EXPECT_THAT(refused("ROIAlign", "mode=\"max\"", [](LayerCase& c) { return std::vector{c.a, c.b, c.n}; }),
              HasSubstr("mode \"max\" has no ONNX operator"));
  EXPECT_THAT(refused("Roll", "", [](LayerCase& c) { return std::vector{c.a, c.n, c.n}; }),
              HasSubstr("input 2 'axes' must be constant integers"));
  EXPECT_THAT(refused("AdaptiveAvgPool", "", [](LayerCase& c) { return std::vector{c.a, c.n}; }),
              HasSubstr("input 1 'output_shape' must be constant integers"));
  EXPECT_THAT(refused("DFT", "", [](LayerCase& c) { return std::vector{c.a, c.n}; }),
              HasSubstr("input 1 'axes' must be constant integers"));
  EXPECT_THAT(refused("DetectionOutput", "", AB), HasSubstr("(DetectionOutput, opset8)"));
}

TEST(IrLayers, WhatContradictsItselfIsNamed) {
  const auto message = [](const char* type, const char* data, const Inputs& inputs, int outputs = 1) {
    LayerCase c;
    const std::string text = IrMessage<ModelParseError>([&] { c.Lower(type, "opset15", data, inputs(c), outputs); });
    return text.substr(std::min(text.find(','), text.size() - 2) + 2);
  };
  const auto with = [](std::vector<std::vector<int64_t>> constants) -> Inputs {
    return [constants](LayerCase& c) {
      std::vector inputs{c.a};
      for (const auto& values : constants) inputs.push_back(c.ir.Ints(values));
      return inputs;
    };
  };
  EXPECT_EQ(message("BatchToSpace", "", with({{1}, {0}, {0}})),
            "layer 6 \"l\" (BatchToSpace), input 1 'block_shape': has 1 elements for an input of rank 2, at least 2");
  EXPECT_EQ(message("SpaceToBatch", "", with({{2, 2}, {0, 0}, {0, 0}})),
            "layer 6 \"l\" (SpaceToBatch), input 1 'block_shape': must begin with 1, got 2");
  EXPECT_EQ(message("BatchToSpace", "", with({{1, 0}, {0, 0}, {0, 0}})),
            "layer 6 \"l\" (BatchToSpace), input 1 'block_shape': must be sizes >= 1, got 0");
  EXPECT_EQ(message("Roll", "", with({{1, 2}, {0}})),
            "layer 5 \"l\" (Roll), input 1 'shift': has 2 elements for 1 axes");
  EXPECT_EQ(message("DFT", "", with({{}})), "layer 4 \"l\" (DFT), input 1 'axes': must name 1 to 64 axes, got 0");
  const std::vector<int64_t> many(65, 0);
  EXPECT_EQ(message("Roll", "", with({{1}, many})),
            "layer 5 \"l\" (Roll), input 2 'axes': has 65 elements, at most 64 are possible");
  EXPECT_EQ(message("Pad", "pad_mode=\"symmetric\"", with({many, many})),
            "layer 5 \"l\" (Pad), input 1 'pads_begin': has 65 elements, at most 64 are possible");
  EXPECT_EQ(message("Interpolate", "mode=\"nearest\" shape_calculation_mode=\"sizes\"", with({{1}, many})),
            "layer 5 \"l\" (Interpolate): has 65 axes, at most 64 are possible");
  EXPECT_EQ(message("IRDFT", "", with({{0, 1}, {3}})),
            "layer 5 \"l\" (IRDFT), input 2 'signal_size': has 1 elements for 2 axes");
  EXPECT_EQ(message("AdaptiveMaxPool", "", with({{0}}), 2),
            "layer 4 \"l\" (AdaptiveMaxPool), input 1 'output_shape': must be sizes of 1 to 2^20, got 0");
  EXPECT_EQ(message("ExtractImagePatches", "sizes=\"2\" strides=\"1,1\" rates=\"1,1\"", A),
            "layer 3 \"l\" (ExtractImagePatches), attribute 'sizes': must be two integers >= 1");
  EXPECT_EQ(message("STFT", "",
                    [](LayerCase& c) {
                      const int cube = c.ir.Const<float>("f32", "1,1,1", {1}), one = c.ir.Ints({1});
                      return std::vector{cube, c.a, one, one};
                    }),
            "layer 5 \"l\" (STFT), input 0 'signal': must have rank 1 or 2, got 3");
  EXPECT_EQ(message("EmbeddingBagPacked", "reduction=\"max\"", with({{1}})),
            "layer 4 \"l\" (EmbeddingBagPacked), attribute 'reduction': must be sum or mean, got \"max\"");
  EXPECT_EQ(message("NonMaxSuppression", "", AB), "layer 3 \"l\" (NonMaxSuppression): must have 3 outputs, got 1");
  EXPECT_EQ(message("FakeConvert", "destination_type=\"f32\"", AB),
            "layer 3 \"l\" (FakeConvert), attribute 'destination_type': must be f8e4m3 or f8e5m2, got \"f32\"");
  EXPECT_EQ(message("Pad", "pad_mode=\"wrap\"", with({{0, 0}, {0, 0}})),
            "layer 5 \"l\" (Pad), attribute 'pad_mode': must be constant, edge, reflect or symmetric, got \"wrap\"");
  EXPECT_EQ(
      message("Interpolate", "mode=\"sinc\" shape_calculation_mode=\"sizes\"", with({{1}})),
      "layer 4 \"l\" (Interpolate), attribute 'mode': must be nearest, linear, linear_onnx, cubic, bilinear_pillow "
      "or bicubic_pillow, got \"sinc\"");
  EXPECT_EQ(message("GridSample", "mode=\"area\"", AB),
            "layer 3 \"l\" (GridSample), attribute 'mode': must be bilinear, bicubic or nearest, got \"area\"");
}

// Random numbers are drawn evenly; a seed, of which ONNX has one, stands for the two of the layer.
TEST(IrLayers, RandomNumbers) {
  const Inputs bounds = [](LayerCase& c) {
    return std::vector{c.ir.Ints({2, 3}, "shape"), Float(c, -1, "low"), Float(c, 1, "high")};
  };
  Expect({
      {"RandomUniform",
       "opset8",
       "output_type=\"f32\" global_seed=\"1\" op_seed=\"2\"",
       bounds,
       {"l/constantofshape = ConstantOfShape(shape)", "l/unit = RandomUniformLike(l/constantofshape) dtype=1 seed=33",
        "l/sub = Sub(high, low)", "l/mul = Mul(l/unit, l/sub)", "l = Add(l/mul, low)"}},
      {"RandomUniform",
       "opset8",
       "output_type=\"i64\"",
       bounds,
       {"l/cast = Cast(low) to=11", "l/cast_1 = Cast(high) to=11", "l/constantofshape = ConstantOfShape(shape)",
        "l/unit = RandomUniformLike(l/constantofshape) dtype=11", "l/sub = Sub(l/cast_1, l/cast)",
        "l/mul = Mul(l/unit, l/sub)", "l/floor = Floor(l/mul)", "l/add = Add(l/floor, l/cast)",
        "l = Cast(l/add) to=7"}},
  });
}

// What is computed counts when the input, empty by default, is empty.
TEST(IrLayers, VariablesWithAComputedFirstValue) {
  LayerCase c;
  const int first = c.ir.Add("ReLU", "opset1", "", {{c.a, 0}}, 1, "first");
  const int value = c.ir.Add("ReadValue", "opset6", "variable_id=\"v\" variable_type=\"f32\" variable_shape=\"?,1..3\"",
                             {{first, 1}}, 1, "read");
  c.ir.Add("Assign", "opset6", "variable_id=\"v\"", {{value, 1}}, 1, "write");
  c.ir.Result(value, 1);
  const ModelProto model = c.ir.Parse();
  EXPECT_THAT(Nodes(model), ElementsAre("first = Relu(a)", "read/size = Size(v)", "read/equal = Equal(read/size, zero)",
                                        "read = If(read/equal) then_branch=? else_branch=?", "v/next = Identity(read)",
                                        "write = Identity(v/next)"));
  EXPECT_EQ(Describe(model.graph().input(3)), "v : 1[v_0,v_1]");
  EXPECT_THAT(Initializers(model), ElementsAre("v : 1[0,0] 0 bytes", "zero : 7[] 0"));
  EXPECT_EQ(Describe(model.graph().node(3).attribute(0).g().node(0)), "read/chosen = Identity(first)");
  EXPECT_EQ(Describe(model.graph().node(3).attribute(1).g().node(0)), "read/chosen_1 = Identity(v)");
}

TEST(IrLayers, AVariableOfOneElementWithAComputedFirstValueIsRefused) {
  LayerCase c;
  const int one = c.ir.Parameter("one", "");
  c.ir.Add("ReadValue", "opset6", "variable_id=\"v\" variable_type=\"f32\" variable_shape=\"\"", {{one, 0}}, 1, "read");
  EXPECT_THAT(IrMessage<Unsupported>([&] { c.ir.Parse(); }),
              HasSubstr("a variable of one element whose first value is not constant is not read"));
}

// Without a first value a variable is zeros; its output stands behind the results, wherever the layers do.
TEST(IrLayers, VariablesWithoutAFirstValue) {
  LayerCase c;
  const int value =
      c.ir.Add("ReadValue", "opset6", "variable_id=\"v\" variable_type=\"f32\" variable_shape=\"1,3\"", {}, 1, "read");
  c.ir.Add("Assign", "opset6", "variable_id=\"v\"", {{value, 0}}, 1, "write");
  c.ir.Result(value, 0);
  const ModelProto model = c.ir.Parse();
  EXPECT_EQ(Describe(model.graph().input(3)), "v : 1[1,3]");
  EXPECT_THAT(Initializers(model), ElementsAre("v : 1[1,3] 12 bytes"));
  EXPECT_EQ(std::string(model.graph().output(0).name()), "read");
  EXPECT_EQ(std::string(model.graph().output(1).name()), "v/next");
}

TEST(IrLayers, VariablesAreInputsAndOutputs) {
  LayerCase c;
  const int first = c.ir.Const<float>("f32", "2", {1, 2}, "first");
  const int value = c.ir.Add("ReadValue", "opset6", "variable_id=\"v\"", {{first, 0}}, 1, "read");
  c.ir.Add("Assign", "opset6", "variable_id=\"v\"", {{value, 1}}, 1, "write");
  c.ir.Result(value, 1);
  const ModelProto model = c.ir.Parse();
  EXPECT_THAT(Nodes(model), ElementsAre("read = Identity(v)", "v/next = Identity(read)", "write = Identity(v/next)"));
  EXPECT_EQ(Describe(model.graph().input(3)), "v : 1[2]");
  EXPECT_THAT(Initializers(model), ElementsAre("v : 1[2] 8 bytes"));
  EXPECT_EQ(model.graph().output_size(), 2);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
