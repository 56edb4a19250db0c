// SPDX-License-Identifier: Apache-2.0
// core::symbolic::SymSequence.
#pragma once

#include "onnx_core/compat.h"  // IWYU pragma: export
