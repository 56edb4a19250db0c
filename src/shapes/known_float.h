// SPDX-License-Identifier: Apache-2.0
// Arithmetic on the known elements of floating tensors: what becomes of dims that are cast to float, scaled, and cast
// back. A dim counts as exact in float: below 2^24 it is, and what is scaled in floats is smaller. What could not be
// told from the rounding of a run gives nothing.
#pragma once

#include <optional>
#include <span>

#include "onnx_optim/shapes/shapes_context.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace onnx_optim {
namespace shapes {

// A constant of that type (float: rounded to it).
KnownFloat ConstantFloat(TensorType dtype, double value);
// dim / divisor * factor in its simplest form; nothing when the divisor is less than 1.
std::optional<KnownFloat> Quotient(TensorType dtype, const OptimDim& dim, const OptimDim& divisor, double factor = 1);
// An integer cast to `dtype`; nothing when it may be negative.
std::optional<KnownFloat> WholeFloat(const ShapesContext& context, TensorType dtype, const OptimDim& value);
// Cast back: truncated; nothing when it is not known or no int64.
std::optional<OptimDim> Truncated(const KnownFloat& value, TensorType dtype);

// An operation on one or two elements of `dtype`.
using FloatOperation = std::optional<KnownFloat> (*)(const ShapesContext& context, TensorType dtype,
                                                     std::span<const KnownFloat> x);
std::optional<KnownFloat> AddFloats(const ShapesContext& context, TensorType dtype, std::span<const KnownFloat> x);
std::optional<KnownFloat> SubtractFloats(const ShapesContext& context, TensorType dtype, std::span<const KnownFloat> x);
std::optional<KnownFloat> MultiplyFloats(const ShapesContext& context, TensorType dtype, std::span<const KnownFloat> x);
std::optional<KnownFloat> DivideFloats(const ShapesContext& context, TensorType dtype, std::span<const KnownFloat> x);
std::optional<KnownFloat> FloorFloat(const ShapesContext& context, TensorType dtype, std::span<const KnownFloat> x);
std::optional<KnownFloat> CeilFloat(const ShapesContext& context, TensorType dtype, std::span<const KnownFloat> x);
std::optional<KnownFloat> RoundFloat(const ShapesContext& context, TensorType dtype, std::span<const KnownFloat> x);

}  // namespace shapes
}  // namespace onnx_optim
}  // namespace ONNX_LIGHT_NAMESPACE
