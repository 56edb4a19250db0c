// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "onnxseq/model_io.h"
#include "onnxseq/shapes.h"
#include "runtime/runtime_test_util.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Tests of one binary may run at the same time.
std::filesystem::path OwnFolder(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / (name + "_" + std::to_string(getpid()));
}

ModelProto Small() {
  return ParseModelText("<ir_version: 8, opset_import: [\"\" : 17]> g (float[N] x) => (float[N] y) { [n] y = Neg(x) }");
}
template <class E>
std::string LoadError(const std::function<void(ModelProto&)>& edit) {
  ModelProto model = Small();
  edit(model);
  return ThrownBy<E>([&] { Session::FromModel(std::move(model)); });
}

TEST(LoadingTest, VersionsNewerThanKnown) {
  EXPECT_EQ(LoadError<Unsupported>([](ModelProto& m) { m.set_ir_version(999); }),
            "the model has IR version 999, this build reads up to 14");
  EXPECT_EQ(LoadError<Unsupported>([](ModelProto& m) { m.mutable_opset_import(0)->set_version(999); }),
            "the model imports ai.onnx version 999, this build reads up to 28");
  EXPECT_EQ(LoadError<Unsupported>([](ModelProto& m) {
              m.mutable_opset_import(0)->set_domain("ai.onnx");
              m.mutable_opset_import(0)->set_version(29);
            }),
            "the model imports ai.onnx version 29, this build reads up to 28");
  EXPECT_EQ(LoadError<Unsupported>([](ModelProto& m) { m.set_ir_version(INT64_MAX); }),
            "the model has IR version 9223372036854775807, this build reads up to 14");
  EXPECT_EQ(LoadError<InvalidArgument>([](ModelProto& m) { m.mutable_opset_import(0)->set_version(0); }),
            "the model imports ai.onnx version 0");
  EXPECT_EQ(LoadError<InvalidArgument>([](ModelProto& m) { m.mutable_opset_import(0)->set_version(-3); }),
            "the model imports ai.onnx version -3");
  EXPECT_EQ(LoadError<InvalidArgument>([](ModelProto& m) { m.clear_opset_import(); }),
            "the model imports no operator set");
  EXPECT_EQ(LoadError<InvalidArgument>([](ModelProto& m) { m.clear_graph(); }), "the model has no graph");
  EXPECT_THAT(LoadError<Unsupported>([](ModelProto& m) {
                m.set_ir_version(2);
                m.clear_opset_import();
              }),
              testing::AnyOf(HasSubstr("Neg of ai.onnx 1"), HasSubstr("nothing thrown")));
}

TEST(LoadingTest, ThreadsAreNotNegative) {
  SessionOptions options;
  options.threads = -1;
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { Session::FromModel(Small(), options); }),
            "threads = -1, expected 0 or more");
}

TEST(LoadingTest, AllOperatorsThatCannotRunAtOnce) {
  EXPECT_EQ(ThrownBy<Unsupported>([] {
              FromText(
                  "g (float[N] x) => (float[N] y) { [a] t = LSTMM(x) [b] u = LSTMM(t) v = other.Foo(u) w = my.Bar(v) y "
                  "= Neg(w) }");
            }),
            "3 operators cannot run: LSTMM of ai.onnx 17 (node \"a\"), Foo of other, which the model does not import, "
            "Bar of my 1");
  EXPECT_EQ(LoadError<Unsupported>([](ModelProto& m) { m.mutable_graph()->mutable_node(0)->set_op_type("Nothing"); }),
            "1 operator cannot run: Nothing of ai.onnx 17 (node \"n\")");
  EXPECT_EQ(LoadError<Unsupported>([](ModelProto& m) { m.mutable_graph()->mutable_node(0)->clear_op_type(); }),
            "1 operator cannot run: a node without operator of ai.onnx 17 (node \"n\")");
}

