// SPDX-License-Identifier: Apache-2.0
#include "openvino_io/ir_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "openvino_io/ir_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kDir = ONNXSEQ_TEST_DATA "/ir/";

std::vector<std::string> Infos(const RepeatedMessages<ValueInfoProto>& infos) {
  std::vector<std::string> lines;
  for (const ValueInfoProto& info : infos) lines.push_back(Describe(info));
  return lines;
}
std::map<std::string, std::string> Metadata(const RepeatedMessages<StringStringEntryProto>& entries) {
  std::map<std::string, std::string> metadata;
  for (const StringStringEntryProto& entry : entries) metadata[entry.key()] = entry.value();
  return metadata;
}

TEST(IrReader, LstmSequenceStaysWhatItIs) {
  const ModelProto model = ReadIr(kDir + "lstm_attrs.xml");
  EXPECT_EQ(model.graph().name(), "lstm_seq");
  ASSERT_EQ(model.opset_import_size(), 2);
  EXPECT_EQ(model.opset_import(0).domain(), "");
  EXPECT_EQ(model.opset_import(0).version(), 22);
  EXPECT_EQ(model.opset_import(1).domain(), "org.openvinotoolkit");
  EXPECT_EQ(model.opset_import(1).version(), 1);
  EXPECT_EQ(Metadata(model.metadata_props())["openvino.ir_version"], "11");
  EXPECT_THAT(
      Nodes(model),
      ElementsAre(
          "Y, Ho, Co = org.openvinotoolkit.LSTMSequence(X, H0, C0, lens, Constant_160, Constant_162, Constant_164) "
          "hidden_size=6 direction=forward activations=[relu,tanh,sigmoid] activations_alpha=[0.1, 0.2, 0.3] "
          "activations_beta=[1, 2, 3] clip=3"));
  EXPECT_EQ(model.graph().node(0).name(), "LSTMSequence_165");
  EXPECT_EQ(Metadata(model.graph().node(0).metadata_props())["openvino.version"], "opset5");
  EXPECT_THAT(Infos(model.graph().input()),
              ElementsAre("X : 1[3,5,4]", "H0 : 1[3,1,6]", "C0 : 1[3,1,6]", "lens : 6[3]"));
  EXPECT_THAT(Infos(model.graph().output()), ElementsAre("Y : 1[?,?,?,?]", "Ho : 1[?,?,?]", "Co : 1[?,?,?]"));
  EXPECT_THAT(Initializers(model),
              ElementsAre("Constant_160 : 1[1,24,4] 384 bytes", "Constant_162 : 1[1,24,6] 576 bytes",
                          "Constant_164 : 1[1,24] 96 bytes"));
}

TEST(IrReader, WeightsAreViewsOfTheMappedFile) {
  const ModelProto model = ReadIr(kDir + "lstm_attrs.xml");
  const auto& tensors = model.graph().initializer();
  EXPECT_EQ(tensors[1].raw_data().data(), tensors[0].raw_data().data() + 384);
  EXPECT_EQ(tensors[0].raw_data().owner(), tensors[2].raw_data().owner());
  std::ifstream file(kDir + "lstm_attrs.bin", std::ios::binary);
  std::string bytes(384, '\0');
  file.read(bytes.data(), 384);
  EXPECT_TRUE(tensors[0].raw_data() == bytes);
}

TEST(IrReader, DynamicDimsBecomeSymbolsOfTheInput) {
  const ModelProto model = ReadIr(kDir + "lstm_bidirectional_fp32_dyn_lensparam.xml");
  EXPECT_THAT(Infos(model.graph().input()),
              ElementsAre("X : 1[X_0,X_1,4]", "H0 : 1[H0_0,2,6]", "C0 : 1[C0_0,2,6]", "lens : 6[lens_0]"));
}

