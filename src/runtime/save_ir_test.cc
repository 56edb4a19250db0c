// SPDX-License-Identifier: Apache-2.0
// Models to OpenVINO IR and back.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/save_ir_test_util.h"
#include "values/tensor_proto.h"

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

// Their order says nothing, nor does that of nodes.
ModelProto Sorted(ModelProto model) {
  std::vector<TensorProto> tensors(model.graph().initializer().begin(), model.graph().initializer().end());
  std::ranges::sort(tensors, {}, [](const TensorProto& tensor) { return std::string(tensor.name()); });
  model.mutable_graph()->clear_initializer();
  for (TensorProto& tensor : tensors) *model.mutable_graph()->add_initializer() = std::move(tensor);
  std::vector<NodeProto> nodes(model.graph().node().begin(), model.graph().node().end());
  std::ranges::sort(nodes, {},
                    [](const NodeProto& node) { return std::string(node.name()) + " " + std::string(node.output(0)); });
  model.mutable_graph()->clear_node();
  for (NodeProto& node : nodes) *model.mutable_graph()->add_node() = std::move(node);
  return model;
}

std::string FileText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(SaveIr, WhatIsReadIsWrittenAsItWas) {
  int count = 0;
  for (const char* folder : {"ir", "ir_bodies", "ir_layers"}) {
    for (const std::string& file : IrFilesOf(folder)) {
      const ModelProto model = ReadModelFile(file);
      const bool old = FileText(file).find("version=\"10\"") != std::string::npos;
      EXPECT_EQ(Sorted(Read(ToIr(model, {.lower = false, .version = old ? 10 : 11}))), Sorted(model)) << file;
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
  EXPECT_EQ(ThrownBy<InvalidArgument>(
                [&] { WriteModelFile(model, "m.onnx", {.external_bytes = {}, .lower = false, .ir_version = 10}); }),
            "an IR version, 10, is of an OpenVINO IR, which \"m.onnx\" is not");
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

TEST(SaveIr, OutputsThatAreInputsKeepTheirNames) {
  const ModelProto model = FromGraphText(
      "g (float[2] x, float[2] z) => (float[2] x, float[2] y, float[2] a, float[2] b) { y = Identity(x) a = Neg(z) b = "
      "Identity(a) }");
  const IrFiles files = ToIr(model);
  // OpenVINO knows the input of one port by the name of the output otherwise.
  EXPECT_THAT(Layers(files.xml), ElementsAre("Negative", "Identity", "Identity"));
  EXPECT_THAT(files.xml, Not(HasSubstr("output_names")));
  std::vector<std::string> names;
  const ModelProto again = Read(files);
  for (const ValueInfoProto& info : again.graph().output()) names.push_back(info.name());
  EXPECT_THAT(names, ElementsAre("x", "y", "a", "b"));
  const ValueMap outputs = Session::FromModel(again).Run({{"x", Vec({1, 2})}, {"z", Vec({3, 4})}});
  EXPECT_THAT(Floats(outputs.at("x")), ElementsAre(1, 2));
  EXPECT_THAT(Floats(outputs.at("y")), ElementsAre(1, 2));
  EXPECT_THAT(Floats(outputs.at("b")), ElementsAre(-3, -4));
}

TEST(SaveIr, SparseConstantsBecomeDense) {
  // The branch that runs is known, and has one.
  ModelProto model = FromGraphText(
      "g (float[3] x) => (float[3] y, float[3] z) { one = Constant<value_int = 1>() n = Size(x) c = Less(one, n) y = "
      "If<then_branch = a () => (float[3] p) { p = Add(x, s) }, else_branch = b () => (float[3] q) { q = Neg(x) }>(c) "
      "z = Add(y, d) }");
  const auto add = [](GraphProto& graph, const char* name) {
    SparseTensorProto& sparse = *graph.add_sparse_initializer();
    *sparse.mutable_values() = TensorToProto(Tensor::Of<float>(Shape{1}, {7}), name);
    *sparse.mutable_indices() = TensorToProto(Tensor::Of<int64_t>(Shape{1}, {1}));
    sparse.add_dims(3);
  };
  add(*model.mutable_graph(), "d");
  for (NodeProto& node : model.mutable_graph()->node())
    for (AttributeProto& attribute : node.attribute())
      if (attribute.name() == "then_branch") add(attribute.ref_g(), "s");
  const ValueMap outputs = Session::FromModel(Read(ToIr(model))).Run({{"x", Vec({1, 2, 3})}});
  EXPECT_THAT(Floats(outputs.at("y")), ElementsAre(1, 9, 3));
  EXPECT_THAT(Floats(outputs.at("z")), ElementsAre(1, 16, 3));
}

TEST(SaveIr, ConstantsOfStrings) {
  const ModelProto again = Read(ToIr(FromGraphText(
      "g (string[2] x) => (bool[2] y, bool[2] z) { a = Constant<value_string = \"one\">() b = Constant<value_strings = "
      "[\"\", \"two\"]>() y = Equal(x, a) z = Equal(x, b) }",
      19)));
  const ValueMap outputs = Session::FromModel(again).Run({{"x", Tensor::Of<std::string>(Shape{2}, {"one", "two"})}});
  EXPECT_THAT(outputs.at("y").tensor().View<bool>(), ElementsAre(true, false));
  EXPECT_THAT(outputs.at("z").tensor().View<bool>(), ElementsAre(false, true));
}

TEST(SaveIr, StringsBeyondTheirNumbersAreRefused) {
  constexpr size_t size = size_t{1} << 31;
  const auto unmap = [](void* data) { munmap(data, size); };
  const std::shared_ptr<void> pages(mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
                                    unmap);
  ASSERT_NE(pages.get(), MAP_FAILED);
  ModelProto model = FromGraphText("g (string[1] x) => (bool[1] y) { y = Equal(x, s) }", 19);
  TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("s");
  tensor.set_data_type(TensorProto::STRING);
  tensor.add_dims(1);
  tensor.add_string_data(Bytes::Shared({static_cast<const char*>(pages.get()), size}, pages));
  EXPECT_EQ(Refusal(model), "Equal: IR has room for 2 GiB of strings in a constant, \"s\" has 2147483649 bytes");
}

TEST(SaveIr, TheIterationIsTheFirstParameterOfALoop) {
  const std::string xml =
      Xml("g (float[2] x, float[2] w) => (float[2] y, float[T,2] z) { n = Constant<value_int = 3>() y, u, z = "
          "Loop<body = b "
          "(int64 i, bool d, float[2] s, float[2] v) => (bool e, float[2] t, float[2] vs, float[2] o) { e = "
          "Identity(d) f = "
          "Cast<to = 1>(i) m = Mul(v, f) t = Add(s, m) vs = Identity(v) o = Identity(t) }>(n, \"\", x, w) }");
  const size_t layer = xml.find("type=\"Loop\""), body = xml.find("<body>", layer);
  EXPECT_EQ(xml.find("name=\"i\" type=\"Parameter\"", body), xml.find("name=", body));
}

TEST(SaveIr, WhatOpenVinoWouldSayOtherwise) {
  // Convert does not saturate, Cast does unless told.
  EXPECT_THAT(Layers(Xml("g (float[2] x) => (float8e4m3fn[2] y) { y = Cast<to = 17>(x) }", 19)),
              ElementsAre("Clamp", "Convert"));
  EXPECT_THAT(Layers(Xml("g (float[2] x) => (float8e5m2[2] y) { y = Cast<to = 19, saturate = 0>(x) }", 19)),
              ElementsAre("Convert"));
  EXPECT_THAT(Layers(Xml("g (float[2] x) => (float[2] y) { y = HardSigmoid<alpha = 0.0>(x) }")),
              ElementsAre("Multiply", "Add", "Clamp"));
  EXPECT_THAT(Layers(Xml("g (float[2,3,4] x, float[3] s) => (float[2,3,4] y) { y = PRelu(x, s) }", 6)),
              ElementsAre("Reshape", "PReLU"));
  EXPECT_THAT(Layers(Xml("g (float16 a, float16 b, float16 c) => (float16[N] y) { y = Range(a, b, c) }", 27)),
              ElementsAre("Convert", "Convert", "Convert", "Range", "Convert"));
  // Tile of repeats that are not constant.
  const IrFiles tile = ToIr(FromGraphText("g (float[1,2] x, int64[2] r) => (float[M,N] y) { y = Tile(x, r) }"));
  EXPECT_THAT(Layers(tile.xml), Not(testing::Contains("Tile")));
  const ValueMap tiled =
      Session::FromModel(Read(tile))
          .Run({{"x", Tensor::Of<float>(Shape{1, 2}, {1, 2})}, {"r", Tensor::Of<int64_t>(Shape{2}, {2, 2})}});
  EXPECT_THAT(Floats(tiled.at("y")), ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
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
