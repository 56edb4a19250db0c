// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <vector>

#include "base/thread_team.h"
#include "kernels/aligned_array.h"
#include "kernels/isa_test_util.h"
#include "kernels/lstm/lstm.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// RunLstm on scratch of exactly the size it asks for, full of NaN, with a guard behind it.
template <class T>
void RunWithScratch(const std::vector<LstmDirection<T>>& runs, ThreadTeam* team = nullptr, int threads = 1) {
  const int64_t size = LstmScratchBytes<T>(runs, threads).value();
  constexpr int64_t kGuard = 64;
  const AlignedArray<unsigned char> scratch = MakeAlignedArray<unsigned char>(size + kGuard);
  std::memset(scratch.get(), 0xFF, static_cast<size_t>(size + kGuard));
  RunLstm<T>(runs, std::span(reinterpret_cast<std::byte*>(scratch.get()), static_cast<size_t>(size)), team, threads);
  for (int64_t i = 0; i < kGuard; ++i) ASSERT_EQ(scratch[size + i], 0xFF) << "wrote beyond the scratch";
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
