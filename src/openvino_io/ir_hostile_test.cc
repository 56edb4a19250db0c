// SPDX-License-Identifier: Apache-2.0
// Files that do not follow the format: each ends in a message that says where, none in a crash or a large allocation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include "openvino_io/ir_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Without the "byte 123, " in front.
std::string ParseMessage(std::string_view xml, const std::optional<Bytes>& weights = Bytes("")) {
  const std::string message = IrMessage<ModelParseError>([&] { ParseIr(xml, weights); });
  if (!message.starts_with("byte ")) return message;
  return message.substr(std::min(message.find_first_of(",:"), message.size() - 2) + 2);
}
std::string NetOf(std::string_view layers, std::string_view edges = {}) {
  return fmt::format("<net name=\"n\" version=\"11\"><layers>{}</layers><edges>{}</edges></net>", layers, edges);
}
constexpr std::string_view kParameter =
    "<layer id=\"0\" name=\"p\" type=\"Parameter\" version=\"opset1\"><data shape=\"2\" "
    "element_type=\"f32\"/><output><port id=\"0\"/></output></layer>";
constexpr std::string_view kRelu =
    "<layer id=\"1\" name=\"r\" type=\"ReLU\" version=\"opset1\"><input><port id=\"0\"/></input><output><port "
    "id=\"1\"/></output></layer>";
std::string Edge(std::string_view from, std::string_view from_port, std::string_view to, std::string_view to_port) {
  return fmt::format("<edge from-layer=\"{}\" from-port=\"{}\" to-layer=\"{}\" to-port=\"{}\"/>", from, from_port, to,
                     to_port);
}

TEST(IrHostile, NotXml) {
  EXPECT_THAT(ParseMessage(""), HasSubstr("the XML cannot be read"));
  EXPECT_THAT(ParseMessage("\x08\x0a\x12\x07pytorch"), HasSubstr("the XML cannot be read"));
  EXPECT_EQ(ParseMessage("<net"), "the XML cannot be read: Error parsing start element tag");
  EXPECT_EQ(ParseMessage("<html/>"), "there is no <net> element: not an OpenVINO IR file");
  const ModelParseError error = [] {
    try {
      ParseIr("<net version=\"11\"><layers><layer id=\"0\" name=\"x", std::nullopt);
    } catch (const ModelParseError& e) {
      return e;
    }
    return ModelParseError("nothing thrown", -1, "");
  }();
  EXPECT_GT(error.offset(), 20);
}

TEST(IrHostile, Versions) {
  EXPECT_EQ(IrMessage<Unsupported>([] { ParseIr("<net version=\"12\"/>", std::nullopt); }),
            "the file is OpenVINO IR version 12, versions 10 and 11 are read");
  EXPECT_EQ(IrMessage<Unsupported>([] { ParseIr("<net version=\"7\"/>", std::nullopt); }),
            "the file is OpenVINO IR version 7, versions 10 and 11 are read");
  EXPECT_EQ(ParseMessage("<net/>"), "net: attribute 'version' is missing");
  EXPECT_EQ(ParseMessage("<net version=\"\"/>"), "net: attribute 'version' must be an integer, got \"\"");
  EXPECT_EQ(ParseMessage("<net version=\"11x\"/>"), "net: attribute 'version' must be an integer, got \"11x\"");
  EXPECT_EQ(ParseMessage("<net version=\"11\"/>"), "net: there are no layers");
}

