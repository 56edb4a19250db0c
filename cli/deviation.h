// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// How far a value is off; infinitely where sizes differ, or where one is a number and the other is not.
struct Deviation {
  double largest = 0;   // of an element
  double relative = 0;  // that / the largest finite element of the exact value
};
// Over all elements of float tensors, those in sequences included; other values have no error.
Deviation DeviationOf(const Value& got, const Value& exact);

}  // namespace ONNX_LIGHT_NAMESPACE
