// SPDX-License-Identifier: Apache-2.0
#include "values/memory_budget.h"

#include <fmt/format.h>

#include <utility>

#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

thread_local std::shared_ptr<MemoryBudget> current_budget;

}  // namespace

void MemoryBudget::Take(int64_t bytes) {
  const int64_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
  if (bytes <= limit_ - before) return;
  Return(bytes);
  throw MemoryError(fmt::format("needs {} more bytes, {} of the limit of {} are in use", bytes, before, limit_));
}

const std::shared_ptr<MemoryBudget>& MemoryBudget::Current() noexcept { return current_budget; }

MemoryBudgetScope::MemoryBudgetScope(std::shared_ptr<MemoryBudget> budget) noexcept
    : before_(std::exchange(current_budget, std::move(budget))) {}
MemoryBudgetScope::~MemoryBudgetScope() { current_budget = std::move(before_); }

}  // namespace ONNX_LIGHT_NAMESPACE