TEST(IrHostile, Layers) {
  EXPECT_EQ(ParseMessage(NetOf("<layer/>")), "layer: attribute 'id' of <layer> is missing");
  EXPECT_EQ(ParseMessage(NetOf("<layer id=\"-1\"/>")),
            "layer: attribute 'id' of <layer> must be an integer >= 0, got \"-1\"");
  EXPECT_EQ(ParseMessage(NetOf("<layer id=\"99999999999999999999\"/>")),
            "layer: attribute 'id' of <layer> must be an integer >= 0, got \"99999999999999999999\"");
  EXPECT_EQ(ParseMessage(NetOf("<layer id=\"3\" name=\"x\"/>")), "layer 3 \"x\" (), attribute 'type': is missing");
  EXPECT_EQ(ParseMessage(NetOf("<layer id=\"3\" name=\"x\" type=\"ReLU\"/>")),
            "layer 3 \"x\" (ReLU), attribute 'version': is missing");
  EXPECT_EQ(ParseMessage(NetOf(std::string(kParameter) + std::string(kParameter))),
            "layer 0 \"p\" (Parameter), attribute 'id': layer 0 \"p\" (Parameter) has it too");
  EXPECT_EQ(ParseMessage(NetOf("<layer id=\"3\" name=\"x\" type=\"Parameter\" version=\"opset1\"/>")),
            "layer 3 \"x\" (Parameter): must have 1 outputs, got 0");
  EXPECT_EQ(ParseMessage(NetOf("<layer id=\"3\" name=\"x\" type=\"Result\" version=\"opset1\"/>")),
            "layer 3 \"x\" (Result): must have 1 inputs, got 0");
  for (const char* opset : {"opset99", "extension"}) {
    const auto end = [&](const char* type) {
      return ParseMessage(NetOf(fmt::format("<layer id=\"3\" name=\"x\" type=\"{}\" version=\"{}\"/>", type, opset)));
    };
    EXPECT_EQ(end("Result"), "layer 3 \"x\" (Result): must have 1 inputs, got 0");
    EXPECT_EQ(end("Parameter"), "layer 3 \"x\" (Parameter): must have 1 outputs, got 0");
    EXPECT_EQ(end("Const"), "layer 3 \"x\" (Const): must have 1 outputs, got 0");
  }
  EXPECT_EQ(ParseMessage(NetOf("<layer id=\"3\" name=\"x\" type=\"LSTMSequence\" version=\"opset5\"/>")),
            "layer 3 \"x\" (LSTMSequence): must have 7 to 8 inputs, got 0");
  for (const char* type : {"MaxPool", "NonMaxSuppression", "Split"}) {
    IrText none;
    const int p = none.Parameter("p", "4");
    none.Add(type, "opset9", "num_splits=\"0\"",
             type == std::string_view("MaxPool") ? std::vector{std::pair(p, 0)}
                                                 : std::vector{std::pair(p, 0), std::pair(p, 0)},
             0, "x");
    EXPECT_EQ(ParseMessage(none.Xml()), fmt::format("layer 1 \"x\" ({}): must have at least 1 outputs, got 0", type));
  }
  EXPECT_EQ(ParseMessage(NetOf("<layer id=\"3\" name=\"x\" type=\"Concat\" version=\"opset1\"/>")),
            "layer 3 \"x\" (Concat): must have at least 1 inputs, got 0");
  EXPECT_EQ(ParseMessage(
                NetOf("<layer id=\"3\" name=\"x\" type=\"ReLU\" version=\"opset1\"><output><port/></output></layer>")),
            "layer 3 \"x\" (ReLU): attribute 'id' of <port> is missing");
}

TEST(IrHostile, Edges) {
  const std::string layers = std::string(kParameter) + std::string(kRelu);
  EXPECT_EQ(ParseMessage(NetOf(layers)), "layer 1 \"r\" (ReLU), input port 0: no edge leads here");
  EXPECT_EQ(ParseMessage(NetOf(layers, Edge("7", "0", "1", "0"))),
            "edge: attribute 'from-layer' names layer 7, there is none");
  EXPECT_EQ(ParseMessage(NetOf(layers, Edge("0", "0", "8", "0"))),
            "edge: attribute 'to-layer' names layer 8, there is none");
  EXPECT_EQ(ParseMessage(NetOf(layers, Edge("0", "5", "1", "0"))),
            "edge: layer 0 \"p\" (Parameter) has no output port 5");
  EXPECT_EQ(ParseMessage(NetOf(layers, Edge("0", "0", "1", "7"))), "edge: layer 1 \"r\" (ReLU) has no input port 7");
  EXPECT_EQ(ParseMessage(NetOf(layers, Edge("0", "0", "1", "x"))),
            "edge: attribute 'to-port' of <edge> must be an integer >= 0, got \"x\"");
  EXPECT_EQ(ParseMessage(NetOf(layers, "<edge from-layer=\"0\"/>")), "edge: attribute 'to-layer' of <edge> is missing");
  EXPECT_EQ(ParseMessage(NetOf(layers, Edge("0", "0", "1", "0") + Edge("0", "0", "1", "0"))),
            "edge: input port 0 of layer 1 \"r\" (ReLU) has an edge already, from layer 0 \"p\" (Parameter)");
}

