// SPDX-License-Identifier: Apache-2.0
#include "kernels/order/order.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <complex>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
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

// Whole numbers in the order of floating ones, NaN being the greatest, and from them the numbers themselves.
template <class V>
using BitsOf = std::conditional_t<sizeof(V) == 8, int64_t, int32_t>;
template <class V>
int64_t KeyOf(V v) {
  if constexpr (std::is_floating_point_v<V>) {
    constexpr auto kGreatest = std::numeric_limits<BitsOf<V>>::max();
    // The sum makes one zero of both, and of what the run reads as zero.
    const auto bits = std::bit_cast<BitsOf<V>>(v + V(0));
    return v != v ? kGreatest : bits < 0 ? bits ^ kGreatest : bits;
  } else if constexpr (std::is_same_v<V, uint64_t>) {
    return static_cast<int64_t>(v ^ uint64_t{1} << 63);
  } else {
    return static_cast<int64_t>(v);
  }
}
template <class V>
V NumberOf(int64_t key) {
  if constexpr (std::is_floating_point_v<V>) {
    const auto bits = static_cast<BitsOf<V>>(key);
    return std::bit_cast<V>(bits < 0 ? bits ^ std::numeric_limits<BitsOf<V>>::max() : bits);
  } else if constexpr (std::is_same_v<V, uint64_t>) {
    return static_cast<uint64_t>(key) ^ uint64_t { 1 } << 63;
  } else {
    return static_cast<V>(key);
  }
}

// The k >= 1 that come first of numbers that are offered one after the other.
template <class V, bool kGreatest>
class BestNumbers {
 public:
  struct Candidate {
    int64_t key, place;  // the greatest key comes first, of equal ones the first place
  };

  explicit BestNumbers(int64_t k) : k_(k) {}

  void Clear() {
    candidates_.clear();
    full_ = false;
  }
  // The numbers at place, place + 1, ...
  void Offer(std::span<const V> numbers, int64_t place) {
    for (size_t i = 0;; ++i) {
      if (full_) {
        const V worst = worst_;
        while (i < numbers.size() && IsNoBetter(numbers[i], worst)) ++i;
      }
      if (i == numbers.size()) return;
      const int64_t key = KeyOf(numbers[i]);
      const Candidate candidate{kGreatest ? key : ~key, place + static_cast<int64_t>(i)};
      if (k_ <= kInserted) {
        Insert(candidate);
      } else {
        candidates_.push_back(candidate);
        // A few comparisons of each number in all. Of very many each step would be long, and all is left to the sort,
        // which can be stopped.
        if (k_ <= kMany && std::ssize(candidates_) == 2 * k_) Weed();
      }
    }
  }
  // The best in order; in none once the run is to end.
  std::span<const Candidate> Best() {
    if (k_ > kInserted) {
      if (k_ <= kMany && std::ssize(candidates_) > k_) Weed();
      SortUnlessStopped(std::span(candidates_), ComesBefore);
    }
    return std::span(candidates_).first(static_cast<size_t>(k_));
  }

 private:
  // So few may as well be put in their places at once.
  static constexpr int64_t kInserted = 32, kMany = int64_t{1} << 20;

  static bool ComesBefore(const Candidate& a, const Candidate& b) {
    return a.key != b.key ? a.key > b.key : a.place < b.place;
  }
  // A NaN may be better.
  static bool IsNoBetter(V number, V worst) { return kGreatest ? number <= worst : number >= worst; }

  void Insert(const Candidate& candidate) {
    if (full_ && candidate.key <= candidates_.back().key) return;
    if (!full_) candidates_.push_back(candidate);
    size_t at = candidates_.size() - 1;
    for (; at > 0 && candidates_[at - 1].key < candidate.key; --at) candidates_[at] = candidates_[at - 1];
    candidates_[at] = candidate;
    if (std::ssize(candidates_) == k_) SetWorst(candidates_.back());
  }
  // Leaves the k best.
  void Weed() {
    const auto worst = candidates_.begin() + (k_ - 1);
    std::nth_element(candidates_.begin(), worst, candidates_.end(), ComesBefore);
    SetWorst(*worst);
    candidates_.resize(static_cast<size_t>(k_));
  }
  void SetWorst(const Candidate& worst) {
    full_ = true;
    worst_ = NumberOf<V>(kGreatest ? worst.key : ~worst.key);
  }

  int64_t k_;
  std::vector<Candidate> candidates_;
  bool full_ = false;  // k are known, the worst of which is `worst_`
  V worst_ = 0;
};

template <class T, bool kGreatest>
void TopKOf(const T* data, T* values, int64_t* indices, int64_t outer, int64_t n, int64_t inner, int64_t k) {
  using V = std::remove_cvref_t<decltype(Load(std::declval<const T&>()))>;
  constexpr int64_t kBlock = 256, kUnstopped = int64_t{1} << 16;
  BestNumbers<V, kGreatest> best(k);
  V block[kBlock];
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const T* x = data + o * n * inner + i;
      best.Clear();
      for (int64_t j = 0, count = 0; j < n; j += count) {
        if (j % kUnstopped == 0 && StopRequested()) return;
        count = std::min(kBlock, n - j);
        const V* numbers = block;
        if constexpr (std::is_same_v<T, V>) {
          if (inner == 1) numbers = x + j;
        }
        if (numbers == block) {
          for (int64_t b = 0; b < count; ++b) block[b] = Load(x[(j + b) * inner]);
        }
        best.Offer(std::span<const V>(numbers, static_cast<size_t>(count)), j);
      }
      int64_t at = o * k * inner + i;
      for (const auto& candidate : best.Best()) {
        indices[at] = candidate.place;
        values[at] = x[candidate.place * inner];
        at += inner;
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
  if (k == 0) return;
  [[maybe_unused]] const bool found = DispatchNumber(type, [&]<class T>(std::type_identity<T>) {
    const auto top = greatest ? TopKOf<T, true> : TopKOf<T, false>;
    top(static_cast<const T*>(x), static_cast<T*>(values), indices, outer, n, inner, k);
  });
  assert(found);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