TEST(IrReader, LegacyLstmSequenceKeepsItsAttributes) {
  const ModelProto model = ReadIr(kDir + "legacy_opset1_lstmsequence_7in.xml");
  EXPECT_EQ(Metadata(model.metadata_props())["openvino.ir_version"], "10");
  EXPECT_THAT(Nodes(model),
              ElementsAre(HasSubstr("direction=forward activations=[sigmoid,tanh,tanh] clip=0 weights_format=fico")));
  EXPECT_EQ(Metadata(model.graph().node(0).metadata_props())["openvino.version"], "opset1");
}

TEST(IrReader, CompressedWeightsAreCastBack) {
  const ModelProto model = ReadIr(kDir + "lstm_forward_savemodel_fp16.xml");
  EXPECT_THAT(Nodes(model), ElementsAre("Constant_94 = Cast(Constant_94_compressed) to=1",
                                        "Constant_96 = Cast(Constant_96_compressed) to=1",
                                        "Constant_98 = Cast(Constant_98_compressed) to=1", StartsWith("Y, Ho, Co = ")));
}

TEST(IrReader, GlueOfConvertedModelsBecomesOnnxOperators) {
  const ModelProto model = ReadIr(kDir + "onnx_lstm_P.xml");
  EXPECT_THAT(Nodes(model),
              ElementsAre("Transpose_10221 = Transpose(X) perm=[1, 0, 2]", "ShapeOf_12463 = Shape(Transpose_10221)",
                          "Gather_12466 = Gather(ShapeOf_12463, Constant_12464) axis=0",
                          "Concat_10251 = Concat(Gather_12466, Gather_10238, Gather_10241) axis=0",
                          "Broadcast_10253 = Expand(Constant_10252, Concat_10251)",
                          "Gather_10234 = Gather(ShapeOf_12463, Constant_10233) axis=0",
                          "Broadcast_10248 = Expand(Gather_10234, Gather_12466)",
                          HasSubstr("LSTMSequence(Transpose_10221, Broadcast_10253"),
                          "Y_c = Reshape(LSTMSequence_10264.2, Constant_12092)",
                          "Y_h = Reshape(LSTMSequence_10264.1, Constant_12094)",
                          "Y = Transpose(LSTMSequence_10264.0) perm=[2, 1, 0, 3]"));
  EXPECT_THAT(Infos(model.graph().output()), ElementsAre("Y : 1[?,?,?,?]", "Y_h : 1[?,?,?]", "Y_c : 1[?,?,?]"));
  // The order of a Transpose became its attribute.
  for (const std::string& line : Initializers(model)) EXPECT_THAT(line, ::testing::Not(StartsWith("Constant_10220 ")));
}

TEST(IrReader, ShapesOfParameters) {
  IrText ir;
  ir.Parameter("a", "1..8,2..,4");
  ir.Parameter("b.c", "?,-1 , ..3");
  ir.Parameter("b/c", "?");
  ir.Parameter("scalar", "");
  ir.Parameter("any", "...");
  ir.Parameter("same", "4..4");
  const ModelProto model = ir.Parse();
  EXPECT_THAT(Infos(model.graph().input()), ElementsAre("a : 1[a_0,a_1,4]", "b.c : 1[b_c_0,b_c_1,b_c_2]",
                                                        "b/c : 1[b_c_0_1]", "scalar : 1[]", "any : 1", "same : 1[4]"));
  EXPECT_EQ(Metadata(model.graph().input(0).metadata_props())["openvino.shape"], "1..8,2..,4");
  EXPECT_THAT(Metadata(model.graph().input(2).metadata_props()), IsEmpty());
}

TEST(IrReader, NamesAreUniqueAndInputsChooseFirst) {
  IrText ir;
  ir.Add("ReLU", "opset1", "", {{2, 0}}, 1, "x");  // before its source, with the name of the input
  ir.Result(0, 1);
  ir.Parameter("x", "2");
  ir.Add("Tanh", "opset1", "", {{2, 0}}, 1, "x");
  ir.Result(3, 1);
  const ModelProto model = ir.Parse();
  EXPECT_THAT(Infos(model.graph().input()), ElementsAre("x : 1[2]"));
  EXPECT_THAT(Infos(model.graph().output()), ElementsAre("x_1 : 1[?]", "x_2 : 1[?]"));
  EXPECT_THAT(Nodes(model), ElementsAre("x_1 = Relu(x)", "x_2 = Tanh(x)"));
  EXPECT_EQ(model.graph().node(0).name(), "x");
}

