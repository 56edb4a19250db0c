// SPDX-License-Identifier: Apache-2.0
// What a run is fed and what its outputs are kept in: arrays in files, ONNX messages, test data folders.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {

// The value of `input` in FILE: .npy; .npz (as ValuesFromArrays, the value of that name or the only one); anything else
// an ONNX message: TensorProto, SequenceProto or OptionalProto as the declared type of the input says. Throws IoError,
// ModelParseError, InvalidArgument.
Value ReadFeedFile(const std::string& path, const ValueDescription& input);

// Arrays by name to values: NAME a tensor, NAME/0, NAME/1, ... a sequence, NAME/dtype with it when it is empty,
// NAME/none an absent optional. A name in `known` is one value whatever it looks like. InvalidArgument when the
// elements of a sequence are not all there. Arrays of bytes become the type of 8 bits and fewer that `known` declares
// for their name.
ValueMap ValuesFromArrays(const std::map<std::string, Tensor>& arrays, std::span<const ValueDescription> known);
// The reverse.
std::map<std::string, Tensor> ArraysFromValues(const ValueMap& values);

// A folder as the ONNX test suite keeps them: input_0.pb, ... in the order of the model's inputs, output_0.pb, ... in
// the order of its outputs (which may be missing).
struct TestData {
  ValueMap inputs;
  ValueMap outputs;
};
TestData ReadTestData(const std::string& folder, std::span<const ValueDescription> inputs,
                      std::span<const ValueDescription> outputs);

// "" when `got` is what is expected: kind, element type, shape, and each number within 1e-5 + 1e-3 * |expected|; else
// what differs first.
std::string Difference(const Value& got, const Value& expected);

}  // namespace ONNX_LIGHT_NAMESPACE
