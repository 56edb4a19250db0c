// SPDX-License-Identifier: Apache-2.0
// onnx_shapes::shapes::sequence: the nine functions.
#pragma once

#include "onnx_core/compat.h"  // IWYU pragma: export
