// SPDX-License-Identifier: Apache-2.0
// What MatMul, Gemm and the quantised products share: a product of dense row-major matrices of any element type they
// take.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "kernels/gemm/gemm.h"
#include "ops/run_context.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

inline constexpr TypeSet kMatrixTypes =
    kFloatTypes | TypeSet{TensorType::kInt32, TensorType::kInt64, TensorType::kUint32, TensorType::kUint64};

// `batch` products C[m,n] = op(A) op(B), where op transposes on demand: A is stored [m,k], or [k,m] when transposed, B
// [k,n] or [n,k]. Offsets in elements, [batch] each, or empty for one product.
struct MatrixProduct {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t batch = 1;
  std::vector<int64_t> a_offsets = {}, b_offsets = {}, c_offsets = {};
};

// The product of inputs a and b as numpy.matmul has it: the last two axes are matrices, the ones before them broadcast;
// a vector gets an axis of one in front (a) or behind (b), dropped from the result, whose shape that is.
// InvalidArgument for shapes that do not go together.
struct PlannedProduct {
  MatrixProduct product;
  Shape shape;
};
PlannedProduct PlanProduct(const RunContext& ctx, int a, int b);
// The same where an operand is the input under another shape of as many elements, its last two axes swapped on top
// (`transpose`; it then has two).
struct ProductOperand {
  int input;
  Shape shape;
  bool transpose = false;
};
PlannedProduct PlanProduct(const RunContext& ctx, const ProductOperand& a, const ProductOperand& b);
// Output 0 has that shape.
void ProductShape(InferScope& scope, int a, int b, TensorType dtype);
// The same where the operands have these shapes.
void ProductShape(InferScope& scope, int a_input, const OptimShape& a, int b_input, const OptimShape& b,
                  TensorType dtype);

// Matrices of more bytes are multiplied as they lie in the file: a copy of each would double what a large model takes.
inline constexpr size_t kMostPackedBytes = 16 << 20;

// B of a product, where it is a constant matrix of float or double. It is packed by the first run that needs it, so
// that loading a model reads no weights.
struct ConstantFactor : OpState {
  Tensor b;  // undefined when it is not to be packed
  bool transposed = false, flush_denormals = true;
  mutable std::once_flag once;
  mutable std::variant<std::monostate, kernels::PackedMatrix<float>, kernels::PackedMatrix<double>> packed;
  bool is_packed() const { return b.defined(); }
};
// Of input 1; `transposed`: as it stands, it is [n,k].
std::unique_ptr<ConstantFactor> PackConstantFactor(const PrepareContext& ctx, bool transposed);
// c[m,n] = a b + bias for dense a [m,k], then + added and the negative ones 0 with `relu`; all of the factor's type,
// bias and added [n] undefined for none.
void MultiplyPacked(RunContext& ctx, const ConstantFactor& b, int64_t m, const Tensor& a, const Tensor& bias, Tensor& c,
                    const Tensor& added = Tensor(), bool relu = false);

// The product that inputs 0 and 1 of a Gemm node ask for with its attributes transA and transB. InvalidArgument when
// they are no matrices that go together, or input 2, which may be absent, does not broadcast to the result.
MatrixProduct PlanGemm(const RunContext& ctx);

// InvalidArgument where input `c` does not broadcast to [m,n].
void CheckAddend(const RunContext& ctx, int c, int64_t m, int64_t n);
// The shape of the product of inputs a and b, matrices, that attributes transA and transB ask for.
OptimShape GemmShape(InferScope& scope, int a, int b);

// c is an own tensor of the type of a and b.
void Multiply(RunContext& ctx, const MatrixProduct& product, const Tensor& a, const Tensor& b, Tensor& c);

}  // namespace ONNX_LIGHT_NAMESPACE
