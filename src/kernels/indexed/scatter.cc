// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "kernels/elementwise/rows.h"
#include "kernels/indexed/indexed.h"
#include "kernels/indexed/storage_type.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

template <class T>
auto Reduce(ScatterReduction reduction, T there, T added) {
  using W = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  switch (reduction) {
    case ScatterReduction::kAdd:
      return static_cast<T>(static_cast<W>(there) + static_cast<W>(added));
    case ScatterReduction::kMul:
      return static_cast<T>(static_cast<W>(there) * static_cast<W>(added));
    case ScatterReduction::kMin:
      return added < there || added != added ? added : there;
    case ScatterReduction::kMax:
      return added > there || added != added ? added : there;
    case ScatterReduction::kNone:
      break;
  }
  return added;
}

template <class T>
void ReduceRows(ScatterReduction reduction, void* to, std::span<const int64_t> offsets, int64_t row, const void* from) {
  const auto* added = static_cast<const T*>(from);
  for (const int64_t offset : offsets) {
    T* there = static_cast<T*>(to) + offset;
    for (int64_t k = 0; k < row; ++k, ++added)
      there[k] = static_cast<T>(Reduce(reduction, Load(there[k]), Load(*added)));
  }
}

using ReduceRowsFn = void (*)(ScatterReduction, void*, std::span<const int64_t>, int64_t, const void*);
ReduceRowsFn ReduceRowsFor(TensorType type) {
  switch (type) {
    case TensorType::kFloat:
      return ReduceRows<float>;
    case TensorType::kDouble:
      return ReduceRows<double>;
    case TensorType::kFloat16:
      return ReduceRows<Float16>;
    case TensorType::kBfloat16:
      return ReduceRows<BFloat16>;
    case TensorType::kInt8:
      return ReduceRows<int8_t>;
    case TensorType::kInt16:
      return ReduceRows<int16_t>;
    case TensorType::kInt32:
      return ReduceRows<int32_t>;
    case TensorType::kInt64:
      return ReduceRows<int64_t>;
    case TensorType::kUint8:
      return ReduceRows<uint8_t>;
    case TensorType::kUint16:
      return ReduceRows<uint16_t>;
    case TensorType::kUint32:
      return ReduceRows<uint32_t>;
    case TensorType::kUint64:
      return ReduceRows<uint64_t>;
    default:
      return nullptr;
  }
}

}  // namespace

bool CanScatter(TensorType type, ScatterReduction reduction) {
  return reduction == ScatterReduction::kNone || ReduceRowsFor(type) != nullptr;
}

void ScatterRows(TensorType type, ScatterReduction reduction, void* to, std::span<const int64_t> offsets, int64_t row,
                 const void* from) {
  if (reduction != ScatterReduction::kNone) return ReduceRowsFor(type)(reduction, to, offsets, row, from);
  DispatchStorage(type, [&]<class E>(std::type_identity<E>) {
    const auto* added = static_cast<const E*>(from);
    if (row == 1) {
      for (const int64_t offset : offsets) static_cast<E*>(to)[offset] = *added++;
      return;
    }
    for (const int64_t offset : offsets) {
      std::copy_n(added, row, static_cast<E*>(to) + offset);
      added += row;
    }
  });
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