TEST(IrHostile, CyclesAreLeftToWhoeverSortsTheGraph) {
  IrText ir;
  ir.Add("ReLU", "opset1", "", {{1, 1}}, 1, "a");
  ir.Add("ReLU", "opset1", "", {{0, 1}}, 1, "b");
  ir.Add("ReLU", "opset1", "", {{2, 1}}, 1, "self");
  EXPECT_THAT(Nodes(ir.Parse()), ::testing::ElementsAre("a = Relu(b)", "b = Relu(a)", "self = Relu(self)"));
}

TEST(IrHostile, Attributes) {
  const auto of_parameter = [](std::string_view data) {
    IrText ir;
    ir.Add("Parameter", "opset1", data, {}, 1, "p");
    return ParseMessage(ir.Xml());
  };
  EXPECT_EQ(of_parameter("shape=\"2\""), "layer 0 \"p\" (Parameter), attribute 'element_type': is missing");
  EXPECT_EQ(of_parameter("element_type=\"f32\""), "layer 0 \"p\" (Parameter), attribute 'shape': is missing");
  EXPECT_EQ(
      of_parameter("shape=\"2\" element_type=\"float\""),
      "layer 0 \"p\" (Parameter), attribute 'element_type': must be an element type as f32 or i64, got \"float\"");
  for (const char* bad : {"2;3", "2 3", "-2", "1..x", "8..1", "..", "2,,3", "9999999999999999999", "0x4", "1.5"}) {
    EXPECT_THAT(
        of_parameter(fmt::format("shape=\"{}\" element_type=\"f32\"", bad)),
        AnyOf(EndsWith(fmt::format("is no dim: must be an integer >= 0, ?, -1 or bounds as 1..8, got \"{}\"", bad))))
        << bad;
  }
  std::string many = "1";
  for (int i = 0; i < 64; ++i) many += ",1";
  EXPECT_EQ(of_parameter(fmt::format("shape=\"{}\" element_type=\"f32\"", many)),
            "layer 0 \"p\" (Parameter), attribute 'shape': has 65 dims, at most 64 are possible");

  const auto of_lstm = [](std::string_view data, int inputs = 7, std::string_view opset = "opset5") {
    IrText ir;
    ir.Parameter("p", "2");
    ir.Add("LSTMSequence", opset, data, std::vector<std::pair<int, int>>(static_cast<size_t>(inputs), {0, 0}), 3, "l");
    return ParseMessage(ir.Xml());
  };
  EXPECT_EQ(of_lstm("direction=\"forward\""), "layer 1 \"l\" (LSTMSequence), attribute 'hidden_size': is missing");
  EXPECT_EQ(of_lstm("hidden_size=\"6.5\""),
            "layer 1 \"l\" (LSTMSequence), attribute 'hidden_size': must be an integer, got \"6.5\"");
  EXPECT_EQ(of_lstm("hidden_size=\"6\" direction=\"sideways\""),
            "layer 1 \"l\" (LSTMSequence), attribute 'direction': must be forward, reverse or bidirectional, got "
            "\"sideways\"");
  EXPECT_EQ(of_lstm("hidden_size=\"6\" clip=\"0,5\""),
            "layer 1 \"l\" (LSTMSequence), attribute 'clip': must be a number, got \"0,5\"");
  EXPECT_EQ(of_lstm("hidden_size=\"6\" clip=\"1e400\""),
            "layer 1 \"l\" (LSTMSequence), attribute 'clip': must be a number, got \"1e400\"");
  EXPECT_EQ(
      of_lstm("hidden_size=\"6\" activations_alpha=\"1;2\""),
      "layer 1 \"l\" (LSTMSequence), attribute 'activations_alpha': must be numbers with commas between, got \"1;2\"");
  EXPECT_EQ(of_lstm("hidden_size=\"6\" input_forget=\"maybe\"", 7, "opset1"),
            "layer 1 \"l\" (LSTMSequence), attribute 'input_forget': must be true or false, got \"maybe\"");
  EXPECT_EQ(of_lstm("hidden_size=\"6\"", 8), "layer 1 \"l\" (LSTMSequence): must have 7 inputs in opset5, got 8");
}

