// SPDX-License-Identifier: Apache-2.0
// Models to OpenVINO IR and back.
#include "runtime/save_ir.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "onnxseq/model_io.h"
#include "openvino_io/ir_reader.h"
#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> IrFilesOf(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(ONNXSEQ_TEST_DATA "/" + folder))
    if (entry.path().extension() == ".xml") names.push_back(entry.path());
  std::ranges::sort(names);
  return names;
}

// Their order says nothing.
ModelProto WithSortedInitializers(ModelProto model) {
  std::vector<TensorProto> tensors(model.graph().initializer().begin(), model.graph().initializer().end());
  std::ranges::sort(tensors, {}, [](const TensorProto& tensor) { return std::string(tensor.name()); });
  model.mutable_graph()->clear_initializer();
  for (TensorProto& tensor : tensors) *model.mutable_graph()->add_initializer() = std::move(tensor);
  return model;
}

std::string FileText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

ModelProto FromGraphText(std::string_view graph, int opset = 17) {
  return ParseModelText("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
                        ", \"ai.onnx.ml\" : 3, \"org.openvinotoolkit\" : 1, \"my\" : 1]>\n" + std::string(graph));
}
std::string Xml(std::string_view graph, int opset = 17) { return ToIr(FromGraphText(graph, opset)).xml; }
ModelProto Read(const IrFiles& files) { return ParseIr(files.xml, Bytes(files.bin)); }
std::string Refusal(std::string_view graph, int opset = 17, bool lower = false) {
  constexpr std::string_view kPrefix = "OpenVINO IR cannot say this model: ";
  const std::string text =
      ThrownBy<Unsupported>([&] { ToIr(FromGraphText(graph, opset), {.lower = lower, .version = 11}); });
  return text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : "not a refusal: " + text;
}

// The types of the layers, in order, but for those at the ends.
std::vector<std::string> Layers(const std::string& xml) {
  std::vector<std::string> types;
  for (size_t at = 0; (at = xml.find("<layer ", at)) != std::string::npos; ++at) {
    const size_t begin = xml.find("type=\"", at) + 6, end = xml.find('"', begin);
    const std::string type = xml.substr(begin, end - begin);
    if (type != "Parameter" && type != "Result" && type != "Const") types.push_back(type);
  }
  return types;
}

TEST(SaveIr, WhatIsReadIsWrittenAsItWas) {
  int count = 0;
  for (const char* folder : {"ir", "ir_bodies", "ir_layers"}) {
    for (const std::string& file : IrFilesOf(folder)) {
      const ModelProto model = WithSortedInitializers(ReadModelFile(file));
      const bool old = FileText(file).find("version=\"10\"") != std::string::npos;
      EXPECT_EQ(WithSortedInitializers(Read(ToIr(model, {.lower = false, .version = old ? 10 : 11}))), model) << file;
      ++count;
    }
  }
  EXPECT_GE(count, 25);
}

TEST(SaveIr, AttributesOfLayersStayAsTheyAreSpelled) {
  const std::string xml = ToIr(ReadModelFile(ONNXSEQ_TEST_DATA "/ir/lstm_attrs.xml")).xml;
  for (const char* text :
       {"activations=\"relu, tanh, sigmoid\"", "activations_alpha=", "clip=\"3\"", "name=\"LSTMSequence_165\""})
    EXPECT_THAT(xml, HasSubstr(text));
}

TEST(SaveIr, WhatWasChangedIsNotWrittenAsItWas) {
  ModelProto model = ReadModelFile(ONNXSEQ_TEST_DATA "/ir/onnx_lstm_P.xml");
  NodeProto& node = *model.mutable_graph()->mutable_node(0);
  ASSERT_EQ(node.op_type(), "Transpose");
  node.set_op_type("Identity");
  node.clear_attribute();
  EXPECT_THAT(Layers(ToIr(model).xml), Not(ElementsAre("Transpose")));
  const ModelProto again = Read(ToIr(model));
  EXPECT_NE(again.graph().node(0).op_type(), "Transpose");
}

TEST(SaveIr, EqualModelsGiveEqualTexts) {
  const ModelProto model = ReadModelFile(ONNXSEQ_TEST_DATA "/ir/two_lstm_shared_transpose.xml");
  const IrFiles once = ToIr(model), twice = ToIr(ModelProto(model));
  EXPECT_EQ(once.xml, twice.xml);
  EXPECT_EQ(once.bin, twice.bin);
}