TEST(IrReader, TensorNamesGoBeforeLayerNames) {
  IrText ir;
  ir.Parameter("x", "2");
  const int relu = ir.Add("ReLU", "opset1", "", {{0, 0}}, 1, "layer", "act\\,ivation,alias");
  ir.Result(relu, 1);
  ir.Raw(
      "<layer id=\"90\" name=\"r\" type=\"Result\" version=\"opset1\" output_names=\"second\"><input><port "
      "id=\"0\"/></input></layer>",
      "<edge from-layer=\"1\" from-port=\"1\" to-layer=\"90\" to-port=\"0\"/>");
  ir.Raw("<layer id=\"91\" name=\"r\" type=\"Result\" version=\"opset1\"><input><port id=\"0\"/></input></layer>",
         "<edge from-layer=\"0\" from-port=\"0\" to-layer=\"91\" to-port=\"0\"/>");
  ir.Raw("<layer id=\"92\" name=\"r\" type=\"Result\" version=\"opset1\"><input><port id=\"0\"/></input></layer>",
         "<edge from-layer=\"0\" from-port=\"0\" to-layer=\"92\" to-port=\"0\"/>");
  const ModelProto model = ir.Parse();
  EXPECT_THAT(Nodes(model),
              ElementsAre("act,ivation = Relu(x)", "second = Identity(act,ivation)", "x_1 = Identity(x)"));
  // The first of two outputs that are an input is the input.
  EXPECT_THAT(Infos(model.graph().output()),
              ElementsAre("act,ivation : 1[?]", "second : 1[?]", "x : 1[?]", "x_1 : 1[?]"));
}

TEST(IrReader, ConstantsOfEveryType) {
  IrText ir;
  std::vector<std::string> expected;
  const std::pair<const char*, int> types[] = {{"f32", 1}, {"f16", 10}, {"bf16", 16},   {"f64", 11},    {"i64", 7},
                                               {"i32", 6}, {"i16", 5},  {"i8", 3},      {"u64", 13},    {"u32", 12},
                                               {"u16", 4}, {"u8", 2},   {"boolean", 9}, {"f8e4m3", 17}, {"f8e5m2", 19},
                                               {"i4", 22}, {"u4", 21},  {"f4e2m1", 23}, {"f8e8m0", 24}};
  for (const auto& [name, number] : types) ir.Result(ir.ConstBytes(name, "0, 4", "\x01", name));
  const ModelProto model = ir.Parse();
  ASSERT_EQ(model.graph().initializer_size(), static_cast<int>(std::size(types)));
  for (size_t i = 0; i < std::size(types); ++i) {
    EXPECT_EQ(model.graph().initializer(i).data_type(), types[i].second) << types[i].first;
    EXPECT_EQ(model.graph().initializer(i).raw_data().size(), 0u);
  }
}

TEST(IrReader, ConstantShapesAndSizes) {
  IrText ir;
  ir.Result(ir.Const<int64_t>("i64", "", {7}, "scalar"));
  ir.Result(ir.ConstBytes("i4", "3", "\x21\x03", "packed"));
  ir.Result(ir.ConstBytes("u8", "2", "abcd", "longer"));
  // Shares its bytes with the first.
  ir.Raw(
      "<layer id=\"50\" name=\"shared\" type=\"Const\" version=\"opset1\"><data element_type=\"i64\" shape=\"1\" "
      "offset=\"0\" size=\"8\"/>"
      "<output><port id=\"0\"/></output></layer><layer id=\"51\" name=\"r\" type=\"Result\" "
      "version=\"opset1\"><input><port id=\"0\"/></input></layer>",
      "<edge from-layer=\"50\" from-port=\"0\" to-layer=\"51\" to-port=\"0\"/>");
  const ModelProto model = ir.Parse();
  EXPECT_THAT(Initializers(model), ElementsAre("scalar_1 : 7[] 7", "packed_1 : 22[3] 2 bytes",
                                               "longer_1 : 2[2] 2 bytes", "shared_1 : 7[1] 7"));
  EXPECT_EQ(model.graph().initializer(0).raw_data().data(), model.graph().initializer(3).raw_data().data());
}

