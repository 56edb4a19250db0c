// SPDX-License-Identifier: Apache-2.0
// Elements of a sequence as parts of one tensor. Not for strings.
#pragma once

#include <cstdint>
#include <span>

#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// `first`, then the dims.
Shape WithFirst(int64_t first, const Shape& dims);
Shape WithDim(Shape shape, int axis, int64_t size);

// The elements with these numbers, at least one, concatenated along an axis: `shape` is that of the whole. Elements
// that lie behind each other in memory already are not copied.
Tensor Join(const Sequence& sequence, std::span<const int64_t> elements, const Shape& shape, int axis);
// What lies from `first` on, `length` long, along an axis; shares the storage where it is in one piece.
Tensor PartAlong(const Tensor& all, int axis, int64_t first, int64_t length);

}  // namespace ONNX_LIGHT_NAMESPACE
