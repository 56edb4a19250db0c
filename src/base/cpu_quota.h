// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// CPUs' worth of time the control groups (v1 or v2) of this process allow, e.g. 1.5; nothing when they set no limit or
// cannot be read. The tightest limit from the process's own group up to the visible root counts. `root` stands before
// every absolute path read ("" for the real file system), so that a made-up tree can be tested.
std::optional<double> CgroupCpuQuota(const std::string& root = "");

}  // namespace ONNX_LIGHT_NAMESPACE
