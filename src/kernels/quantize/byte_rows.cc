// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantize/byte_rows.h"

#include "base/cpu_features.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantize/byte_rows.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// fn(d, i) for whole vectors of elements from i on, then for the rest one by one.
template <class Fn>
HWY_INLINE void ForVectors(int64_t n, const Fn& fn) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) fn(d, i);
  for (; i < n; ++i) fn(one, i);
}

// Less the zero, as int32.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> LoadCentred(D /*d*/, const void* x, const ByteScale& from, int64_t i) {
  const hn::RebindToSigned<D> wide;
  const auto zero = hn::Set(wide, from.zero);
  if (from.is_signed)
    return hn::Sub(hn::PromoteTo(wide, hn::LoadU(hn::Rebind<int8_t, D>(), static_cast<const int8_t*>(x) + i)), zero);
  return hn::Sub(hn::PromoteTo(wide, hn::LoadU(hn::Rebind<uint8_t, D>(), static_cast<const uint8_t*>(x) + i)), zero);
}

template <class D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const void* x, const ByteScale& from, int64_t i) {
  return hn::Mul(hn::ConvertTo(d, LoadCentred(d, x, from, i)), hn::Set(d, from.scale));
}

// Of steps of the scale.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void StoreSteps(D d, V steps, const ByteScale& to, void* y, int64_t i) {
  // More than any byte is away from any zero, and little enough for an int32.
  constexpr float kFar = 1024;
  const hn::RebindToSigned<D> wide;
  steps = hn::IfThenElseZero(hn::Eq(steps, steps), steps);
  steps = hn::Min(hn::Max(steps, hn::Set(d, -kFar)), hn::Set(d, kFar));
  const auto bytes = hn::Add(hn::NearestInt(steps), hn::Set(wide, to.zero));
  if (to.is_signed) {
    const hn::Rebind<int8_t, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, bytes), narrow, static_cast<int8_t*>(y) + i);
  } else {
    const hn::Rebind<uint8_t, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, bytes), narrow, static_cast<uint8_t*>(y) + i);
  }
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE void StoreBytes(D d, V x, const ByteScale& to, void* y, int64_t i) {
  StoreSteps(d, hn::Div(x, hn::Set(d, to.scale)), to, y, i);
}

void Quantize(const float* x, int64_t n, const ByteScale& to, void* y) {
  ForVectors(n, [&](auto d, int64_t i) HWY_ATTR { StoreBytes(d, hn::LoadU(d, x + i), to, y, i); });
}

void Dequantize(const void* x, int64_t n, const ByteScale& from, float* y) {
  ForVectors(n, [&](auto d, int64_t i) HWY_ATTR { hn::StoreU(LoadFloats(d, x, from, i), d, y + i); });
}

void Requantize(const int32_t* sums, const int32_t* added, const float* factors, int64_t factor_step, int64_t n,
                const ByteScale& to, void* y) {
  ForVectors(n, [&](auto d, int64_t i) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> wide;
    auto sum = hn::LoadU(wide, sums + i);
    if (added != nullptr) sum = hn::Add(sum, hn::LoadU(wide, added + i));
    const auto factor = factor_step == 0 ? hn::Set(d, factors[0]) : hn::LoadU(d, factors + i);
    StoreSteps(d, hn::Mul(hn::ConvertTo(d, sum), factor), to, y, i);
  });
}

struct AddFloats {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};
struct MultiplyFloats {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Mul(a, b);
  }
};

template <class Fn>
HWY_INLINE void Combine(const void* a, int64_t a_step, const ByteScale& of_a, const void* b, int64_t b_step,
                        const ByteScale& of_b, int64_t n, const ByteScale& to, void* y) {
  const hn::CappedTag<float, 1> one;
  const float first_a = n > 0 ? hn::GetLane(LoadFloats(one, a, of_a, 0)) : 0;
  const float first_b = n > 0 ? hn::GetLane(LoadFloats(one, b, of_b, 0)) : 0;
  ForVectors(n, [&](auto d, int64_t i) HWY_ATTR {
    const auto from_a = a_step == 0 ? hn::Set(d, first_a) : LoadFloats(d, a, of_a, i);
    const auto from_b = b_step == 0 ? hn::Set(d, first_b) : LoadFloats(d, b, of_b, i);
    StoreBytes(d, Fn()(from_a, from_b), to, y, i);
  });
}

void AddRows(const void* a, int64_t a_step, const ByteScale& of_a, const void* b, int64_t b_step, const ByteScale& of_b,
             int64_t n, const ByteScale& to, void* y) {
  Combine<AddFloats>(a, a_step, of_a, b, b_step, of_b, n, to, y);
}
void MultiplyRows(const void* a, int64_t a_step, const ByteScale& of_a, const void* b, int64_t b_step,
                  const ByteScale& of_b, int64_t n, const ByteScale& to, void* y) {
  Combine<MultiplyFloats>(a, a_step, of_a, b, b_step, of_b, n, to, y);
}

void SubtractMultiple(const int32_t* x, int64_t x_step, int32_t factor, int64_t n, int32_t* sums) {
  ForVectors(n, [&](auto d, int64_t i) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> wide;
    const auto from = x_step == 0 ? hn::Set(wide, x[0]) : hn::LoadU(wide, x + i);
    hn::StoreU(hn::Sub(hn::LoadU(wide, sums + i), hn::Mul(from, hn::Set(wide, factor))), wide, sums + i);
  });
}

const ByteRowKernels& ByteRowsHere() {
  static const ByteRowKernels rows = {Quantize, Dequantize, Requantize, AddRows, MultiplyRows, SubtractMultiple};
  return rows;
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {

HWY_EXPORT(ByteRowsHere);

const ByteRowKernels& ActiveByteRowKernels() noexcept {
  EnsureIsa();
  return HWY_DYNAMIC_DISPATCH(ByteRowsHere)();
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
