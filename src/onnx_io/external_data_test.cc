// SPDX-License-Identifier: Apache-2.0
#include "onnx_io/external_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/mapped_file.h"
#include "onnx_io/reader.h"
#include "onnx_io/test_util.h"
#include "onnx_io/text_parser.h"
#include "onnx_io/writer.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using ::testing::ElementsAre;

constexpr char kFloats[] = "\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40";  // 1, 2, 3, 4

using Entries = std::vector<std::pair<std::string, std::string>>;

void Refer(TensorProto& tensor, const Entries& entries) {
  tensor.set_data_location(TensorProto::EXTERNAL);
  for (const auto& [key, value] : entries) {
    StringStringEntryProto& entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
}

ModelProto WithTensor(const Entries& entries) {
  ModelProto model;
  TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(TensorProto::FLOAT);
  tensor.add_dims(4);
  Refer(tensor, entries);
  return model;
}

class ExternalDataTest : public FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    WriteFile("w.bin", std::string_view(kFloats, 16));
  }
  // What reading the model from NAME and then its data gives.
  ModelProto Load(const ModelProto& model, const std::string& name = "m.onnx") const {
    WriteFile(name, SerializeModel(model));
    return LoadFrom(Path(name));
  }
  static ModelProto LoadFrom(const std::string& path) {
    ModelProto read = ReadModel(path);
    LoadExternalData(read, DataFoldersOf(path));
    return read;
  }
  template <class E>
  std::string Error(const Entries& entries) const {
    return Thrown<E>([&] { Load(WithTensor(entries)); });
  }
  static std::vector<float> Values(const TensorProto& tensor) {
    const Tensor value = TensorFromProto(tensor);
    const auto view = value.View<float>();
    return {view.begin(), view.end()};
  }
};

