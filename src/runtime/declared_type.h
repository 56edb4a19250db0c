// SPDX-License-Identifier: Apache-2.0
// runtime: what makes a model run: inputs checked against their declarations, the plan, the executor, the session.
// Before it: ops (operators, inference), onnx_io and openvino_io (files). After it: the command line and the Python
// package.
//
// DeclaredType: the type of a graph input or output as the file declares it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_proto/onnx.h"
#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// The size each symbol has in one run, and the input it was seen in first. Few: looked through one by one.
struct SymbolSize {
  std::string_view symbol;
  int64_t size;
  std::string_view input;
};
using SymbolSizes = std::vector<SymbolSize>;

// A tensor or a sequence of tensors, either perhaps optional. Made once, checked in each run.
class DeclaredType {
 public:
  // Throws InvalidArgument, subject `graph input "x"`, when there is no type or element type; Unsupported for maps,
  // sparse tensors and other kinds that cannot be fed.
  DeclaredType(const ValueInfoProto& info, std::string_view what);

  bool is_optional() const { return optional_; }
  bool is_sequence() const { return sequence_; }
  TensorType dtype() const { return dtype_; }
  // "tensor(float)[N,3]"
  const std::string& text() const { return text_; }

  // `value` is one the declaration allows; dims named by the same symbol have one size over all inputs of a run. An
  // empty sequence whose element type is not known takes the declared one. Throws InvalidArgument, subject `input "x"`.
  void Check(std::string_view name, Value& value, SymbolSizes& symbols) const;

 private:
  struct Dim {
    int64_t size = -1;  // -1: not a number
    std::string symbol;
  };
  bool Matches(const Tensor& tensor) const;

  bool optional_ = false;
  bool sequence_ = false;
  bool has_shape_ = false;
  TensorType dtype_ = TensorType::kUndefined;
  std::vector<Dim> dims_;
  std::string text_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
