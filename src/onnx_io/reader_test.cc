// SPDX-License-Identifier: Apache-2.0
#include "onnx_io/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/mapped_file.h"
#include "onnx_io/writer.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kModel = ONNXSEQ_TEST_DATA "/wire/sequence_map.onnx";

std::string Error(std::string_view bytes) {
  try {
    ParseModel(bytes, nullptr);
  } catch (const ModelParseError& e) {
    return e.what();
  }
  return "no error";
}

class ReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "onnxseq_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(ReaderTest, ReadsWithoutCopyingAndWritesTheSameBytes) {
  const ModelProto model = ReadModel(kModel);
  EXPECT_EQ(model.producer_name(), "onnxseq");
  EXPECT_EQ(model.graph().node(0).attribute(0).g().node(0).op_type(), "Add");
  const Bytes& raw = model.graph().initializer(0).raw_data();
  EXPECT_EQ(raw.size(), 24u);
  // The mapping itself owns the bytes: the raw data starts inside it.
  const auto into = raw.data() - static_cast<const char*>(raw.owner().get());
  EXPECT_GT(into, 0);
  EXPECT_LT(into, static_cast<std::ptrdiff_t>(fs::file_size(kModel)));
  const MappedFile file = MapFile(kModel);
  EXPECT_EQ(SerializeModel(model), file.bytes);
  EXPECT_EQ(ParseModel(file.bytes, nullptr), model);
}

TEST_F(ReaderTest, WritesOverTheFileItWasReadFrom) {
  const std::string path = (folder_ / "m.onnx").string();
  fs::copy(kModel, path);
  ModelProto model = ReadModel(path);
  model.set_producer_version("2");
  WriteModel(model, path);
  EXPECT_EQ(ReadModel(path), model);
  EXPECT_EQ(model.graph().initializer(0).raw_data(), ReadModel(kModel).graph().initializer(0).raw_data());
}

TEST_F(ReaderTest, ErrorsNameThePath) {
  const std::string path = (folder_ / "m.onnx").string();
  try {
    ReadModel(path);
    FAIL();
  } catch (const IoError& e) {
    EXPECT_EQ(std::string(e.what()), "cannot open \"" + path + "\": No such file or directory");
  }
  std::ofstream(path).flush();
  try {
    ReadModel(path);
    FAIL();
  } catch (const ModelParseError& e) {
    EXPECT_EQ(std::string(e.what()), "byte 0: not an ONNX model: it is empty in \"" + path + "\"");
  }
  EXPECT_THROW(WriteModel(ModelProto(), (folder_ / "none" / "m.onnx").string()), IoError);
}

TEST_F(ReaderTest, KnowsWhatIsNoModel) {
  const std::pair<std::string, std::string> cases[] = {
      {"\x1f\x8b\x08\x00"s, "it is a gzip archive; unpack it first"},
      {"PK\x03\x04\x14"s, "it is a zip archive; unpack it first"},
      {"PK\x03\x04" + std::string(26, '\0') + "w.npy", "it is an archive of numpy arrays (.npz)"},
      {"PK\x03\x04" + std::string(26, '\0') + "net/data.pkl",
       "it is a PyTorch checkpoint (pickled Python objects); export the model with torch.onnx.export"},
      {"\x80\x02\x8a\nl\xfc\x9c"s,
       "it is a PyTorch checkpoint (pickled Python objects); export the model with torch.onnx.export"},
      {"\x1c\0\0\0TFL3"s, "it is a TensorFlow Lite model"},
      {"\x10\0\0\0\0\0\0\0{\"w\":"s, "it is a safetensors file"},
      {"hello world", "it is text"},
      {"Betty bought a bit of butter", "it is text"},
      {"g (float x) => (float y) { y = Neg (x) }", "it is text; ONNX text is read from a file named .onnxtxt"},
      {"{ \"graph\": 1}", "it is JSON"},
      {"BZh91AY", "it is a bzip2 archive; unpack it first"},
      {"\xfd"
       "7zXZ\x00"s,
       "it is an xz archive; unpack it first"},
      {"\x28\xb5\x2f\xfd\x00"s, "it is a zstd archive; unpack it first"},
      {"\x89"
       "HDF\r\n\x1a\n",
       "it is an HDF5 file"},
      {"\x93NUMPY\x01", "it is a numpy array"},
      {"GGUF\x03", "it is a GGUF file"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
       "it is a Git LFS pointer, not the file it points to; run `git lfs pull`"},
      {"\n <!DOCTYPE HTML><html>", "it is a web page (HTML), perhaps a failed download"},
      {"<HTML lang=en>", "it is a web page (HTML), perhaps a failed download"},
      {"\xef\xbb\xbf<?xml version=\"1.0\"?><net/>",
       "it is XML, which OpenVINO IR is; give it as a .xml file with its .bin beside it"},
      {"<net name=\"a\" version=\"11\">",
       "it is XML, which OpenVINO IR is; give it as a .xml file with its .bin beside it"},
      {"{\"graph\": 1}", "it is JSON"},
      {"", "it is empty"}};
  for (const auto& [bytes, what] : cases) EXPECT_EQ(Error(bytes), "byte 0: not an ONNX model: " + what);
}

TEST_F(ReaderTest, NoiseAndMissingGraph) {
  EXPECT_EQ(Error("\x08\x02\x6c"),
            "byte 2: not an ONNX model, or a damaged one: field 13 ends a group that never began");
  EXPECT_EQ(Error("\x08\x08"),
            "byte 0: not an ONNX model: there is no graph in it (a tensor or another part of a model, perhaps)");
}

TEST_F(ReaderTest, EveryPrefixIsReadOrRefused) {
  const MappedFile file = MapFile(kModel);
  for (size_t size = 0; size < file.bytes.size(); ++size) {
    const std::string message = Error(file.bytes.substr(0, size));
    if (message == "no error") continue;
    EXPECT_TRUE(message.find("truncated") != std::string::npos ||
                message.find("not an ONNX model") != std::string::npos)
        << message;
  }
}

TEST_F(ReaderTest, OtherMessages) {
  TensorProto tensor;
  tensor.add_dims(2);
  tensor.set_data_type(TensorProto::FLOAT);
  tensor.set_raw_data(std::string(8, '\0'));
  SequenceProto sequence;
  sequence.set_elem_type(SequenceProto::TENSOR);
  *sequence.add_tensor_values() = tensor;
  OptionalProto optional;
  *optional.mutable_sequence_value() = sequence;
  EXPECT_EQ(ParseMessage<TensorProto>(tensor.SerializeAsString(), nullptr), tensor);
  EXPECT_EQ(ParseMessage<SequenceProto>(sequence.SerializeAsString(), nullptr), sequence);
  EXPECT_EQ(ParseMessage<OptionalProto>(optional.SerializeAsString(), nullptr), optional);
  EXPECT_EQ(ParseMessage<TensorProto>("", nullptr), TensorProto());
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
