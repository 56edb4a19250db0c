// SPDX-License-Identifier: Apache-2.0
#include "onnx_io/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <random>

#include "onnx_io/external_data.h"
#include "onnx_io/reader.h"
#include "onnx_io/test_util.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// Initializers w0, w1, ... of the given numbers of floats, all `value`.
ModelProto WithFloats(const std::vector<int64_t>& sizes, float value) {
  ModelProto model;
  model.set_ir_version(8);
  model.set_producer_version(std::to_string(value));
  for (size_t i = 0; i < sizes.size(); ++i) {
    Tensor tensor(TensorType::kFloat, Shape{sizes[i]});
    std::ranges::fill(tensor.MutableView<float>(), value + static_cast<float>(i));
    *model.mutable_graph()->add_initializer() = TensorToProto(tensor, "w" + std::to_string(i));
  }
  return model;
}

class WriterTest : public FolderTest {
 protected:
  ModelProto Read(std::string_view name) const {
    ModelProto model = ReadModel(Path(name));
    LoadExternalData(model, DataFoldersOf(Path(name)));
    return model;
  }
};

std::string Entry(const TensorProto& tensor, std::string_view key) {
  for (const StringStringEntryProto& entry : tensor.external_data())
    if (entry.key() == key) return entry.value();
  return "";
}

TEST_F(WriterTest, MovesLargeInitializersOut) {
  const ModelProto model = WithFloats({255, 256, 3, 1500}, 1);
  WriteModel(model, Path("m.onnx"), 1024);
  ASSERT_EQ(Files().size(), 2u);
  EXPECT_THAT(Files()[1], MatchesRegex("m\\.onnx\\.[0-9a-f]+\\.data"));
  EXPECT_EQ(fs::file_size(Path(Files()[1])), 4096u + 6000u);
  const ModelProto bare = ReadModel(Path("m.onnx"));
  EXPECT_EQ(bare.graph().initializer(0), model.graph().initializer(0));
  EXPECT_EQ(Entry(bare.graph().initializer(1), "location"), Files()[1]);
  EXPECT_EQ(Entry(bare.graph().initializer(1), "offset"), "0");
  EXPECT_EQ(Entry(bare.graph().initializer(1), "length"), "1024");
  EXPECT_EQ(bare.graph().initializer(2), model.graph().initializer(2));
  EXPECT_EQ(Entry(bare.graph().initializer(3), "offset"), "4096");
  EXPECT_EQ(Entry(bare.graph().initializer(3), "length"), "6000");
  EXPECT_EQ(Read("m.onnx"), model);
}

TEST_F(WriterTest, EqualModelsGiveEqualBytes) {
  const ModelProto model = WithFloats({300, 400}, 1);
  WriteModel(model, Path("m.onnx"), 1024);
  const std::string bytes = ReadFile("m.onnx"), name = Files()[1], data = ReadFile(name);
  WriteModel(Read("m.onnx"), Path("m.onnx"), 1024);
  EXPECT_EQ(ReadFile("m.onnx"), bytes);
  EXPECT_THAT(Files(), ElementsAre("m.onnx", name));
  EXPECT_EQ(ReadFile(name), data);
}

TEST_F(WriterTest, TypedDataMovesOutAsRaw) {
  ModelProto model;
  TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(TensorProto::INT8);
  tensor.add_dims(3);
  for (const int value : {-1, 0, 5}) tensor.add_int32_data(value);
  TensorProto& text = *model.mutable_graph()->add_initializer();
  text.set_name("s");
  text.set_data_type(TensorProto::STRING);
  text.add_dims(1);
  text.add_string_data("not raw");
  TensorProto& empty = *model.mutable_graph()->add_initializer();
  empty.set_name("e");
  empty.set_data_type(TensorProto::FLOAT);
  empty.add_dims(0);
  WriteModel(model, Path("m.onnx"), 0);
  const ModelProto read = Read("m.onnx");
  EXPECT_EQ(read.graph().initializer(0).raw_data().as_string(), std::string("\xff\0\x05", 3));
  EXPECT_EQ(read.graph().initializer(1), text);
  EXPECT_EQ(read.graph().initializer(2), empty);
}

TEST_F(WriterTest, PackedTypesMoveOutPacked) {
  ModelProto model;
  TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("q");
  tensor.set_data_type(TensorProto::INT4);
  tensor.add_dims(5);
  for (const int packed : {0x21, 0x43, 0xf5 & 0x0f}) tensor.add_int32_data(packed);
  WriteModel(model, Path("m.onnx"), 4);
  EXPECT_EQ(ReadModel(Path("m.onnx")), model) << "three bytes are fewer than four";
  WriteModel(model, Path("m.onnx"), 3);
  EXPECT_EQ(Entry(ReadModel(Path("m.onnx")).graph().initializer(0), "length"), "3");
  EXPECT_EQ(Read("m.onnx").graph().initializer(0).raw_data().as_string(), "\x21\x43\x05");
}

