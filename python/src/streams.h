// SPDX-License-Identifier: Apache-2.0
// StreamGroup and Stream of the Python package. Needs the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// Adds the two classes to the module.
void BindStreams(nanobind::module_& m);

}  // namespace ONNX_LIGHT_NAMESPACE