TEST_F(ExternalDataTest, IsMappedOnceAndKeptAlive) {
  ModelProto model = WithTensor({{"location", "w.bin"}, {"offset", "4"}, {"length", "8"}, {"checksum", "wrong"}});
  model.mutable_graph()->mutable_initializer(0)->set_dims(0, 2);
  *model.mutable_graph()->add_initializer() = WithTensor({{"location", "./w.bin"}}).graph().initializer(0);
  Tensor kept;
  {
    const ModelProto loaded = Load(model);
    const TensorProto& first = loaded.graph().initializer(0);
    const TensorProto& second = loaded.graph().initializer(1);
    EXPECT_THAT(Values(first), ElementsAre(2, 3));
    EXPECT_THAT(Values(second), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(first.raw_data().data(), second.raw_data().data() + 4);
    EXPECT_FALSE(first.has_data_location());
    EXPECT_TRUE(first.external_data().empty());
    kept = TensorFromProto(first);
    EXPECT_TRUE(kept.IsBorrowed());
  }
  fs::remove(Path("w.bin"));
  EXPECT_THAT(kept.View<float>(), ElementsAre(2, 3));
}

TEST_F(ExternalDataTest, UnalignedDataIsCopied) {
  WriteFile("odd.bin", "x"s + std::string(kFloats, 16));
  const ModelProto loaded = Load(WithTensor({{"location", "odd.bin"}, {"offset", "1"}, {"length", "16"}}));
  EXPECT_THAT(Values(loaded.graph().initializer(0)), ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE(TensorFromProto(loaded.graph().initializer(0)).IsBorrowed());
}

TEST_F(ExternalDataTest, OffsetsPast4GiB) {
  const int64_t offset = (int64_t{5} << 30) + 12;
  WriteFile("big.bin", "");
  fs::resize_file(Path("big.bin"), static_cast<uintmax_t>(offset));  // a hole, which takes no space
  std::ofstream(Path("big.bin"), std::ios::binary | std::ios::app).write(kFloats, 16);
  const ModelProto loaded = Load(WithTensor({{"location", "big.bin"}, {"offset", std::to_string(offset)}}));
  EXPECT_THAT(Values(loaded.graph().initializer(0)), ElementsAre(1, 2, 3, 4));
}

TEST_F(ExternalDataTest, EveryPlaceATensorCanBe) {
  ModelProto model = ParseModelText(
      "<ir_version: 10, opset_import: [\"\" : 17, \"my\" : 1]> g (float x) => (float y) { y = my.F(x) z = If (x) "
      "<then_branch = b () => (float[4] q) { q = Constant <value = float[4] {0, 0, 0, 0}> () }>} "
      "<domain: \"my\", opset_import: [\"\" : 17]> F (a) => (b) { b = Constant <value = float[4] {0, 0, 0, 0}> () }");
  const TensorProto tensor = WithTensor({{"location", "w.bin"}}).graph().initializer(0);
  NodeProto& branch = *model.mutable_graph()->mutable_node(1);
  *branch.mutable_attribute(0)->mutable_g()->mutable_node(0)->mutable_attribute(0)->mutable_t() = tensor;
  *branch.mutable_attribute(0)->mutable_g()->add_initializer() = tensor;
  *model.mutable_functions(0)->mutable_node(0)->mutable_attribute(0)->mutable_t() = tensor;
  SparseTensorProto& sparse = *model.mutable_graph()->add_sparse_initializer();
  *sparse.mutable_values() = tensor;
  const ModelProto loaded = Load(model);
  const GraphProto& body = loaded.graph().node(1).attribute(0).g();
  for (const TensorProto* found :
       {&body.node(0).attribute(0).t(), &body.initializer(0), &loaded.functions(0).node(0).attribute(0).t(),
        &loaded.graph().sparse_initializer(0).values()})
    EXPECT_THAT(Values(*found), ElementsAre(1, 2, 3, 4));
}

TEST_F(ExternalDataTest, LocationsThatAreNoPlainPath) {
  const auto message = [](const std::string& location, const std::string& why) {
    return "tensor \"w\": has its data in \"" + location + "\", which " + why +
           "; it must be a plain path below the model's folder";
  };
  WriteFile("secret.bin", std::string_view(kFloats, 16));
  for (const auto& [location, why] : Entries{{Path("secret.bin"), "is absolute"},
                                             {"../secret.bin", "has \"..\" in it"},
                                             {"sub/../../secret.bin", "has \"..\" in it"},
                                             {"sub/..", "has \"..\" in it"},
                                             {"..\\secret.bin", "has a backslash in it"},
                                             {"C:secret.bin", "names a drive"},
                                             {"", "is empty"}})
    EXPECT_EQ(Error<InvalidArgument>({{"location", location}}), message(location, why));
  EXPECT_EQ(Error<InvalidArgument>({{"location", "w.bin\0x"s}}), message("w.bin", "has a NUL in it"));
}

TEST_F(ExternalDataTest, LinksLeadOutOfNeitherFolder) {
  WriteFile("outside/secret.bin", std::string_view(kFloats, 16));
  WriteFile("model/inside.bin", std::string_view(kFloats, 16));
  fs::create_symlink("../outside/secret.bin", Path("model/file.bin"));
  fs::create_directory_symlink("../outside", Path("model/folder"));
  fs::create_symlink("inside.bin", Path("model/fine.bin"));
  for (const std::string location : {"file.bin", "folder/secret.bin"}) {
    EXPECT_EQ(Thrown<InvalidArgument>([&] { Load(WithTensor({{"location", location}}), "model/m.onnx"); }),
              "tensor \"w\": has its data in \"" + location + "\", which leads out of the model's folder");
  }
  const ModelProto loaded = Load(WithTensor({{"location", "fine.bin"}}), "model/m.onnx");
  EXPECT_THAT(Values(loaded.graph().initializer(0)), ElementsAre(1, 2, 3, 4));
}

TEST_F(ExternalDataTest, CachesOfLinksLoad) {
  WriteFile("blobs/aaa", SerializeModel(WithTensor({{"location", "w.bin"}})));
  WriteFile("blobs/bbb", std::string_view(kFloats, 16));
  fs::create_directories(Path("snapshots/rev"));
  fs::create_symlink("../../blobs/aaa", Path("snapshots/rev/model.onnx"));
  fs::create_symlink("../../blobs/bbb", Path("snapshots/rev/w.bin"));
  EXPECT_THAT(Values(LoadFrom(Path("snapshots/rev/model.onnx")).graph().initializer(0)), ElementsAre(1, 2, 3, 4));
  // The data beside the model itself, with a link to the model only.
  WriteFile("blobs/w.bin", std::string_view(kFloats, 16));
  fs::remove(Path("snapshots/rev/w.bin"));
  EXPECT_THAT(Values(LoadFrom(Path("snapshots/rev/model.onnx")).graph().initializer(0)), ElementsAre(1, 2, 3, 4));
}

TEST_F(ExternalDataTest, OnlyRegularFiles) {
  fs::create_directory(Path("d"));
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(Error<IoError>({{"location", "d"}}),
            "tensor \"w\": cannot read \"" + Path("d") + "\": it is a directory, not a file");
  EXPECT_EQ(Error<IoError>({{"location", "pipe"}}),
            "tensor \"w\": cannot read \"" + Path("pipe") + "\": it is a pipe, not a file");
  EXPECT_EQ(Error<IoError>({{"location", "nope.bin"}}), "tensor \"w\": has its data in \"" + Path("nope.bin") +
                                                            "\", which cannot be opened: No such file or directory");
}

TEST_F(ExternalDataTest, OffsetsAndLengths) {
  const auto error = [&](const std::string& offset, const std::string& length) {
    return Error<InvalidArgument>({{"location", "w.bin"}, {"offset", offset}, {"length", length}});
  };
  const std::string head = "tensor \"w\": ";
  const std::string range = head + "has external data from byte ";
  EXPECT_EQ(error("17", "0"), range + "17, 0 bytes, of \"w.bin\", which has 16 bytes");
  EXPECT_EQ(error("8", "16"), range + "8, 16 bytes, of \"w.bin\", which has 16 bytes");
  EXPECT_EQ(error("8", "9223372036854775807"),
            range + "8, 9223372036854775807 bytes, of \"w.bin\", which has 16 bytes");
  EXPECT_EQ(Error<InvalidArgument>({{"location", "w.bin"}, {"offset", "20"}}),
            range + "20 of \"w.bin\", which has 16 bytes");
  EXPECT_EQ(error("0", "4"), head + "has 4 bytes of external data in \"w.bin\", tensor(float)[4] needs 16");
  EXPECT_EQ(Error<InvalidArgument>({{"location", "w.bin"}, {"offset", "4"}}),
            head + "has 12 bytes of external data in \"w.bin\", tensor(float)[4] needs 16");
  const std::string no_number = "\" of its external data is no number from 0 to 9223372036854775807";
  for (const std::string text : {"-1", "18446744073709551615", "four", "", " 4", "4.0", "0x10"}) {
    EXPECT_EQ(error(text, "16"), head + "offset \"" + text + no_number);
    EXPECT_EQ(error("0", text), head + "length \"" + text + no_number);
  }
}

TEST_F(ExternalDataTest, ReferencesThatMakeNoSense) {
  EXPECT_EQ(Error<InvalidArgument>({}), "tensor \"w\": has external data without a location");
  EXPECT_EQ(Error<InvalidArgument>({{"location", "w.bin"}, {"location", "v.bin"}}),
            "tensor \"w\": has two locations of external data");
  ModelProto model = WithTensor({{"location", "w.bin"}});
  model.mutable_graph()->mutable_initializer(0)->set_raw_data(std::string(16, '\0'));
  EXPECT_EQ(Thrown<InvalidArgument>([&] { Load(model); }),
            "tensor \"w\": has data in the model and in an external file");
  model.mutable_graph()->mutable_initializer(0)->set_data_type(TensorProto::STRING);
  EXPECT_EQ(Thrown<InvalidArgument>([&] { Load(model); }),
            "tensor \"w\": has its strings in an external file, which the format does not allow");
  // What no type or dims say, whoever reads the tensor reports.
  for (const auto spoil : {+[](TensorProto& t) { t.set_data_type(99); }, +[](TensorProto& t) { t.set_dims(0, -1); },
                           +[](TensorProto& t) {
                             t.set_dims(0, int64_t{1} << 40);
                             t.add_dims(int64_t{1} << 40);
                           }}) {
    ModelProto odd = WithTensor({{"location", "w.bin"}});
    spoil(*odd.mutable_graph()->mutable_initializer(0));
    const ModelProto loaded = Load(odd);
    EXPECT_THROW(TensorFromProto(loaded.graph().initializer(0)), InvalidArgument);
  }
  // An attribute's tensor has no name to speak of: its node does.
  ModelProto node = ParseModelText("g () => (y) { [c] y = Constant <value = float[4] {0, 0, 0, 0}> () }");
  *node.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_t() = WithTensor({}).graph().initializer(0);
  EXPECT_EQ(Thrown<InvalidArgument>([&] { Load(node); }),
            "Constant node \"c\", tensor \"w\": has external data without a location");
}

TEST_F(ExternalDataTest, WhatIsMissingIsListedAndTheRestRestored) {
  ModelProto model = WithTensor({{"location", "w.bin"}});
  for (int i = 0; i < 2; ++i)
    *model.mutable_graph()->add_initializer() = WithTensor({{"location", "nope.bin"}}).graph().initializer(0);
  WriteFile("m.onnx", SerializeModel(model));
  ModelProto read = ReadModel(Path("m.onnx"));
  std::vector<std::string> missing;
  const ExternalReferences references = LoadExternalData(read, DataFoldersOf(Path("m.onnx")), &missing);
  EXPECT_EQ(references.size(), 1u);
  EXPECT_THAT(missing, ElementsAre("tensor \"w\": has its data in \"" + Path("nope.bin") +
                                   "\", which cannot be opened: No such file or directory"));
  EXPECT_EQ(read.graph().initializer(0).raw_data().size(), 16u);
  EXPECT_EQ(read.graph().initializer(1), model.graph().initializer(1));
  references.Restore();
  EXPECT_EQ(read, model);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
