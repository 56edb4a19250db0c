// SPDX-License-Identifier: Apache-2.0
// Models to OpenVINO IR and back.
#include "runtime/save_ir.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "onnxseq/model_io.h"
#include "onnxseq/session.h"
#include "runtime/runtime_test_util.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

namespace fs = std::filesystem;

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

class SaveIrTest : public ::testing::Test {
 protected:
  SaveIrTest() { fs::create_directories(folder_); }
  ~SaveIrTest() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  // Written and read again.
  ModelProto Again(const ModelProto& model, const WriteModelOptions& options = {}) const {
    WriteModelFile(model, Path("again.xml"), options);
    return ReadModelFile(Path("again.xml"));
  }

 private:
  const fs::path folder_ = fs::temp_directory_path() / ("onnxseq_save_ir_test." + std::to_string(getpid()));
};

TEST_F(SaveIrTest, WhatIsReadIsWrittenAsItWas) {
  for (const char* folder : {"ir", "ir_bodies"}) {
    for (const std::string& file : IrFilesOf(folder)) {
      const ModelProto model = WithSortedInitializers(ReadModelFile(file));
      const bool old = file.find("v10") != std::string::npos || file.find("legacy") != std::string::npos;
      const WriteModelOptions options{.external_bytes = {}, .lower = false, .ir_version = old ? 10 : 11};
      const ModelProto again = WithSortedInitializers(Again(model, options));
      EXPECT_EQ(again, model) << file;
    }
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
