// SPDX-License-Identifier: Apache-2.0
// Values as text for people and as JSON.
#pragma once

#include <string>

#include "json_text.h"
#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// One element: shortest digits that tell it from its neighbours ("0.1", "1e-05", "nan"), strings quoted, bools "true"
// and "false".
std::string ElementText(const Tensor& tensor, int64_t i);

// "[[1, 2], [3, 4]]"; of more than `limit` elements the first and last few, "..." between them.
std::string ShortView(const Tensor& tensor, int64_t limit = 12);

// Lines that say name, type, shape and a short view: one for a tensor, one more for each of the first elements of a
// sequence.
std::string DescribeValue(const std::string& name, const Value& value);

// {"kind":"tensor","dtype":"float32","shape":[2],"data":[...]} (data flat) |
// {"kind":"sequence","dtype":...,"elements":[...]} |
// {"kind":"none"}.
void EmitValue(JsonText& json, const Value& value);

}  // namespace ONNX_LIGHT_NAMESPACE
