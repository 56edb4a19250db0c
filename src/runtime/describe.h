// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnx_proto/onnx.h"
#include "onnxseq/session.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

// What the declaration of a graph input or output says, filled in from what is inferred (may be null).
ValueDescription Describe(const ValueInfoProto& info, const ShapeValue* inferred);

}  // namespace ONNX_LIGHT_NAMESPACE