TEST(IrReader, StringConstants) {
  IrText ir;
  const int32_t header[] = {2, 0, 3, 5};
  ir.Result(ir.ConstBytes("string", "2", std::string(reinterpret_cast<const char*>(header), sizeof(header)) + "abcde"));
  const ModelProto model = ir.Parse();
  ASSERT_EQ(model.graph().initializer(0).string_data_size(), 2);
  EXPECT_EQ(model.graph().initializer(0).string_data(0), "abc");
  EXPECT_EQ(model.graph().initializer(0).string_data(1), "de");
}

TEST(IrReader, FileWithoutConstNeedsNoWeights) {
  IrText ir("10");
  ir.Parameter("x", "2");
  ir.Result(ir.Add("ReLU", "opset1", "", {{0, 0}}, 1, "y"), 1);
  EXPECT_THAT(Nodes(ParseIr(ir.Xml(), std::nullopt)), ElementsAre("y = Relu(x)"));
}

TEST(IrLayers, Elementwise) {
  const std::pair<const char*, const char*> unary[] = {{"ReLU", "Relu"}, {"Sigmoid", "Sigmoid"}, {"Tanh", "Tanh"}};
  for (const auto& [type, expected] : unary) {
    LayerCase c;
    EXPECT_THAT(c.Lower(type, "opset1", "", {c.a}), ElementsAre(fmt::format("l = {}(a)", expected)));
  }
  const std::pair<const char*, const char*> binary[] = {
      {"Add", "Add"}, {"Subtract", "Sub"}, {"Multiply", "Mul"}, {"Divide", "Div"}};
  for (const auto& [type, expected] : binary) {
    LayerCase c;
    EXPECT_THAT(c.Lower(type, "opset1", "auto_broadcast=\"numpy\"", {c.a, c.b}),
                ElementsAre(fmt::format("l = {}(a, b)", expected)));
  }
  LayerCase c;
  EXPECT_THAT(c.Lower("Divide", "opset1", "m_pythondiv=\"false\"", {c.n, c.n}), ElementsAre("l = Div(n, n)"));
}

TEST(IrLayers, Convert) {
  LayerCase c;
  EXPECT_THAT(c.Lower("Convert", "opset1", "destination_type=\"i64\"", {c.a}), ElementsAre("l = Cast(a) to=7"));
}

TEST(IrLayers, Reshape) {
  {
    LayerCase c;
    EXPECT_THAT(c.Lower("Reshape", "opset1", "special_zero=\"true\"", {c.a, c.ir.Ints({0, -1}, "p")}),
                ElementsAre("l = Reshape(a, p)"));
  }
  {
    LayerCase c;
    EXPECT_THAT(
        c.Lower("Reshape", "opset1", "special_zero=\"false\"", {c.a, c.ir.Const<int32_t>("i32", "2", {3, 2}, "p")}),
        ElementsAre("l = Reshape(a, p_1) allowzero=1"));
    EXPECT_THAT(Initializers(c.ir.Parse()), ElementsAre("p_1 : 7[2] 3,2"));
  }
  {
    LayerCase c;
    EXPECT_THAT(c.Lower("Reshape", "opset1", "special_zero=\"true\"", {c.a, c.n}),
                ElementsAre("l/int64 = Cast(n) to=7", "l = Reshape(a, l/int64)"));
  }
}