TEST_F(WriterTest, OldDataOfThisModelIsRemovedAndNothingElse) {
  WriteModel(WithFloats({300}, 1), Path("m.onnx"), 1024);
  const std::string old = Files()[1];
  const std::vector<std::string> others = {"m.onnx.0123456789abcdeg.data", "m.onnx.0123456789abcdef.dat",
                                           "n.onnx.0123456789abcdef.data", "m.onnx.0123456789abcde.data", "w.bin"};
  for (const std::string& name : others) WriteFile(name, "x");
  WriteModel(WithFloats({300}, 2), Path("m.onnx"), 1024);
  EXPECT_FALSE(fs::exists(Path(old)));
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(Path(name))) << name;
  EXPECT_EQ(Read("m.onnx"), WithFloats({300}, 2));
  // A model written whole needs none.
  WriteModel(WithFloats({300}, 2), Path("m.onnx"));
  EXPECT_EQ(Files().size(), others.size() + 1);
}

TEST_F(WriterTest, ReferencesThatWereNotFollowedKeepTheirFile) {
  WriteModel(WithFloats({300}, 1), Path("m.onnx"), 1024);
  ModelProto bare = ReadModel(Path("m.onnx"));
  bare.set_producer_name("renamed");
  WriteModel(bare, Path("m.onnx"));
  EXPECT_EQ(ReadModel(Path("m.onnx")), bare);
  EXPECT_EQ(Read("m.onnx").graph(), WithFloats({300}, 1).graph());
}

TEST_F(WriterTest, OverItsOwnFileAndThroughLinks) {
  WriteModel(WithFloats({300}, 1), Path("m.onnx"), 1024);
  ModelProto model = Read("m.onnx");  // lies in both files
  *model.mutable_graph()->add_initializer() = WithFloats({500}, 7).graph().initializer(0);
  WriteModel(model, Path("m.onnx"), 1024);
  EXPECT_EQ(Read("m.onnx"), model);
  EXPECT_EQ(Files().size(), 2u);
  fs::create_directory(Path("links"));
  fs::create_symlink("../m.onnx", Path("links/l.onnx"));
  WriteModel(WithFloats({300}, 3), Path("links/l.onnx"), 1024);
  EXPECT_TRUE(fs::is_symlink(Path("links/l.onnx")));
  EXPECT_EQ(Read("m.onnx"), WithFloats({300}, 3));
  EXPECT_EQ(Read("links/l.onnx"), WithFloats({300}, 3));
}

TEST_F(WriterTest, Failures) {
  EXPECT_THAT(Thrown<IoError>([&] { WriteModel(WithFloats({300}, 1), Path("none/m.onnx"), 1024); }),
              HasSubstr("cannot create a file beside \"" + Path("none/m.onnx") + "\": No such file or directory"));
  EXPECT_THAT(Thrown<InvalidArgument>([&] { WriteModel(WithFloats({300}, 1), Path("a\\m.onnx"), 1024); }),
              HasSubstr("has a backslash in it"));
  fs::create_directory(Path("d.onnx"));
  EXPECT_EQ(Thrown<IoError>([&] { WriteModel(WithFloats({3}, 1), Path("d.onnx")); }),
            "cannot write \"" + Path("d.onnx") + "\": it is a directory, not a file");
  EXPECT_THAT(Files(), ElementsAre("d.onnx"));
}

// A writer that is killed at any moment leaves one of the two models, whole.
TEST_F(WriterTest, KilledWhileWriting) {
  const ModelProto states[] = {WithFloats({5000, 300}, 1), WithFloats({5000, 300}, 2)};
  WriteModel(states[0], Path("m.onnx"), 1024);
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int i = 0;; ++i) WriteModel(states[i % 2], Path("m.onnx"), 1024);
    }
    ::usleep(static_cast<useconds_t>(random() % 4000));
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    const ModelProto left = Read("m.onnx");
    EXPECT_TRUE(left == states[0] || left == states[1]) << "seed 7, round " << round;
  }
  // The next writer takes away the data that was left behind.
  WriteModel(states[0], Path("m.onnx"), 1024);
  const std::vector<std::string> files = Files();
  EXPECT_EQ(std::ranges::count_if(files, [](const std::string& name) { return name.ends_with(".data"); }), 1);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