TEST(LoadingTest, OperatorsOfOtherVersionsAreSaidSo) {
  EXPECT_EQ(ThrownBy<Unsupported>([] {
              Session::FromModel(ParseModelText(
                  "<ir_version: 8, opset_import: [\"\" : 9]> g (seq(float) s) => (int64 n) { n = SequenceLength(s) }"));
            }),
            "1 operator cannot run: SequenceLength of ai.onnx 9, known in other versions only");
}

TEST(LoadingTest, NodesAgainstTheirOperator) {
  EXPECT_EQ(LoadError<InvalidArgument>([](ModelProto& m) {
              AttributeProto& attribute = *m.mutable_graph()->mutable_node(0)->add_attribute();
              attribute.set_name("alpha");
              attribute.set_type(AttributeProto::INT);
            }),
            "Neg node \"n\", attribute 'alpha': is not known to this operator");
  EXPECT_EQ(LoadError<InvalidArgument>([](ModelProto& m) { m.mutable_graph()->mutable_node(0)->clear_input(); }),
            "Neg node \"n\", input 0 'X': is required");
  EXPECT_EQ(LoadError<InvalidArgument>([](ModelProto& m) { m.mutable_graph()->mutable_node(0)->add_input("x"); }),
            "Neg node \"n\": takes at most 1 inputs, got 2");
  EXPECT_THAT(ThrownBy<InvalidArgument>(
                  [] { FromText("g () => (seq(float) s) { [e] s = SequenceEmpty <dtype: float = 1>() }"); }),
              HasSubstr("SequenceEmpty node \"e\", attribute 'dtype': must be an int, is a float"));
}

TEST(LoadingTest, GraphsThatHangTogetherWrongly) {
  EXPECT_EQ(
      LoadError<InvalidArgument>([](ModelProto& m) { *m.mutable_graph()->mutable_node(0)->mutable_input(0) = "q"; }),
      "Neg node \"n\", input 0 (\"q\"): is not produced by any node, input or initializer");
  EXPECT_EQ(
      LoadError<InvalidArgument>([](ModelProto& m) { *m.mutable_graph()->mutable_node(0)->mutable_input(0) = "y"; }),
      "the graph has a cycle: Neg node \"n\" -> Neg node \"n\"");
  EXPECT_EQ(LoadError<InvalidArgument>([](ModelProto& m) { m.mutable_graph()->mutable_output(0)->set_name("z"); }),
            "graph output \"z\": is not produced");
}

TEST(LoadingTest, DataOfInitializers) {
  EXPECT_EQ(LoadError<InvalidArgument>([](ModelProto& m) {
              TensorProto& tensor = *m.mutable_graph()->add_initializer();
              tensor.set_name("w");
              tensor.set_data_type(TensorProto::FLOAT);
              tensor.add_dims(4);
              tensor.set_raw_data("1234");
            }),
            "tensor \"w\": has 4 bytes of raw_data, tensor(float)[4] needs 16");
  EXPECT_EQ(LoadError<Unsupported>([](ModelProto& m) {
              TensorProto& tensor = *m.mutable_graph()->add_initializer();
              tensor.set_name("w");
              tensor.set_data_type(TensorProto::FLOAT);
              tensor.set_data_location(TensorProto::EXTERNAL);
            }),
            "tensor \"w\": has its data in an external file, which was not read: a model from memory needs "
            "the folder of it (data_folder)");
  ModelProto model = Small();
  SparseTensorProto& sparse = *model.mutable_graph()->add_sparse_initializer();
  *sparse.mutable_values() = TensorToProto(Tensor::Of<float>(Shape{1}, {7}), "s");
  *sparse.mutable_indices() = TensorToProto(Tensor::Of<int64_t>(Shape{1}, {1}));
  sparse.add_dims(2);
  model.mutable_graph()->add_output()->set_name("s");
  EXPECT_THAT(Floats(Session::FromModel(model).Run({{"x", Vec({1})}}).at("s")), ElementsAre(0, 7));
}

