// SPDX-License-Identifier: Apache-2.0
// The .npy format: one numpy array as bytes, to and from a Tensor.
#pragma once

#include <string>
#include <string_view>

#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// The array in `bytes` (format 1.0, 2.0 or 3.0, either byte order, C or Fortran order). Unicode and byte strings become
// string tensors; void elements, which is how numpy writes what it has no name for, become bfloat16 when of two bytes,
// and uint8, the codes of narrower types, when of one. Throws InvalidArgument, naming `what` (a file or an entry of
// one), for anything else: pickled objects, structured types, a size that does not fit.
Tensor ReadNpy(std::string_view bytes, const std::string& what);

// Format 1.0, C order, little endian. bfloat16 and narrower floats are written as void elements of their size, integers
// narrower than a byte as int8 or uint8, strings as Unicode of the longest one's length.
std::string WriteNpy(const Tensor& tensor);

}  // namespace ONNX_LIGHT_NAMESPACE
