// SPDX-License-Identifier: Apache-2.0
// Fixtures and values for the tests of the nine documented functions.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "onnx_optim/shapes/sequence/shape_sequence.h"
#include "ops/test_support.h"

// A namespace with a name, since the fixtures serve several files.
namespace ONNX_LIGHT_NAMESPACE::nine_functions {

using onnx_optim::OptimDim;
using onnx_optim::OptimSequence;
using onnx_optim::OptimShape;
using onnx_optim::OptimTensor;
using onnx_optim::shapes::Precision;
using onnx_optim::shapes::ShapesContext;
using namespace onnx_optim::shapes::sequence;  // NOLINT: the functions under test

constexpr TensorType kFloat = TensorType::kFloat;
constexpr TensorType kInt64 = TensorType::kInt64;

inline OptimTensor Tensor(TensorType dtype, OptimShape shape) { return OptimTensor(nullptr, dtype, std::move(shape)); }
inline OptimTensor Vector(std::vector<int64_t> values) {
  OptimTensor tensor(nullptr, kInt64, OptimShape{OptimDim(values.size())});
  tensor.SetValueAsShape(OptimShape(values));
  return tensor;
}
inline OptimTensor Scalar(int64_t value) {
  OptimTensor tensor(nullptr, kInt64, OptimShape{});
  tensor.SetValueAsShape(OptimShape{OptimDim(value)});
  return tensor;
}

// Both precisions, where they say the same.
class NineFunctions : public testing::TestWithParam<Precision> {
 protected:
  NineFunctions() { ctx.SetPrecision(GetParam()); }
  ShapesContext ctx;
};

class Documented : public testing::Test {
 protected:
  ShapesContext ctx;
};
class Exact : public testing::Test {
 protected:
  Exact() { ctx.SetPrecision(Precision::kExact); }
  ShapesContext ctx;
};

}  // namespace ONNX_LIGHT_NAMESPACE::nine_functions