TEST(LoadingTest, ConstantsAreComputedOnce) {
  const Session session = FromText(
      "g (float[N] x) => (float[N] y, float[2] d) { c = Constant <value = float[2] {1, 2}>() d = Neg(c) e = Add(d, d) "
      "y = Add(x, e) }");
  const ValueMap out = session.Run({{"x", Vec({0, 0})}});
  EXPECT_THAT(Floats(out.at("d")), ElementsAre(-1, -2));
  EXPECT_THAT(Floats(out.at("y")), ElementsAre(-2, -4));
}

TEST(LoadingTest, ConstantNodesThatFailWaitForTheRun) {
  const Session session = FromText(
      "g (float[N] x) => (float[N] y, z) <float[2] a = {1, 2}, float[3] b = {1, 2, 3}> { y = Neg(x) [bad] z = Add(a, "
      "b) }");
  EXPECT_THAT(ThrownBy<InvalidArgument>([&] { session.Run({{"x", Vec({1})}}); }),
              testing::StartsWith("Add node \"bad\""));
}

TEST(LoadingTest, FilesRoundTrip) {
  const std::filesystem::path folder = OwnFolder("onnxseq_loading_test");
  std::filesystem::create_directories(folder);
  const std::string path = folder / "small.onnx";
  WriteModelFile(Small(), path);
  EXPECT_EQ(ReadModelFile(path), Small());
  EXPECT_THAT(Floats(Session::Load(path).Run({{"x", Vec({1})}}).at("y")), ElementsAre(-1));
  std::string bytes;
  Small().SerializeToString(&bytes);
  EXPECT_THAT(Floats(Session::Parse(bytes).Run({{"x", Vec({2})}}).at("y")), ElementsAre(-2));
  EXPECT_THAT(ThrownBy<IoError>([&] { Session::Load((folder / "not_there.onnx").string()); }),
              HasSubstr("not_there.onnx"));
  EXPECT_THAT(ThrownBy<IoError>([&] { Session::Load((folder / "not_there.xml").string()); }),
              HasSubstr("not_there.xml"));
  EXPECT_THAT(ThrownBy<ModelParseError>([&] { Session::Parse("no model"); }), HasSubstr("byte"));
  std::filesystem::remove_all(folder);
}

// A model whose weights 1, 2 are in w.bin beside it.
class ExternalWeights : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = OwnFolder("onnxseq_external_weights");
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    model_ = ParseModelText(
        "<ir_version: 8, opset_import: [\"\" : 17]> g (float[N] x) => (float[N] y) <float[2] w = [\"location\": "
        "\"w.bin\"], int64[1] n = [\"location\": \"n.bin\"]> { y = Add(x, w) z = Reshape(y, n) }");
    Write("w.bin", std::string("\0\0\x80\x3f\0\0\0\x40", 8));
    Write("n.bin", std::string("\2\0\0\0\0\0\0\0", 8));
    Write("m.onnx", model_.SerializeAsString());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::string Path(const std::string& name) const { return folder_ / name; }
  std::filesystem::path folder_;
  ModelProto model_;
};

TEST_F(ExternalWeights, AreReadFromBesideTheModelOrTheGivenFolder) {
  EXPECT_THAT(Floats(Session::Load(Path("m.onnx")).Run({{"x", Vec({10, 20})}}).at("y")), ElementsAre(11, 22));
  const std::string bytes = model_.SerializeAsString();
  EXPECT_EQ(
      ThrownBy<Unsupported>([&] { Session::Parse(bytes); }),
      "tensor \"w\": has its data in an external file, which was not read: a model from memory needs the folder of "
      "it (data_folder)");
  SessionOptions options;
  options.data_folder = folder_;
  EXPECT_THAT(Floats(Session::Parse(bytes, options).Run({{"x", Vec({10, 20})}}).at("y")), ElementsAre(11, 22));
  options.data_folder = Path("none");
  EXPECT_EQ(ThrownBy<IoError>([&] { Session::Parse(bytes, options); }),
            "cannot open the folder \"" + Path("none") + "\": No such file or directory");
}

