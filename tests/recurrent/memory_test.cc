// SPDX-License-Identifier: Apache-2.0
// Recurrent operators over many runs of other lengths and batches: what they hold does not grow.
#include <gtest/gtest.h>
#include <malloc.h>

#include <random>
#include <vector>

#include "recurrent_model.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

Tensor Ones(Shape shape) {
  Tensor tensor(TensorType::kFloat, std::move(shape));
  for (float& value : tensor.MutableView<float>()) value = 0.1f;
  return tensor;
}

TEST(RecurrentMemory, FlatOverManyRunsOfAnySize) {
  constexpr int64_t kInputs = 8, kHidden = 16;
  for (const WeightStorage storage : {WeightStorage::kFull, WeightStorage::kInt8}) {
    const std::map<std::string, Tensor> inputs{{"X", Ones(Shape{1, 1, kInputs})},
                                               {"W", Ones(Shape{1, 4 * kHidden, kInputs})},
                                               {"R", Ones(Shape{1, 4 * kHidden, kHidden})},
                                               {"lens", Tensor::Of<int32_t>(Shape{1}, std::vector<int32_t>{1})}};
    auto loaded = RecurrentModel("LSTM", 14).Load(inputs, true, 2, storage);
    const Session& session = loaded.first;
    ValueMap& feeds = loaded.second;
    std::mt19937 random(1);
    const auto run = [&](int times) {
      for (int i = 0; i < times; ++i) {
        const auto steps = static_cast<int64_t>(random() % 40), rows = static_cast<int64_t>(random() % 20);
        std::vector<int32_t> lengths(static_cast<size_t>(rows));
        for (int32_t& length : lengths) length = static_cast<int32_t>(random() % static_cast<unsigned>(steps + 1));
        feeds["X"] = Ones(Shape{steps, rows, kInputs});
        feeds["lens"] = Tensor::Of<int32_t>(Shape{rows}, std::span<const int32_t>(lengths));
        const ValueMap outputs = session.Run(feeds);
        ASSERT_EQ(outputs.at("Y").tensor().shape(), (Shape{steps, 1, rows, kHidden}));
      }
    };
    run(1000);
    const size_t before = mallinfo2().uordblks;
    run(5000);
    EXPECT_LT(mallinfo2().uordblks, before + (1 << 20));
  }
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
