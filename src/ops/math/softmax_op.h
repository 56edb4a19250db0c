// SPDX-License-Identifier: Apache-2.0
// What Softmax and LogSoftmax share. Before version 13 the input is taken as a matrix: the dims before `axis` (default
// 1) are the rows, all others one row's elements. From 13 on it is one axis (default -1).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ops/op_def.h"
#include "ops/run_context.h"

namespace ONNX_LIGHT_NAMESPACE {

// Output 0 = the softmax of input 0, or its logarithm, along the middle axis of [outer, n, inner], which is its shape
// in all: of each segment [starts[i], starts[i + 1]) by itself, where the first start is 0 and the last is n.
void RunSoftmax(RunContext& ctx, int64_t outer, std::span<const int64_t> starts, int64_t inner, bool log);

std::vector<OpDef> SoftmaxOps(std::string_view type, bool log);

}  // namespace ONNX_LIGHT_NAMESPACE
