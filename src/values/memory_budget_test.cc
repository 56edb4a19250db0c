// SPDX-License-Identifier: Apache-2.0
#include "values/memory_budget.h"

#include <gtest/gtest.h>

#include <thread>

#include "onnxseq/errors.h"
#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

TEST(MemoryBudgetTest, CountsLivingTensorsOnly) {
  const auto budget = std::make_shared<MemoryBudget>(1000);
  Tensor kept;
  {
    const MemoryBudgetScope scope(budget);
    kept = Tensor(TensorType::kFloat, Shape{100});
    {
      const Tensor gone(TensorType::kFloat, Shape{150});
    }
    EXPECT_EQ(budget->used(), 400);
    try {
      const Tensor more(TensorType::kUint8, Shape{601});
      FAIL();
    } catch (const MemoryError& e) {
      EXPECT_STREQ(e.what(), "needs 601 more bytes, 400 of the limit of 1000 are in use");
    }
    EXPECT_EQ(budget->used(), 400);
    const Tensor fits(TensorType::kUint8, Shape{600});
  }
  const Tensor outside(TensorType::kFloat, Shape{100000});
  EXPECT_EQ(budget->used(), 400);
  std::thread([tensor = std::move(kept)]() mutable { tensor = Tensor(); }).join();
  EXPECT_EQ(budget->used(), 0);
}

TEST(MemoryBudgetTest, FailedAllocationIsGivenBack) {
  const auto budget = std::make_shared<MemoryBudget>(INT64_MAX);
  const MemoryBudgetScope scope(budget);
  EXPECT_THROW(Tensor(TensorType::kUint8, Shape{int64_t{1} << 62}), MemoryError);
  EXPECT_EQ(budget->used(), 0);
}

}  // namespace
}  // namespace ONNX_LIGHT_NAMESPACE