TEST(IrLayers, ShapeOfAndGather) {
  {
    LayerCase c;
    EXPECT_THAT(c.Lower("ShapeOf", "opset1", "", {c.a}), ElementsAre("l = Shape(a)"));
  }
  {
    LayerCase c;
    EXPECT_THAT(c.Lower("ShapeOf", "opset3", "output_type=\"i32\"", {c.a}),
                ElementsAre("l/shape = Shape(a)", "l = Cast(l/shape) to=6"));
  }
  {
    LayerCase c;
    EXPECT_THAT(c.Lower("Gather", "opset8", "batch_dims=\"0\"", {c.a, c.n, c.ir.Ints({1})}),
                ElementsAre("l = Gather(a, n) axis=1"));
  }
  {
    LayerCase c;
    EXPECT_THAT(c.Lower("Gather", "opset1", "", {c.a, c.ir.Const<uint8_t>("u8", "2", {1, 0}, "i"), c.ir.Ints({-1})}),
                ElementsAre("l = Gather(a, i_1) axis=-1"));
    EXPECT_THAT(Initializers(c.ir.Parse()), ElementsAre("i_1 : 7[2] 1,0"));
  }
}

TEST(IrLayers, BroadcastAndConcat) {
  for (const char* mode : {"numpy", "bidirectional"}) {
    LayerCase c;
    EXPECT_THAT(c.Lower("Broadcast", "opset3", fmt::format("mode=\"{}\"", mode), {c.a, c.ir.Ints({4, 2, 3}, "s")}),
                ElementsAre("l = Expand(a, s)"));
  }
  LayerCase c;
  EXPECT_THAT(c.Lower("Concat", "opset1", "axis=\"-1\"", {c.a, c.b, c.a}), ElementsAre("l = Concat(a, b, a) axis=-1"));
}

TEST(IrLayers, Splits) {
  {
    LayerCase c;
    EXPECT_THAT(c.Lower("Split", "opset1", "num_splits=\"3\"", {c.a, c.ir.Ints({1})}, 3),
                ElementsAre("l.0, l.1, l.2 = Split(a) axis=1 num_outputs=3"));
  }
  {
    LayerCase c;
    EXPECT_THAT(c.Lower("VariadicSplit", "opset1", "", {c.a, c.ir.Ints({1}), c.ir.Ints({1, 2}, "s")}, 2),
                ElementsAre("l.0, l.1 = Split(a, s) axis=1"));
  }
  {
    LayerCase c;
    EXPECT_THAT(
        c.Lower("VariadicSplit", "opset1", "", {c.a, c.ir.Ints({1}), c.ir.Ints({1, -1, 1})}, 3),
        ElementsAre("l/shape = Shape(a)", "l/size = Gather(l/shape, axis) axis=0", "l/left = Sub(l/size, others)",
                    "l/split = Concat(lengths, l/left, lengths_1) axis=0", "l.0, l.1, l.2 = Split(a, l/split) axis=1"));
    EXPECT_THAT(Initializers(c.ir.Parse()),
                ElementsAre("axis : 7[1] 1", "others : 7[1] 2", "lengths : 7[1] 1", "lengths_1 : 7[1] 1"));
  }
  {
    // Computed lengths: any of them may turn out to be -1.
    LayerCase c;
    const std::vector<std::string> nodes = c.Lower("VariadicSplit", "opset1", "", {c.a, c.ir.Ints({1}), c.n}, 2);
    EXPECT_THAT(nodes.front(), testing::HasSubstr("Cast(n)"));
    EXPECT_THAT(nodes.back(), testing::StartsWith("l.0, l.1 = Split(a, "));
    EXPECT_THAT(nodes, testing::Contains(testing::HasSubstr("ReduceSum(")));
    EXPECT_THAT(nodes, testing::Contains(testing::HasSubstr("Sub(")));
  }
}

TEST(IrLayers, WholeNumbersNeedNoRounding) {
  for (const char* type : {"Floor", "Ceiling"}) {
    LayerCase c;
    EXPECT_THAT(c.Lower(type, "opset1", "", {c.n}), ElementsAre("l = Identity(n)"));
  }
  LayerCase c;
  EXPECT_THAT(c.Lower("Floor", "opset1", "", {c.a}), ElementsAre("l = Floor(a)"));
}

