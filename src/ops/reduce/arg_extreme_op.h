// SPDX-License-Identifier: Apache-2.0
// What ArgMax and ArgMin share.
#pragma once

#include <vector>

#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {

std::vector<OpDef> ArgExtremeOps(bool greatest);

}  // namespace ONNX_LIGHT_NAMESPACE
