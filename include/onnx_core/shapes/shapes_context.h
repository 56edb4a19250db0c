// SPDX-License-Identifier: Apache-2.0
// core::shapes::ShapesContext.
#pragma once

#include "onnx_core/compat.h"  // IWYU pragma: export
