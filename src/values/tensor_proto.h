// SPDX-License-Identifier: Apache-2.0
// From and to the messages that hold values. Every conversion checks sizes before it allocates, so that a message costs
// no more memory than its own bytes justify. Hosts are little-endian, as the messages are.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "onnx_proto/onnx.h"
#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// Bytes that so many elements take in raw_data, where those of less than a byte are one stream of bits, the first in
// the lowest ones. Nothing when that does not fit in 64 bits; 0 for strings.
std::optional<int64_t> RawBytes(TensorType type, int64_t elements);

// The tensor in `proto`. raw_data is borrowed when it is aligned for the element type (the message's bytes then live as
// long as the tensor), anything else is copied, elements of less than a byte to one byte each. Throws InvalidArgument,
// subject `tensor "w"`, for dims, data and element type that do not belong together; Unsupported for data in an
// external file (the reader of the file brings that in) and for segments.
Tensor TensorFromProto(const TensorProto& proto);
// The dense form, up to 1 GiB. Same errors; indices must lie inside the dims, each at most once, in ascending order.
Tensor TensorFromSparse(const SparseTensorProto& proto);
// raw_data, or string_data for strings. An undefined tensor is InvalidArgument.
TensorProto TensorToProto(const Tensor& tensor, std::string_view name = {});

// Of tensors, sequences or maps; sparse tensors and optionals as elements are Unsupported. An empty one has element
// type kUndefined: the message does not say it.
Sequence SequenceFromProto(const SequenceProto& proto);
SequenceProto SequenceToProto(const Sequence& sequence, std::string_view name = {});
// Throws InvalidArgument, subject `map "m"`, for keys that are not of the key type, not as many as the values, or there
// twice.
Map MapFromProto(const MapProto& proto);
MapProto MapToProto(const Map& map, std::string_view name = {});
// What the optional holds, nothing when it is empty.
Value ValueFromProto(const OptionalProto& proto);
OptionalProto OptionalToProto(const Value& value, std::string_view name = {});

}  // namespace ONNX_LIGHT_NAMESPACE
