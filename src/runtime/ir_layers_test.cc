// SPDX-License-Identifier: Apache-2.0
// The files of tests/data/ir_layers hold, beside layers, what those are given and what OpenVINO makes of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "onnxseq/errors.h"
#include "onnxseq/model_io.h"
#include "onnxseq/session.h"
#include "values/tensor_proto.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

namespace fs = std::filesystem;

// Sums of some hundred products of numbers below 2, as tests/peers/ir_values.py has it.
constexpr double kTolerance = 2e-5;

template <class T>
void ExpectNear(const Tensor& got, const Tensor& expected) {
  for (size_t i = 0; i < expected.View<T>().size(); ++i) {
    const auto want = static_cast<double>(expected.View<T>()[i]);
    ASSERT_NEAR(static_cast<double>(got.View<T>()[i]), want, kTolerance * (1 + std::abs(want))) << "element " << i;
  }
}

void ExpectEqual(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.dtype(), expected.dtype());
  ASSERT_EQ(got.shape().ToString(), expected.shape().ToString());
  if (got.dtype() == TensorType::kFloat) return ExpectNear<float>(got, expected);
  EXPECT_EQ(TensorToProto(got), TensorToProto(expected));
}

// What the model's output `name` always is: an initializer, through an Identity.
Tensor KeptValue(const ModelProto& model, const std::string& name) {
  const auto& nodes = model.graph().node();
  const auto identity = std::ranges::find_if(nodes, [&](const NodeProto& node) { return node.output(0) == name; });
  if (identity == nodes.end()) throw InvalidArgument("the file has no value " + name);
  const auto& tensors = model.graph().initializer();
  const auto tensor =
      std::ranges::find_if(tensors, [&](const TensorProto& t) { return t.name() == identity->input(0); });
  if (tensor == tensors.end()) throw InvalidArgument(name + " is no constant");
  return TensorFromProto(*tensor);
}

// Each output "name" is "name.value" when each input is what "input.value" says.
int CheckFile(const ModelProto& model, bool optimize) {
  SessionOptions options;
  options.threads = 1;
  options.optimize = optimize;
  const Session session = Session::FromModel(model, options);
  ValueMap feeds;
  for (const ValueDescription& input : session.inputs()) feeds[input.name] = KeptValue(model, input.name + ".value");
  int checked = 0;
  for (const auto& [name, got] : session.Run(feeds)) {
    if (name.ends_with(".value")) continue;
    SCOPED_TRACE(name);
    ExpectEqual(got.tensor(), KeptValue(model, name + ".value"));
    ++checked;
  }
  return checked;
}

TEST(IrLayerValues, AreWhatOpenVinoSays) {
  int files = 0, outputs = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(ONNXSEQ_TEST_DATA "/ir_layers")) {
    if (entry.path().extension() != ".xml") continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++files;
    const ModelProto model = ReadModelFile(entry.path().string());
    outputs += CheckFile(model, true);
    CheckFile(model, false);
  }
  EXPECT_EQ(files, 16);
  EXPECT_EQ(outputs, 102);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
