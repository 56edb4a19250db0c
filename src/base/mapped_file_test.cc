// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/new_file.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class MappedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "onnxseq_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Message(const std::string& path) const {
    try {
      MapFile(path);
    } catch (const IoError& e) {
      return e.what();
    }
    return "no error";
  }
  fs::path folder_;
};

TEST_F(MappedFileTest, BytesLiveAsLongAsTheOwner) {
  std::ofstream(Path("a")) << "hello";
  MappedFile file = MapFile(Path("a"));
  EXPECT_EQ(file.bytes, "hello");
  fs::remove(Path("a"));
  EXPECT_EQ(file.bytes, "hello");
  const std::shared_ptr<const void> owner = file.owner;
  file = {};
  EXPECT_EQ(std::string_view(static_cast<const char*>(owner.get()), 5), "hello");
}

TEST_F(MappedFileTest, EmptyFile) {
  std::ofstream(Path("empty")).flush();
  const MappedFile file = MapFile(Path("empty"));
  EXPECT_TRUE(file.bytes.empty());
  EXPECT_NE(file.owner, nullptr);
}

TEST_F(MappedFileTest, SaysWhatIsWrong) {
  EXPECT_EQ(Message(Path("none")), "cannot open \"" + Path("none") + "\": No such file or directory");
  EXPECT_EQ(Message(folder_.string()), "cannot read \"" + folder_.string() + "\": it is a directory, not a file");
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(Message(Path("pipe")), "cannot read \"" + Path("pipe") + "\": it is a pipe, not a file");
  EXPECT_EQ(Message("/dev/null"), "cannot read \"/dev/null\": it is a device, not a file");
}

TEST_F(MappedFileTest, WritesWholeOrNotAtAll) {
  WriteFileAtomically(Path("out"), "one");
  EXPECT_EQ(MapFile(Path("out")).bytes, "one");
  fs::permissions(Path("out"), fs::perms::owner_read | fs::perms::owner_write);
  const MappedFile before = MapFile(Path("out"));
  WriteFileAtomically(Path("out"), "two and more");
  EXPECT_EQ(before.bytes, "one");
  EXPECT_EQ(MapFile(Path("out")).bytes, "two and more");
  EXPECT_EQ(fs::status(Path("out")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(MappedFileTest, NewFilesHaveTheModeThatTheUmaskLeaves) {
  using fs::perms;
  const perms mine = perms::owner_read | perms::owner_write;
  const mode_t before = ::umask(077);
  WriteFileAtomically(Path("private"), "x");
  ::umask(027);
  WriteFileAtomically(Path("group"), "x");
  ::umask(before);
  EXPECT_EQ(fs::status(Path("private")).permissions(), mine);
  EXPECT_EQ(fs::status(Path("group")).permissions(), mine | perms::group_read);
  // A file that goes with another one is for those who may read that.
  fs::permissions(Path("group"), mine);
  NewFile data(Path("group"));
  data.Write("y");
  data.PutInPlace(Path("data"));
  EXPECT_EQ(fs::status(Path("data")).permissions(), mine);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 3);
}

TEST_F(MappedFileTest, WritesThroughALink) {
  WriteFileAtomically(Path("real"), "old");
  fs::create_symlink("real", Path("link"));
  WriteFileAtomically(Path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(MapFile(Path("real")).bytes, "new");
}

TEST_F(MappedFileTest, ErrorsCarryTheSystemsNumber) {
  const auto number = [](const std::string& path) {
    try {
      MapFile(path);
    } catch (const IoError& e) {
      return e.error_number();
    }
    return -1;
  };
  EXPECT_EQ(number(Path("not_there")), ENOENT);
  fs::create_directory(Path("folder"));
  EXPECT_EQ(number(Path("folder")), 0) << "it was opened";
}

TEST_F(MappedFileTest, FilesThatMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  std::ofstream(Path("secret")) << "x";
  fs::permissions(Path("secret"), fs::perms::none);
  EXPECT_EQ(Message(Path("secret")), "cannot open \"" + Path("secret") + "\": Permission denied");
}

TEST_F(MappedFileTest, WriteErrors) {
  const auto message = [](const std::string& path) -> std::string {
    try {
      WriteFileAtomically(path, "x");
    } catch (const IoError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(message(Path("no/such/folder")),
            "cannot create a file beside \"" + Path("no/such/folder") + "\": No such file or directory");
  fs::create_directory(Path("d"));
  EXPECT_THAT(message(Path("d")), HasSubstr("it is a directory, not a file"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST(Errors, ForeignExceptionsBecomeOurs) {
  const auto thrown = [](const auto& foreign) { return [&] { TranslateErrors([&] { throw foreign; }); }; };
  EXPECT_THROW(thrown(std::bad_alloc())(), MemoryError);
  EXPECT_THROW(thrown(std::out_of_range("a"))(), OutOfRange);
  EXPECT_THROW(thrown(std::length_error("a"))(), InvalidArgument);
  EXPECT_THROW(thrown(1)(), Error);
  try {
    thrown(std::filesystem::filesystem_error("cannot look", std::make_error_code(std::errc::permission_denied)))();
  } catch (const IoError& e) {
    EXPECT_EQ(e.error_number(), EACCES);
    EXPECT_THAT(e.what(), ::testing::HasSubstr("cannot look"));
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