TEST(IrHostile, LayersThatContradictThemselves) {
  IrText split;
  split.Parameter("p", "4");
  const int axis = split.Ints({0});
  split.Add("Split", "opset1", "num_splits=\"3\"", {{0, 0}, {axis, 0}}, 2, "s");
  EXPECT_EQ(ParseMessage(split.Xml(), Bytes(split.weights())),
            "layer 2 \"s\" (Split), attribute 'num_splits': is 3, the layer has 2 outputs");
  const auto variadic = [](const std::vector<int64_t>& lengths) {
    IrText ir;
    ir.Parameter("p", "4");
    const int at = ir.Ints({0}), given = ir.Ints(lengths);
    ir.Add("VariadicSplit", "opset1", "", {{0, 0}, {at, 0}, {given, 0}}, 2, "s");
    return ParseMessage(ir.Xml(), Bytes(ir.weights()));
  };
  EXPECT_EQ(variadic({1, 1, 2}),
            "layer 3 \"s\" (VariadicSplit), input 2 'split_lengths': has 3 elements, the layer has 2 outputs");
  EXPECT_EQ(
      variadic({-1, -1}),
      "layer 3 \"s\" (VariadicSplit), input 2 'split_lengths': only one element may be -1, the others must be >= 0");
  EXPECT_EQ(variadic({-1, -7}), variadic({-1, -1}));
  IrText gather;
  gather.Parameter("p", "4");
  const int two = gather.Ints({0, 1});
  gather.Add("Gather", "opset8", "", {{0, 0}, {two, 0}, {two, 0}}, 1, "g");
  EXPECT_EQ(ParseMessage(gather.Xml(), Bytes(gather.weights())),
            "layer 2 \"g\" (Gather), input 2 'axis': must be one integer, got 2");
  IrText slice;
  slice.Parameter("p", "4");
  const int one = slice.Ints({0}), both = slice.Ints({0, 0});
  slice.Add("StridedSlice", "opset1", "", {{0, 0}, {one, 0}, {both, 0}, {one, 0}}, 1, "s");
  EXPECT_EQ(ParseMessage(slice.Xml(), Bytes(slice.weights())),
            "layer 3 \"s\" (StridedSlice): begin, end and strides must be of one length, got 1, 2 and 1");
  IrText shape;
  shape.Parameter("p", "4");
  shape.Add("ShapeOf", "opset3", "output_type=\"f32\"", {{0, 0}}, 1, "s");
  EXPECT_EQ(ParseMessage(shape.Xml()), "layer 1 \"s\" (ShapeOf), attribute 'output_type': must be i64 or i32");
  IrText broadcast;
  broadcast.Parameter("p", "4");
  broadcast.Add("Broadcast", "opset3", "mode=\"numpy\"", {{0, 0}, {0, 0}, {0, 0}}, 1, "b");
  EXPECT_EQ(ParseMessage(broadcast.Xml()), "layer 1 \"b\" (Broadcast): mode numpy takes 2 inputs, got 3");
}

std::string OfConst(std::string_view data, std::string_view weights = "12345678") {
  IrText ir;
  ir.Add("Const", "opset1", data, {}, 1, "c");
  ir.Result(0);
  return ParseMessage(ir.Xml(), Bytes(weights));
}

