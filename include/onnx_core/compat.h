// SPDX-License-Identifier: Apache-2.0
// The names that later releases of the reference give to the same things.
#pragma once

#include "onnx_optim/optim_sequence.h"
#include "onnx_optim/optim_tensor.h"
#include "onnx_optim/shapes/sequence/shape_sequence.h"
#include "onnx_optim/shapes/shape_inference.h"
#include "onnx_optim/shapes/shapes_context.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

namespace core {
namespace symbolic {
using SymDim = onnx_optim::OptimDim;
using SymShape = onnx_optim::OptimShape;
using SymTensor = onnx_optim::OptimTensor;
using SymSequence = onnx_optim::OptimSequence;
using onnx_optim::DataTypeToTensorType;
using onnx_optim::IsIntegerTensorType;
using onnx_optim::TensorType;
using onnx_optim::TensorTypeToDataType;
using onnx_optim::ToTypeString;
}  // namespace symbolic

namespace shapes {
using onnx_optim::shapes::ApplyInferredShapesToGraph;
using onnx_optim::shapes::ApplyInferredShapesToModel;
using onnx_optim::shapes::ComputeShapeGraph;
using onnx_optim::shapes::ComputeShapeModel;
using onnx_optim::shapes::ComputeShapeNode;
using onnx_optim::shapes::ComputeShapes;
using onnx_optim::shapes::InferShapesModel;
using onnx_optim::shapes::ShapesContext;
}  // namespace shapes
}  // namespace core

namespace onnx_shapes {
namespace shapes {
namespace sequence {
using namespace onnx_optim::shapes::sequence;  // NOLINT(google-build-using-namespace): the same functions, another name
}  // namespace sequence
}  // namespace shapes
}  // namespace onnx_shapes

}  // namespace ONNX_LIGHT_NAMESPACE