TEST(IrLayers, SqueezeAndUnsqueeze) {
  {
    LayerCase c;
    EXPECT_THAT(c.Lower("Squeeze", "opset1", "", {c.a, c.ir.Const<int64_t>("i64", "", {0}, "axes")}),
                ElementsAre("l = Squeeze(a, axes_1)"));
    EXPECT_THAT(Initializers(c.ir.Parse()), ElementsAre("axes_1 : 7[1] 0"));
  }
  {
    LayerCase c;
    EXPECT_THAT(c.Lower("Squeeze", "opset15", "allow_axis_skip=\"false\"", {c.a}), ElementsAre("l = Squeeze(a)"));
  }
  {
    LayerCase c;
    EXPECT_THAT(c.Lower("Unsqueeze", "opset1", "", {c.a, c.ir.Ints({0, 2}, "axes")}),
                ElementsAre("l = Unsqueeze(a, axes)"));
  }
}

TEST(IrLayers, MatMul) {
  {
    LayerCase c;
    EXPECT_THAT(c.Lower("MatMul", "opset1", "transpose_a=\"false\" transpose_b=\"True\"", {c.a, c.b}),
                ElementsAre("l/transpose_b = Transpose(b) perm=[1, 0]", "l = MatMul(a, l/transpose_b)"));
  }
  LayerCase c;
  EXPECT_THAT(c.Lower("MatMul", "opset1", "transpose_a=\"1\"", {c.n, c.b}),
              ElementsAre("l = MatMul(n, b)"));  // a vector stays
}

TEST(IrLayers, Slices) {
  {
    LayerCase c;
    EXPECT_THAT(
        c.Lower("Slice", "opset8", "",
                {c.a, c.ir.Ints({0}, "from"), c.ir.Ints({2}, "to"), c.ir.Ints({1}, "by"), c.ir.Ints({1}, "axes")}),
        ElementsAre("l = Slice(a, from, to, axes, by)"));
  }
  {
    LayerCase c;
    EXPECT_THAT(c.Lower("StridedSlice", "opset1", "begin_mask=\"1,0\" end_mask=\"0, 1\"",
                        {c.a, c.ir.Ints({9, 1}), c.ir.Ints({2, 9}), c.ir.Ints({1, 2})}),
                ElementsAre("l = Slice(a, starts, ends, axes, steps)"));
    EXPECT_THAT(Initializers(c.ir.Parse()), ElementsAre("starts : 7[2] 0,1", "ends : 7[2] 2,9223372036854775807",
                                                        "axes : 7[2] 0,1", "steps : 7[2] 1,2"));
  }
  {
    LayerCase c;
    EXPECT_THAT(c.Lower("StridedSlice", "opset1", "begin_mask=\"0,1\" end_mask=\"0,1\" shrink_axis_mask=\"1\"",
                        {c.a, c.ir.Ints({-1, 0}), c.ir.Ints({0, 0}), c.ir.Ints({1, -1})}),
                ElementsAre("l/sliced = Slice(a, starts, ends, axes, steps)", "l = Squeeze(l/sliced, axes_1)"));
    EXPECT_THAT(Initializers(c.ir.Parse()), ElementsAre("starts : 7[2] -1,9223372036854775807",
                                                        "ends : 7[2] 9223372036854775807,-9223372036854775808",
                                                        "axes : 7[2] 0,1", "steps : 7[2] 1,-1", "axes_1 : 7[1] 0"));
  }
}