TEST(IrHostile, ConstAgainstTheWeights) {
  EXPECT_EQ(OfConst("element_type=\"f32\" shape=\"2\" offset=\"4\" size=\"8\""),
            "layer 0 \"c\" (Const): needs bytes 4 to 12 of the weights, which have 8");
  EXPECT_EQ(OfConst("element_type=\"f32\" shape=\"2\" offset=\"9223372036854775807\" size=\"8\""),
            "layer 0 \"c\" (Const): needs bytes 9223372036854775807 to beyond 2^63 of the weights, which have 8");
  EXPECT_EQ(OfConst("element_type=\"f32\" shape=\"2\" offset=\"-4\" size=\"8\""),
            "layer 0 \"c\" (Const), attribute 'offset': must be >= 0, got -4");
  EXPECT_EQ(OfConst("element_type=\"f32\" shape=\"2\" offset=\"0\" size=\"-8\""),
            "layer 0 \"c\" (Const), attribute 'size': must be >= 0, got -8");
  EXPECT_EQ(OfConst("element_type=\"f32\" shape=\"2, 3\" offset=\"0\" size=\"8\""),
            "layer 0 \"c\" (Const), attribute 'size': is 8, f32 of shape \"2, 3\" takes 24 bytes");
  EXPECT_EQ(
      OfConst("element_type=\"f32\" shape=\"4611686018427387904\" offset=\"0\" size=\"8\""),
      "layer 0 \"c\" (Const), attribute 'size': is 8, f32 of shape \"4611686018427387904\" takes over 2^60 bytes");
  EXPECT_EQ(OfConst("element_type=\"f32\" shape=\"4611686018427387904,4\" offset=\"0\" size=\"8\""),
            "layer 0 \"c\" (Const), attribute 'shape': \"4611686018427387904,4\" has too many elements");
  EXPECT_EQ(OfConst("element_type=\"f32\" shape=\"1, ?\" offset=\"0\" size=\"8\""),
            "layer 0 \"c\" (Const), attribute 'shape': must be fixed dims, got \"1, ?\"");
  EXPECT_EQ(OfConst("element_type=\"f32\" shape=\"...\" offset=\"0\" size=\"8\""),
            "layer 0 \"c\" (Const), attribute 'shape': must be fixed dims, got \"...\"");
  EXPECT_EQ(OfConst("element_type=\"f32\" shape=\"2\" size=\"8\""),
            "layer 0 \"c\" (Const), attribute 'offset': is missing");
  EXPECT_EQ(OfConst("element_type=\"f32\" shape=\"2\" offset=\"0\""),
            "layer 0 \"c\" (Const), attribute 'size': is missing");
  EXPECT_EQ(OfConst("element_type=\"f32\" shape=\"2\" offset=\"0\" size=\"8\"", ""),
            "layer 0 \"c\" (Const): needs bytes 0 to 8 of the weights, which have 0");
  IrText ir;
  ir.Ints({1}, "c");
  EXPECT_EQ(ParseMessage(ir.Xml(), std::nullopt),
            "layer 0 \"c\" (Const): is a Const, and there is no file with weights (.bin)");
}

TEST(IrHostile, StringConstants) {
  const auto of_strings = [](std::vector<int32_t> header, std::string_view text) {
    const std::string bytes =
        std::string(reinterpret_cast<const char*>(header.data()), header.size() * 4) + std::string(text);
    IrText ir;
    ir.Result(ir.ConstBytes("string", "2", bytes, "c"));
    return ParseMessage(ir.Xml(), Bytes(bytes));
  };
  EXPECT_EQ(of_strings({3, 0, 1, 2}, "ab"), "layer 0 \"c\" (Const): must hold 2 strings, its 18 bytes say 3");
  EXPECT_EQ(of_strings({2, 0}, ""), "layer 0 \"c\" (Const): must hold 2 strings, its 8 bytes say 2");
  EXPECT_EQ(of_strings({}, "a"), "layer 0 \"c\" (Const): must hold 2 strings, its 1 bytes say 0");
  EXPECT_EQ(of_strings({2, 0, 1, 9}, "ab"), "layer 0 \"c\" (Const): string 1 lies at 1 to 9 of 2 bytes");
  EXPECT_EQ(of_strings({2, 0, -1, 1}, "ab"), "layer 0 \"c\" (Const): string 0 lies at 0 to -1 of 2 bytes");
}

