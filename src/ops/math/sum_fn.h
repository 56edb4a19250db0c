// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// A step of Sum and Mean.
struct SumFn {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

}  // namespace ONNX_LIGHT_NAMESPACE
