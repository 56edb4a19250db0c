// SPDX-License-Identifier: Apache-2.0
// The body of a SequenceMap as inference sees it: a model of one element.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "onnx_optim/optim_dim.h"
#include "onnx_proto/onnx.h"
#include "passes/batch/batch_body.h"

namespace ONNX_LIGHT_NAMESPACE {

// What stands for the lengths of vector number `lengths`, and the beginning of what stands for dims that are open.
std::string LengthSymbol(int lengths);
std::string InputSymbol(size_t i);
std::string CaptureSymbol(size_t i);

ValueInfoProto Described(std::string_view name, TensorType dtype, const std::vector<OptimDim>& dims);
// `name`: one no other input has.
std::vector<OptimDim> ElementDims(const BatchInput& input, const std::string& name);

// The body as a model of one element: what it takes is typed, what it uses of outside is there.
ModelProto ElementModel(const BatchRequest& request);

}  // namespace ONNX_LIGHT_NAMESPACE
