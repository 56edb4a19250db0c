// SPDX-License-Identifier: Apache-2.0
// What Softmax and LogSoftmax share. Before version 13 the input is taken as a matrix: the dims before `axis` (default
// 1) are the rows, all others one row's elements. From 13 on it is one axis (default -1).
#pragma once

#include <string_view>
#include <vector>

#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {

std::vector<OpDef> SoftmaxOps(std::string_view type, bool log);

}  // namespace ONNX_LIGHT_NAMESPACE