TEST(IrHostile, EntitiesAreNotExpanded) {
  std::string bomb = "<?xml version=\"1.0\"?><!DOCTYPE net [<!ENTITY a0 \"aaaaaaaaaaaaaaaaaaaa\">";
  for (int i = 1; i < 30; ++i) {
    bomb += fmt::format("<!ENTITY a{} \"", i);
    for (int k = 0; k < 10; ++k) bomb += fmt::format("&a{};", i - 1);
    bomb += "\">";
  }
  bomb += "]><net name=\"&a29;\" version=\"11\"><layers>" + std::string(kParameter) + "</layers></net>";
  EXPECT_EQ(ParseIr(bomb, std::nullopt).graph().name(), "&a29;");
}

TEST(IrHostile, DeepNestingIsNotFollowed) {
  constexpr int kDepth = 200000;
  std::string deep = "<net version=\"11\"><layers>" + std::string(kParameter) + "</layers>";
  for (int i = 0; i < kDepth; ++i) deep += "<a>";
  for (int i = 0; i < kDepth; ++i) deep += "</a>";
  EXPECT_EQ(ParseIr(deep + "</net>", std::nullopt).graph().input_size(), 1);
}

TEST(IrHostile, ManyLayersOfOneNameAreRenamedInLinearTime) {
  IrText ir;
  ir.Parameter("x", "2");
  for (int i = 0; i < 20000; ++i) ir.Add("ReLU", "opset1", "", {{0, 0}}, 1, "x");
  const ModelProto model = ir.Parse();
  EXPECT_EQ(model.graph().node(19999).output(0), "x_20000");
}

TEST(IrHostile, LongTextsAreCutInMessages) {
  IrText ir("12");
  EXPECT_THAT(ParseMessage(fmt::format("<net version=\"{}\"/>", std::string(5000, 'v'))),
              ::testing::SizeIs(::testing::Lt(200u)));
  IrText many;
  for (int i = 0; i < 150; ++i) many.Add("Nope", "opset1", "", {}, 1);
  EXPECT_THAT(IrMessage<Unsupported>([&] { many.Parse(); }), EndsWith("layer 99 \"l99\" (Nope, opset1); and 50 more"));
}

TEST(IrHostile, Files) {
  const std::filesystem::path dir =
      std::filesystem::temp_directory_path() / fmt::format("onnxseq_ir_{}", std::random_device()());
  std::filesystem::create_directories(dir);
  const std::string xml = (dir / "m.xml").string();
  EXPECT_THAT(IrMessage<IoError>([&] { ReadIr(xml); }), HasSubstr(xml));
  IrText ir;
  ir.Result(ir.Ints({1}, "c"));
  std::ofstream(xml) << ir.Xml();
  EXPECT_THAT(
      IrMessage<ModelParseError>([&] { ReadIr(xml); }),
      EndsWith("layer 0 \"c\" (Const): is a Const, and there is no file with weights (.bin) in \"" + xml + "\""));
  std::ofstream((dir / "m.bin").string()) << "1234";
  EXPECT_THAT(IrMessage<ModelParseError>([&] { ReadIr(xml); }),
              EndsWith("layer 0 \"c\" (Const): needs bytes 0 to 8 of the weights, which have 4 in \"" + xml + "\""));
  std::ofstream((dir / "m.bin").string()) << "12345678";
  EXPECT_EQ(ReadIr(xml).graph().initializer_size(), 1);
  std::filesystem::remove_all(dir);
}

// Bytes of a good file changed, cut, doubled: any outcome but a crash will do.
TEST(IrHostile, DamagedFiles) {
  std::ifstream file(ONNXSEQ_TEST_DATA "/ir/onnx_lstm_P.xml", std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(file)), {});
  ASSERT_GT(good.size(), 1000u);
  std::ifstream bin(ONNXSEQ_TEST_DATA "/ir/onnx_lstm_P.bin", std::ios::binary);
  const Bytes weights(std::string((std::istreambuf_iterator<char>(bin)), {}));
  std::mt19937 random(7);
  int read = 0, refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bad = good;
    for (int k = 0; k <= i % 3; ++k) {
      const size_t at = random() % bad.size(), length = random() % 20;
      switch (random() % 3) {
        case 0:
          bad[at] = static_cast<char>(random());
          break;
        case 1:
          bad.erase(at, length);
          break;
        default:
          bad.insert(at, bad.substr(random() % bad.size(), length));
          break;
      }
    }
    try {
      ParseIr(bad, weights);
      ++read;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(read, 50);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
