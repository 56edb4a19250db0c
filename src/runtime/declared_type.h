// SPDX-License-Identifier: Apache-2.0
// runtime: what makes a model run: inputs checked against their declarations, the plan, the executor, the session.
// Before it: ops (operators, inference), onnx_io and openvino_io (files). After it: the command line and the Python
// package.
//
// DeclaredType: the type of a graph input or output as the file declares it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "onnx_proto/onnx.h"
#include "onnxseq/errors.h"
#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {

// The size each symbol has in one run, and the input it was seen in first. Few: looked through one by one.
struct SymbolSize {
  std::string_view symbol;
  int64_t size;
  std::string_view input;
};
using SymbolSizes = std::vector<SymbolSize>;

// A tensor, or a sequence or map of what may be such again; perhaps optional. Made once, checked in each run.
class DeclaredType {
 public:
  // Throws InvalidArgument, subject `graph input "x"`, when there is no type or element type; Unsupported for sparse
  // tensors and other kinds that cannot be fed.
  DeclaredType(const ValueInfoProto& info, std::string_view what);

  bool is_optional() const { return optional_; }
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
  struct Type {
    enum class Kind : uint8_t { kTensor, kSequence, kMap };
    Kind kind = Kind::kTensor;
    bool has_shape = false;                     // of a tensor
    TensorType dtype = TensorType::kUndefined;  // of a tensor's elements, of a map's keys
    std::vector<Dim> dims;                      // of a tensor
    std::unique_ptr<Type> elem;                 // of a sequence's elements, of a map's values
  };
  Type Read(const TypeProto& type, const ErrorWhere& where, int depth) const;
  static bool Matches(const Type& type, const Tensor& tensor);
  static std::string Misfit(const Type& type, const Value& value);
  static std::string MisfitOfElements(const Type& type, const Sequence& elements, std::string_view what);

  bool optional_ = false;
  Type type_;
  std::string text_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
