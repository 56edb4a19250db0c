// SPDX-License-Identifier: Apache-2.0
#include "kernels/contract/contract.h"

#include <cassert>
#include <type_traits>

#include "kernels/elementwise/rows.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Goes through an array of dims in row-major order, with the offset of each operand.
class Walk {
 public:
  Walk(std::span<const int64_t> dims, const Contraction& how, size_t first_axis)
      : dims_(dims), how_(how), first_(first_axis), index_(dims.size()) {
    for (const int64_t d : dims) size_ *= d;
  }
  int64_t size() const { return size_; }
  void Next(std::vector<int64_t>& offsets) {
    for (size_t d = dims_.size(); d-- > 0;) {
      const bool wraps = ++index_[d] == dims_[d];
      for (size_t k = 0; k < offsets.size(); ++k) {
        const int64_t stride = how_.strides[k][first_ + d];
        offsets[k] += wraps ? -stride * (dims_[d] - 1) : stride;
      }
      if (!wraps) return;
      index_[d] = 0;
    }
  }

 private:
  std::span<const int64_t> dims_;
  const Contraction& how_;
  size_t first_;
  std::vector<int64_t> index_;
  int64_t size_ = 1;
};

template <class T>
void ContractTyped(std::span<const void* const> operands, const Contraction& how, void* out,
                   const std::function<void()>& pause) {
  // Of integers unsigned, so that they wrap.
  using A = std::conditional_t<kIsHalf<T>, float, std::conditional_t<std::is_integral_v<T>, uint64_t, T>>;
  std::vector<int64_t> offsets(operands.size());
  Walk outputs(how.out_dims, how, 0);
  int64_t done = 0;
  for (int64_t o = 0; o < outputs.size(); ++o) {
    A sum{};
    std::vector<int64_t> inner = offsets;
    Walk terms(how.sum_dims, how, how.out_dims.size());
    for (int64_t t = 0; t < terms.size(); ++t) {
      if (pause && ++done % 65536 == 0) pause();
      A product = A(1);
      for (size_t k = 0; k < operands.size(); ++k)
        product *= static_cast<A>(Load(static_cast<const T*>(operands[k])[inner[k]]));
      sum += product;
      terms.Next(inner);
    }
    static_cast<T*>(out)[o] = static_cast<T>(sum);
    outputs.Next(offsets);
  }
}

}  // namespace

void Contract(TensorType type, std::span<const void* const> operands, const Contraction& how, void* out,
              const std::function<void()>& pause) {
  switch (type) {
    case TensorType::kFloat:
      return ContractTyped<float>(operands, how, out, pause);
    case TensorType::kDouble:
      return ContractTyped<double>(operands, how, out, pause);
    case TensorType::kFloat16:
      return ContractTyped<Float16>(operands, how, out, pause);
    case TensorType::kBfloat16:
      return ContractTyped<BFloat16>(operands, how, out, pause);
    case TensorType::kInt8:
      return ContractTyped<int8_t>(operands, how, out, pause);
    case TensorType::kInt16:
      return ContractTyped<int16_t>(operands, how, out, pause);
    case TensorType::kInt32:
      return ContractTyped<int32_t>(operands, how, out, pause);
    case TensorType::kInt64:
      return ContractTyped<int64_t>(operands, how, out, pause);
    case TensorType::kUint8:
      return ContractTyped<uint8_t>(operands, how, out, pause);
    case TensorType::kUint16:
      return ContractTyped<uint16_t>(operands, how, out, pause);
    case TensorType::kUint32:
      return ContractTyped<uint32_t>(operands, how, out, pause);
    case TensorType::kUint64:
      return ContractTyped<uint64_t>(operands, how, out, pause);
    default:
      assert(false);
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
