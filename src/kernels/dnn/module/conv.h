// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/dnn/abi.h"

namespace dnn_module {

// As the table (abi.h) has them.
OnnxseqDnnWeights* NewWeights();
void FreeWeights(OnnxseqDnnWeights* weights);
int Conv(const OnnxseqDnnConv* conv, OnnxseqDnnWeights* weights, const float* w, const float* bias, const float* x,
         float* y);

}  // namespace dnn_module
