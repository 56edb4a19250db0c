// SPDX-License-Identifier: Apache-2.0
#include "kernels/order/order.h"

#include <algorithm>
#include <cassert>
#include <complex>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/elementwise/rows.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// As Load gives them.
template <class V>
int CompareOne(const V& a, const V& b) {
  if (a < b) return -1;
  if (a > b) return 1;
  if constexpr (std::is_floating_point_v<V>) {
    if (a != a || b != b) return static_cast<int>(a != a) - static_cast<int>(b != b);
  }
  return 0;
}
template <class R>
int CompareOne(const std::complex<R>& a, const std::complex<R>& b) {
  const int real = CompareOne(a.real(), b.real());
  return real != 0 ? real : CompareOne(a.imag(), b.imag());
}

template <class T>
int CompareRows(const void* a, const void* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const int order = CompareOne(Load(static_cast<const T*>(a)[i]), Load(static_cast<const T*>(b)[i]));
    if (order != 0) return order;
  }
  return 0;
}

// Into `order`: the k <= n of [0, n) that come first, in no order.
template <class Before>
void SelectBest(std::vector<int64_t>& order, int64_t n, int64_t k, const Before& before) {
  // Candidates are weeded out when there are twice as many as needed: n comparisons at most a few times over, in steps
  // short enough to be stopped in between. Of very many each step is long, and it is left to the sort.
  constexpr int64_t kLeast = int64_t{1} << 16, kMany = int64_t{1} << 20;
  order.clear();
  for (int64_t next = 0; next < n && !StopRequested();) {
    const auto room = static_cast<size_t>(k > kMany ? n : std::max(2 * k, kLeast));
    while (next < n && order.size() < room) order.push_back(next++);
    if (static_cast<int64_t>(order.size()) <= k || k > kMany) continue;
    std::nth_element(order.begin(), order.begin() + k, order.end(), before);
    order.resize(static_cast<size_t>(k));
  }
}

// The k <= n of [0, n) that come first, in order: for a k so small that each, once found to be among them, may as well
// be put in its place at once.
template <class Before>
void InsertBest(std::vector<int64_t>& order, int64_t n, int64_t k, const Before& before) {
  order.clear();
  for (int64_t i = 0; i < n && k > 0; ++i) {
    if (static_cast<int64_t>(order.size()) == k) {
      if (!before(i, order.back())) continue;
      order.pop_back();
    }
    auto at = order.end();
    while (at != order.begin() && before(i, *(at - 1))) --at;
    order.insert(at, i);
  }
}

template <class T>
void TopKOf(const void* data, void* values, int64_t* indices, int64_t outer, int64_t n, int64_t inner, int64_t k,
            bool greatest) {
  constexpr int64_t kInserted = 16, kUnstopped = int64_t{1} << 20;
  std::vector<int64_t> order;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner && !StopRequested(); ++i) {
      const T* x = static_cast<const T*>(data) + o * n * inner + i;
      const auto before = [&](int64_t a, int64_t b) {
        const int compared = CompareOne(Load(x[a * inner]), Load(x[b * inner]));
        return compared == 0 ? a < b : (compared > 0) == greatest;
      };
      if (k <= kInserted && n <= kUnstopped) {
        InsertBest(order, n, k, before);
      } else {
        SelectBest(order, n, k, before);
        SortUnlessStopped(std::span(order), before);
      }
      if (StopRequested()) return;
      for (int64_t j = 0; j < k; ++j) {
        const int64_t at = (o * k + j) * inner + i;
        indices[at] = order[static_cast<size_t>(j)];
        static_cast<T*>(values)[at] = x[indices[at] * inner];
      }
    }
  }
}

template <class Fn>
bool DispatchNumber(TensorType type, Fn&& fn) {
  switch (type) {
    case TensorType::kFloat:
      return fn(std::type_identity<float>()), true;
    case TensorType::kDouble:
      return fn(std::type_identity<double>()), true;
    case TensorType::kFloat16:
      return fn(std::type_identity<Float16>()), true;
    case TensorType::kBfloat16:
      return fn(std::type_identity<BFloat16>()), true;
    case TensorType::kInt8:
      return fn(std::type_identity<int8_t>()), true;
    case TensorType::kInt16:
      return fn(std::type_identity<int16_t>()), true;
    case TensorType::kInt32:
      return fn(std::type_identity<int32_t>()), true;
    case TensorType::kInt64:
      return fn(std::type_identity<int64_t>()), true;
    case TensorType::kUint8:
      return fn(std::type_identity<uint8_t>()), true;
    case TensorType::kUint16:
      return fn(std::type_identity<uint16_t>()), true;
    case TensorType::kUint32:
      return fn(std::type_identity<uint32_t>()), true;
    case TensorType::kUint64:
      return fn(std::type_identity<uint64_t>()), true;
    default:
      return false;
  }
}

}  // namespace

CompareFn CompareFnFor(TensorType type) {
  CompareFn result = nullptr;
  if (DispatchNumber(type, [&]<class T>(std::type_identity<T>) { result = CompareRows<T>; })) return result;
  switch (type) {
    case TensorType::kBool:
      return CompareRows<bool>;
    case TensorType::kString:
      return CompareRows<std::string>;
    case TensorType::kComplex64:
      return CompareRows<std::complex<float>>;
    case TensorType::kComplex128:
      return CompareRows<std::complex<double>>;
    default:
      return nullptr;
  }
}

void TopK(TensorType type, const void* x, void* values, int64_t* indices, int64_t outer, int64_t n, int64_t inner,
          int64_t k, bool greatest) {
  [[maybe_unused]] const bool found = DispatchNumber(
      type, [&]<class T>(std::type_identity<T>) { TopKOf<T>(x, values, indices, outer, n, inner, k, greatest); });
  assert(found);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
