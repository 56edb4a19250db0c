// SPDX-License-Identifier: Apache-2.0
// strided: a dense copy of a strided view. Transpose, Slice, Expand and Tile are this one loop with other strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// `to` is dense with `dims`; element [i0,i1,..] comes from from[i0*strides[0] + i1*strides[1] + ..], strides in
// elements, 0 and negative ones included. element_size: 1, 2, 4, 8 or 16 bytes, aligned to that (16: to 8). dims and
// strides are equally many. Copies elements [begin, end) of the dense order.
void StridedCopy(const void* from, void* to, std::span<const int64_t> dims, std::span<const int64_t> strides,
                 size_t element_size, int64_t begin, int64_t end);
// The same for std::string elements; `to` holds constructed strings.
void StridedCopyStrings(const void* from, void* to, std::span<const int64_t> dims, std::span<const int64_t> strides);

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