TEST(IrLayers, LstmSequenceDefaultsAndSpellings) {
  const auto lower = [](std::string_view opset, std::string_view data, int inputs) {
    LayerCase c;
    return c.Lower("LSTMSequence", opset, data, std::vector<int>(static_cast<size_t>(inputs), c.a), 3).back();
  };
  EXPECT_EQ(lower("opset5", "hidden_size=\"2\"", 7),
            "l.0, l.1, l.2 = org.openvinotoolkit.LSTMSequence(a, a, a, a, a, a, a) hidden_size=2 direction=forward");
  EXPECT_THAT(lower("opset16",
                    "hidden_size=\"2\" direction=\"REVERSE\" clip=\"inf\" bogus=\"1\" weights_format=\"ifco\" "
                    "input_forget=\"true\"",
                    7),
              HasSubstr("hidden_size=2 direction=reverse clip=inf"));
  EXPECT_THAT(lower("opset5", "hidden_size=\"2\" weights_format=\"ifco\" input_forget=\"true\"", 7),
              ::testing::EndsWith("direction=forward"));
  EXPECT_THAT(lower("opset4", "hidden_size=\"2\" weights_format=\"ifco\" input_forget=\"true\"", 8),
              ::testing::EndsWith(
                  "(a, a, a, a, a, a, a, a) hidden_size=2 direction=forward weights_format=ifco input_forget=1"));
}

TEST(IrLayers, OtherRecurrentLayersStayWhatTheyAre) {
  const auto lower = [](std::string_view type, std::string_view data, int inputs, int outputs) {
    LayerCase c;
    return c.Lower(type, "opset5", data, std::vector<int>(static_cast<size_t>(inputs), c.a), outputs).back();
  };
  EXPECT_EQ(
      lower("GRUSequence", "hidden_size=\"2\" linear_before_reset=\"true\" direction=\"bidirectional\" clip=\"1.5\"", 6,
            2),
      "l.0, l.1 = org.openvinotoolkit.GRUSequence(a, a, a, a, a, a) hidden_size=2 direction=bidirectional clip=1.5 "
      "linear_before_reset=1");
  EXPECT_EQ(lower("GRUSequence", "hidden_size=\"2\" linear_before_reset=\"false\"", 6, 2),
            "l.0, l.1 = org.openvinotoolkit.GRUSequence(a, a, a, a, a, a) hidden_size=2 direction=forward");
  EXPECT_EQ(lower("RNNSequence", "hidden_size=\"2\" activations=\"relu\"", 6, 2),
            "l.0, l.1 = org.openvinotoolkit.RNNSequence(a, a, a, a, a, a) hidden_size=2 direction=forward "
            "activations=[relu]");
  EXPECT_EQ(lower("GRUCell", "hidden_size=\"2\" linear_before_reset=\"1\"", 5, 1),
            "l = org.openvinotoolkit.GRUCell(a, a, a, a, a) hidden_size=2 linear_before_reset=1");
  EXPECT_EQ(
      lower("RNNCell", "hidden_size=\"2\" activations=\"affine\" activations_alpha=\"2\" activations_beta=\"3\"", 5, 1),
      "l = org.openvinotoolkit.RNNCell(a, a, a, a, a) hidden_size=2 activations=[affine] activations_alpha=[2] "
      "activations_beta=[3]");
  EXPECT_EQ(lower("LSTMCell", "hidden_size=\"2\" weights_format=\"ifco\" input_forget=\"true\"", 6, 2),
            "l.0, l.1 = org.openvinotoolkit.LSTMCell(a, a, a, a, a, a) hidden_size=2");
  LayerCase c;
  EXPECT_EQ(c.Lower("LSTMCell", "opset1", "hidden_size=\"2\" weights_format=\"ifco\" input_forget=\"true\"",
                    std::vector<int>(7, c.a), 2)
                .back(),
            "l.0, l.1 = org.openvinotoolkit.LSTMCell(a, a, a, a, a, a, a) hidden_size=2 weights_format=ifco "
            "input_forget=1");
  LayerCase d;
  EXPECT_THAT(IrMessage<ModelParseError>(
                  [&] { d.Lower("LSTMCell", "opset4", "hidden_size=\"2\"", std::vector<int>(7, d.a), 2); }),
              ::testing::EndsWith("must have 6 inputs in opset4, got 7"));
}

TEST(IrLayers, LoweredNodesKeepTypeAndAttributesAsMetadata) {
  LayerCase c;
  c.Lower("Reshape", "opset1", "special_zero=\"true\"", {c.a, c.ir.Ints({-1})});
  EXPECT_THAT(Metadata(c.ir.Parse().graph().node(0).metadata_props()),
              ElementsAre(::testing::Pair("openvino.data.special_zero", "true"),
                          ::testing::Pair("openvino.type", "Reshape"), ::testing::Pair("openvino.version", "opset1")));
}

