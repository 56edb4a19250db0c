// SPDX-License-Identifier: Apache-2.0
// Every IR file of tests/data/ir through a session, against the numpy oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "onnxseq/model_io.h"
#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

namespace fs = std::filesystem;
const fs::path kDir = ONNXSEQ_TEST_DATA "/ir";

// Sums of a hundred products at most, a handful of steps; a float16 output is rounded once.
double ToleranceOf(TensorType type) { return type == TensorType::kFloat16 ? std::ldexp(1.0, -11) : 1e-5; }
double ElementOf(const Tensor& tensor, int64_t i) {
  const auto at = static_cast<size_t>(i);
  if (tensor.dtype() == TensorType::kFloat16)
    return static_cast<double>(static_cast<float>(tensor.View<Float16>()[at]));
  return static_cast<double>(tensor.View<float>()[at]);
}

Tensor ReadTensor(const fs::path& path) { return ReadValueFile(path.string(), ValueFileKind::kTensor).tensor(); }

void ExpectClose(const Tensor& got, const Tensor& expected, TensorType type) {
  ASSERT_EQ(got.shape().ToString(), expected.shape().ToString());
  ASSERT_EQ(got.dtype(), type);
  for (int64_t i = 0; i < got.NumElements(); ++i) {
    const auto want = static_cast<double>(expected.View<float>()[i]);
    ASSERT_NEAR(ElementOf(got, i), want, ToleranceOf(type) * std::max(1.0, std::abs(want))) << "element " << i;
  }
}

TEST(IrSession, FilesRunAsTheOracleSays) {
  int files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(kDir)) {
    if (entry.path().extension() != ".xml") continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++files;
    const fs::path data = fs::path(entry.path()).replace_extension("");
    const TensorType type = data.stem() == "lstm_true_f16" ? TensorType::kFloat16 : TensorType::kFloat;
    for (const int threads : {1, 2}) {
      SessionOptions options;
      options.threads = threads;
      const Session session = Session::Load(entry.path().string(), options);
      ValueMap feeds;
      for (size_t i = 0; i < session.inputs().size(); ++i) {
        feeds[session.inputs()[i].name] = ReadTensor(data / ("input_" + std::to_string(i) + ".pb"));
      }
      const ValueMap outputs = session.Run(feeds);
      ASSERT_EQ(outputs.size(), session.outputs().size());
      for (size_t i = 0; i < session.outputs().size(); ++i) {
        SCOPED_TRACE(session.outputs()[i].name);
        ExpectClose(outputs.at(session.outputs()[i].name).tensor(),
                    ReadTensor(data / ("output_" + std::to_string(i) + ".pb")), type);
      }
    }
  }
  EXPECT_EQ(files, 22);
}

// The two versions of the format say the same.
TEST(IrSession, Version10And11AgreeToTheBit) {
  ValueMap results[2];
  for (const int k : {0, 1}) {
    const Session session = Session::Load((kDir / (k == 0 ? "lstm_v10.xml" : "lstm_v11.xml")).string());
    ValueMap feeds;
    for (size_t i = 0; i < session.inputs().size(); ++i) {
      feeds[session.inputs()[i].name] = ReadTensor(kDir / "lstm_v11" / ("input_" + std::to_string(i) + ".pb"));
    }
    results[k] = session.Run(feeds);
  }
  ASSERT_EQ(results[0].size(), 3u);
  for (const auto& [name, value] : results[0]) {
    EXPECT_THAT(value.tensor().View<float>(), ::testing::ElementsAreArray(results[1].at(name).tensor().View<float>()))
        << name;
  }
}

// One session, any batch and length of the dynamic dims.
TEST(IrSession, DynamicDimsTakeAnySize) {
  const Session session = Session::Load((kDir / "lstm_bidirectional_fp32_dyn_lensparam.xml").string());
  for (const auto& [n, t] : {std::pair<int64_t, int64_t>{1, 1}, {5, 9}, {2, 3}, {0, 4}, {2, 0}}) {
    const auto filled = [](Shape shape, float value) {
      Tensor tensor(TensorType::kFloat, std::move(shape));
      for (float& x : tensor.MutableView<float>()) x = value;
      return tensor;
    };
    Tensor lengths(TensorType::kInt32, Shape{n});
    for (int32_t& length : lengths.MutableView<int32_t>()) length = static_cast<int32_t>(t);
    const ValueMap outputs = session.Run({{"X", filled(Shape{n, t, 4}, 0.5f)},
                                          {"H0", filled(Shape{n, 2, 6}, 0.25f)},
                                          {"C0", filled(Shape{n, 2, 6}, -0.5f)},
                                          {"lens", lengths}});
    EXPECT_EQ(outputs.at("Y").tensor().shape(), (Shape{n, 2, t, 6}));
    EXPECT_EQ(outputs.at("Ho").tensor().shape(), (Shape{n, 2, 6}));
    if (t == 0) {
      EXPECT_THAT(outputs.at("Co").tensor().View<float>(), ::testing::Each(-0.5f));
    }
  }
}

// The symbols of all inputs meet in the operator: outputs are told in those of X.
TEST(IrSession, OutputsAreDescribed) {
  const Session session = Session::Load((kDir / "lstm_bidirectional_fp32_dyn_lensparam.xml").string());
  ASSERT_EQ(session.outputs().size(), 3u);
  EXPECT_EQ(session.outputs()[0].name, "Y");
  EXPECT_EQ(session.outputs()[0].type, "tensor(float)");
  std::vector<std::string> dims;
  for (const ValueDescription::Dim& dim : session.outputs()[0].shape.value()) dims.push_back(dim.text);
  EXPECT_THAT(dims, ::testing::ElementsAre("X_0", "2", "X_1", "6"));
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