TEST_F(ExternalWeights, AreKeptByWhatWritesTheModelAsItWasRead) {
  ExternalDataReport report;
  const ModelProto read = ReadModelFile(Path("m.onnx"), &report);
  EXPECT_EQ(report.loaded, 2u);
  EXPECT_TRUE(report.missing.empty());
  EXPECT_EQ(AsRead(report).external_bytes, 1024);
  EXPECT_EQ(AsRead({}).external_bytes, std::nullopt);
  WriteModelFile(read, Path("o.onnx"), {.external_bytes = 8});
  EXPECT_EQ(ReadModelFile(Path("o.onnx")), read);
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { WriteModelFile(read, Path("o.onnx"), {.external_bytes = -1}); }),
            "external data from -1 bytes, but 0 is the least");
  std::filesystem::remove(Path("w.bin"));
  ReadModelFile(Path("m.onnx"), &report);
  EXPECT_EQ(report.loaded, 1u);
  EXPECT_THAT(report.missing, ElementsAre(HasSubstr("w.bin")));
  EXPECT_THAT(ThrownBy<IoError>([&] { ReadModelFile(Path("m.onnx")); }), HasSubstr("w.bin"));
}

TEST_F(ExternalWeights, InferenceReadsOnlySmallNumbers) {
  const auto shape = [&] {
    ExternalDataReport report;
    return InferShapes(ReadModelFile(Path("m.onnx"), &report)).graphs[0].values.at("z").ToString();
  };
  EXPECT_EQ(shape(), "tensor(float)[2]");
  std::filesystem::remove(Path("w.bin"));
  EXPECT_EQ(shape(), "tensor(float)[2]");
}

TEST_F(ExternalWeights, TextHoldsTheData) {
  WriteModelFile(ReadModelFile(Path("m.onnx")), Path("m.onnxtxt"));
  EXPECT_THAT(Floats(Session::Load(Path("m.onnxtxt")).Run({{"x", Vec({10, 20})}}).at("y")), ElementsAre(11, 22));
  Write("bad.onnxtxt", "g (float x) -> (y) {}");
  EXPECT_EQ(ThrownBy<ModelParseError>([&] { ReadModelFile(Path("bad.onnxtxt")); }),
            "byte 12: line 1, column 13: expected '=>', found '-' in \"" + Path("bad.onnxtxt") + "\"");
}

TEST(LoadingTest, ValueFiles) {
  const std::filesystem::path folder = OwnFolder("onnxseq_value_files");
  std::filesystem::create_directories(folder);
  const std::string path = folder / "input_0.pb";
  const auto write = [&](const auto& message) {
    std::string bytes;
    message.SerializeToString(&bytes);
    FILE* file = fopen(path.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    fwrite(bytes.data(), 1, bytes.size(), file);
    fclose(file);
  };
  write(TensorToProto(Tensor::Of<float>(Shape{2}, {1, 2}), "x"));
  EXPECT_THAT(Floats(ReadValueFile(path, ValueFileKind::kTensor)), ElementsAre(1, 2));
  write(SequenceToProto(Sequence({Tensor::Scalar<float>(1)})));
  EXPECT_EQ(ReadValueFile(path, ValueFileKind::kSequence).sequence().size(), 1);
  write(OptionalToProto({}));
  EXPECT_TRUE(ReadValueFile(path, ValueFileKind::kOptional).IsNone());
  TensorProto bad = TensorToProto(Tensor::Of<float>(Shape{2}, {1, 2}), "x");
  bad.add_dims(2);
  write(bad);
  EXPECT_EQ(ThrownBy<InvalidArgument>([&] { ReadValueFile(path, ValueFileKind::kTensor); }),
            "tensor \"x\": has 8 bytes of raw_data, tensor(float)[2,2] needs 16 in \"" + path + "\"");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