TEST(IrReader, AllUnsupportedLayersAreListed) {
  LayerCase c;
  c.ir.Add("AUGRUCell", "opset5", "", {{c.a, 0}}, 2, "rnn");
  c.ir.Add("ReLU", "opset99", "", {{c.a, 0}}, 1, "relu");
  c.ir.Add("Broadcast", "opset3", "mode=\"explicit\"", {{c.a, 0}, {c.n, 0}, {c.n, 0}}, 1, "b");
  EXPECT_EQ(IrMessage<Unsupported>([&] { c.ir.Parse(); }),
            "3 of 6 layers cannot be read: layer 3 \"rnn\" (AUGRUCell, opset5); layer 4 \"relu\" (ReLU, opset99): "
            "operator set "
            "\"opset99\" is not known; layer 5 \"b\" (Broadcast, opset3): axes_mapping must be constant, and the rank "
            "of the output known, at most 64");
}

TEST(IrReader, WhatALayerCannotSayIsRefused) {
  const auto refusal = [](std::string_view type, std::string_view opset, std::string_view data,
                          const std::function<std::vector<int>(LayerCase&)>& from) {
    LayerCase c;
    const std::string message = IrMessage<Unsupported>([&] { c.Lower(type, opset, data, from(c)); });
    return message.substr(std::min(message.size(), message.find(opset) + opset.size() + 3));
  };
  EXPECT_EQ(refusal("Add", "opset1", "auto_broadcast=\"pdpd\"", [](LayerCase& c) { return std::vector{c.a, c.b}; }),
            "attribute 'auto_broadcast' \"pdpd\" has no ONNX operator");
  EXPECT_EQ(refusal("Transpose", "opset1", "", [](LayerCase& c) { return std::vector{c.a, c.n}; }),
            "input 1 'input_order' must be a constant integer tensor");
  EXPECT_EQ(refusal("Gather", "opset8", "", [](LayerCase& c) { return std::vector{c.a, c.n, c.n}; }),
            "input 2 'axis' must be a constant integer");
  EXPECT_EQ(refusal("Convert", "opset1", "destination_type=\"nf4\"", [](LayerCase& c) { return std::vector{c.a}; }),
            "element type \"nf4\" has no ONNX type");
  EXPECT_EQ(refusal("Reshape", "opset1", "special_zero=\"0\"",
                    [](LayerCase& c) { return std::vector{c.a, c.ir.Ints({0, -1})}; }),
            "a pattern with both 0 and -1 needs special_zero");
  EXPECT_EQ(refusal("Squeeze", "opset15", "allow_axis_skip=\"true\"", [](LayerCase& c) { return std::vector{c.a}; }),
            "allow_axis_skip without constant axes has no ONNX operator");
  EXPECT_EQ(refusal("StridedSlice", "opset1", "", [](LayerCase& c) { return std::vector{c.a, c.n, c.n, c.n}; }),
            "begin, end and strides must be constant integers");
  LayerCase c;
  const int any = c.ir.Parameter("any", "...");
  EXPECT_THAT(IrMessage<Unsupported>([&] { c.Lower("MatMul", "opset1", "transpose_b=\"true\"", {c.a, any}); }),
              HasSubstr("the rank of input 1 must be known to transpose it"));
  IrText nf4;
  nf4.Parameter("p", "2", "u1");
  nf4.Result(nf4.ConstBytes("nf4", "2", "\x01", "c"));
  EXPECT_EQ(IrMessage<Unsupported>([&] { nf4.Parse(); }),
            "2 of 3 layers cannot be read: layer 0 \"p\" (Parameter, opset1): element type \"u1\" has no ONNX type; "
            "layer 1 \"c\" (Const, "
            "opset1): element type \"nf4\" has no ONNX type");
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