TEST(SaveIr, FilesArePairs) {
  const fs::path folder = fs::path(testing::TempDir()) / ("onnxseq_save_ir_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string path = (folder / "m.xml").string();
  const ModelProto model = FromGraphText("g (float[2] x) => (float[2] y) <float[2] c = {1, 2}> { y = Add(x, c) }");
  WriteModelFile(model, path);
  EXPECT_EQ(FileText(folder / "m.xml"), ToIr(model).xml);
  EXPECT_EQ(FileText(folder / "m.bin"), ToIr(model).bin);
  // Over the files it is mapped from.
  WriteModelFile(ReadModelFile(path), path);
  EXPECT_THAT(Floats(Session::Load(path).Run({{"x", Vec({10, 20})}}).at("y")), ElementsAre(11, 22));
  WriteModelFile(model, path, {.external_bytes = {}, .lower = false, .ir_version = 10});
  EXPECT_THAT(FileText(folder / "m.xml"), HasSubstr("<net name=\"g\" version=\"10\">"));
  EXPECT_EQ(ThrownBy<InvalidArgument>(
                [&] { WriteModelFile(model, path, {.external_bytes = {}, .lower = false, .ir_version = 9}); }),
            "OpenVINO IR version 9: 10 and 11 are written");
  EXPECT_THAT(ThrownBy<IoError>([&] { WriteModelFile(model, (folder / "none" / "m.xml").string()); }),
              HasSubstr("none"));
  fs::remove_all(folder);
}

TEST(SaveIr, ConstantsAreSharedByContent) {
  const IrFiles files =
      ToIr(FromGraphText("g (float[2] x) => (float[2] y, float z, float[0] e) <float[2] a = {1, 2}, float[2] b = {1, "
                         "2}, float s = {3}, float[0] n = {}> "
                         "{ t = Add(x, a) y = Mul(t, b) z = Identity(s) e = Identity(n) }"));
  EXPECT_EQ(files.bin.size(), 129u);  // two numbers, one, and the byte that stands for none, 64 apart
  EXPECT_THAT(files.xml, HasSubstr("element_type=\"f32\" shape=\"\" offset="));
  EXPECT_THAT(files.xml, HasSubstr("element_type=\"f32\" shape=\"0\" offset=\"128\" size=\"1\""));
}

TEST(SaveIr, NamesTypesAndDims) {
  const std::string xml =
      Xml("g (float16[N,3,?] \"a,b\", bool c) => (float16[N,3,M] y) { y = Relu(\"a,b\") unused = Not(c) }");
  EXPECT_THAT(xml, HasSubstr("<data shape=\"?,3,?\" element_type=\"f16\" />"));
  EXPECT_THAT(xml, HasSubstr("names=\"a\\,b\""));
  EXPECT_THAT(xml, HasSubstr("<data shape=\"\" element_type=\"boolean\" />"));
  EXPECT_THAT(xml, HasSubstr("precision=\"FP16\" names=\"y\""));
}

TEST(SaveIr, BoundsAndRuntimeInformationStay) {
  const std::string before =
      "<?xml version=\"1.0\"?><net name=\"n\" version=\"11\"><layers><layer id=\"0\" name=\"x\" type=\"Parameter\" "
      "version=\"opset1\"><data shape=\"1..8,2..,4\" element_type=\"f32\"/><output><port id=\"0\" "
      "precision=\"FP32\"><rt_info>"
      "<attribute name=\"layout\" version=\"0\" layout=\"[N,T,C]\"/></rt_info></port></output></layer><layer id=\"1\" "
      "name=\"r\" "
      "type=\"ReLU\" version=\"opset1\"><rt_info><attribute name=\"fused\" version=\"0\"/></rt_info><input><port "
      "id=\"0\"/></input><output>"
      "<port id=\"1\" precision=\"FP32\"/></output></layer><layer id=\"2\" name=\"y\" type=\"Result\" "
      "version=\"opset1\"><input><port "
      "id=\"0\"/></input></layer></layers><edges><edge from-layer=\"0\" from-port=\"0\" to-layer=\"1\" "
      "to-port=\"0\"/><edge from-layer=\"1\" "
      "from-port=\"1\" to-layer=\"2\" to-port=\"0\"/></edges><rt_info><author value=\"me\"/></rt_info></net>";
  const ModelProto model = ParseIr(before, {});
  const IrFiles files = ToIr(model);
  for (const char* text : {"1..8,2..,4", "layout=\"[N,T,C]\"", "<attribute name=\"fused\"", "<author value=\"me\""})
    EXPECT_THAT(files.xml, HasSubstr(text));
  EXPECT_EQ(Read(files), model);
}

TEST(SaveIr, OutputsThatAreInputsOrTwiceTheSame) {
  const IrFiles files =
      ToIr(FromGraphText("g (float[2] x) => (float[2] a, float[2] b) { t = Neg(x) a = Identity(t) b = Identity(x) }"));
  EXPECT_THAT(files.xml, HasSubstr("output_names=\"a\""));
  const ValueMap outputs = Session::FromModel(Read(files)).Run({{"x", Vec({1, 2})}});
  EXPECT_THAT(Floats(outputs.at("a")), ElementsAre(-1, -2));
  EXPECT_THAT(Floats(outputs.at("b")), ElementsAre(1, 2));
}

TEST(SaveIr, LayersOfRecurrentOperators) {
  const std::string text =
      "g (float[T,N,3] x) => (float[T,D,N,2] y) <float[1,8,3] w = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
      "0, 0, 0, 0, 0, 0, 0}, "
      "float[1,8,2] r = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}> { y = LSTM<hidden_size = 2>(x, w, r) }";
  EXPECT_THAT(Layers(Xml(text)), ElementsAre("Transpose", "ShapeOf", "Gather", "Gather", "Broadcast", "Gather",
                                             "Concat", "Broadcast", "LSTMSequence", "Transpose"));
  // With sizes nothing is left to compute.
  std::string fixed = text;
  fixed.replace(fixed.find("[T,N,3]"), 7, "[5,4,3]");
  EXPECT_THAT(Layers(Xml(fixed)), ElementsAre("Transpose", "LSTMSequence", "Transpose"));
}

TEST(SaveIr, BranchesThatNeverRunAreLeftOut) {
  const std::string xml = Xml(
      "g (float[2,3] x) => (float[2,3] y) { one = Constant<value_int = 1>() n = Shape(x) r = Size(n) c = Less(r, one) "
      "y = If(c)<then_branch = a () => (float[M] p) { p = SequenceAt(x, one) }, else_branch = b () => (float[M] q) { q "
      "= Neg(x) }> }");
  EXPECT_THAT(Layers(xml), testing::Contains("Negative"));
  EXPECT_THAT(Layers(xml), Not(testing::Contains("If")));
}

TEST(SaveIr, WhatIrCannotSayIsRefused) {
  EXPECT_EQ(Refusal("g (float[2] x) => (seq(float[2]) s) { [make] s = SequenceConstruct(x) }"),
            "SequenceConstruct node \"make\": IR has no layer for it; graph output \"s\": is a sequence, IR has "
            "tensors only");
  EXPECT_EQ(Refusal("g (optional(float[2]) x) => (bool y) { y = OptionalHasElement(x) }", 18),
            "graph input \"x\": is an optional, IR has tensors only; OptionalHasElement: IR has no layer for it");
  EXPECT_EQ(Refusal("g (complex64[2] x) => (complex64[2] y) { y = Identity(x) }"),
            "graph input \"x\": IR has no element type complex64");
  EXPECT_EQ(Refusal("g (float[2] x) => (string[2] y) { [cast] y = Cast<to = 8>(x) }"),
            "Cast node \"cast\", attribute 'to': Convert gives no strings");
  EXPECT_EQ(Refusal("g (string[2] x) => (string[2] y) { y = StringNormalizer(x) }"),
            "StringNormalizer: IR has no layer for it");
  EXPECT_EQ(
      Refusal("g (float[1,2] x) => (float[1,2] y) { [s] y = ai.onnx.ml.Scaler<offset = [0.0], scale = [1.0]>(x) }"),
      "Scaler node \"s\": IR has no layer for it (domain ai.onnx.ml)");
  EXPECT_EQ(Refusal("g (float[2] x) => (float[2] y) { [odd] y = Relu<slope = 1>(x) }"),
            "Relu node \"odd\", attribute 'slope': no attribute of the layer says this");
  EXPECT_EQ(Refusal("g (float[2] x) => (float[2] y) <float[2] x = {1, 2}> { y = Relu(x) }"),
            "graph input \"x\": it has a default, which no input of IR has; lowering makes it a constant");
  EXPECT_EQ(Refusal("g (float[2] x, bool c) => (float[2] y) { [if] y = If(c)<then_branch = a () => (float[2] p) { "
                    "[bad] p = Hardmax(x) }, "
                    "else_branch = b () => (float[2] q) { q = Neg(x) }> }"),
            "Hardmax node \"bad\": IR has no layer for it in body 'a'");
}

TEST(SaveIr, AnEmptyGraphIsRefused) {
  EXPECT_EQ(ThrownBy<Unsupported>([] { ToIr(FromGraphText("g () => () {}")); }),
            "OpenVINO IR cannot say a graph without inputs, nodes and outputs");
}

TEST(SaveIr, WhatSequencesCannotSayIsRefused) {
  const auto lstm = [](const std::string& attributes, const std::string& more, bool lower = false) {
    return Refusal(
        "g (float[5,4,3] x, float[2,8,3] w, float[2,8,2] r, float[2,6] p) => (float[T,D,N,2] y) { [l] y = "
        "LSTM<hidden_size = 2, direction = \"bidirectional\"" +
            attributes + ">(x, w, r" + more + ") }",
        17, lower);
  };
  EXPECT_EQ(lstm("", ", , , , , p"),
            "LSTM node \"l\", input 7 'P': LSTMSequence of opset5 has no peepholes; lowering writes a loop");
  EXPECT_EQ(
      lstm(", input_forget = 1", ""),
      "LSTM node \"l\", attribute 'input_forget': LSTMSequence does not couple its gates; lowering writes a loop");
  EXPECT_EQ(lstm(", activations = [\"HardSigmoid\", \"Tanh\", \"Tanh\", \"Sigmoid\", \"Tanh\", \"Tanh\"]", ""),
            "LSTM node \"l\", attribute 'activations': LSTMSequence knows Sigmoid, Tanh and Relu, not \"hardsigmoid\"; "
            "lowering writes a loop");
  const std::string two = ", activations = [\"Sigmoid\", \"Tanh\", \"Tanh\", \"Sigmoid\", \"Relu\", \"Tanh\"]";
  EXPECT_EQ(lstm(two, ""),
            "LSTM node \"l\", attribute 'activations': LSTMSequence has one set for both directions; "
            "lowering writes it as other layers");
  // With lowering nothing of this is in the way.
  EXPECT_EQ(lstm(two, "", true), "not a refusal: nothing thrown");
  EXPECT_EQ(lstm(", input_forget = 1", ", , , , , p", true), "not a refusal: nothing thrown");
  EXPECT_EQ(Refusal("g (float[1,2,3] x, float[1,1,2] h, float[1,1,2] c, int32[1] l, float[1,8,3] w, float[1,8,2] r, "
                    "float[1,8] b, float[1,6] p) => (float[1,1,2,2] y) "
                    "{ [s] y = org.openvinotoolkit.LSTMSequence<hidden_size = 2>(x, h, c, l, w, r, b, p) }"),
            "LSTMSequence node \"s\": LSTMSequence of opset5 has neither peepholes nor input_forget");
}

TEST(SaveIr, OfHostileModelsNothingLargeIsMade) {
  EXPECT_EQ(Refusal("g (float[5,4,3] x, float[1,8,3] w, float[1,8,2] r) => (float[T,D,N,2] y) { [l] y = "
                    "LSTM<hidden_size = 1000000000000>(x, w, r) }"),
            "LSTM node \"l\", attribute 'hidden_size': must be known and at most 65536");
  const IrFiles files =
      ToIr(FromGraphText("g (float[5,1000000000,3] x, float[1,8,3] w, float[1,8,2] r) => (float[T,D,N,2] y) { y = "
                         "LSTM<hidden_size = 2>(x, w, r) }"));
  EXPECT_LT(files.bin.size(), 10000u);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
