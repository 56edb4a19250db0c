// SPDX-License-Identifier: Apache-2.0
#include "kernels/window/max_rows.h"

#include "base/cpu_features.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/window/max_rows.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Greater(D, V best, V value) {
  return hn::IfThenElse(hn::Or(hn::Gt(value, best), hn::IsNaN(value)), value, best);
}

template <class T>
HWY_INLINE void MaxAll(std::span<const int64_t> outputs, std::span<const int64_t> places, int64_t channels, const T* x,
                       T* y) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto most = [&](const auto& tag, const T* from, T* to) HWY_ATTR {
    auto best = hn::LoadU(tag, from + places[0]);
    for (size_t k = 1; k < places.size(); ++k) best = Greater(tag, best, hn::LoadU(tag, from + places[k]));
    hn::StoreU(best, tag, to);
  };
  for (const int64_t output : outputs) {
    const T* const from = x + output;
    int64_t c = 0;
    for (; c + lanes <= channels; c += lanes) most(d, from + c, y + c);
    for (; c < channels; ++c) most(one, from + c, y + c);
    y += channels;
  }
}

void MaxFloat(std::span<const int64_t> outputs, std::span<const int64_t> places, int64_t channels, const float* x,
              float* y) {
  MaxAll(outputs, places, channels, x, y);
}
void MaxDouble(std::span<const int64_t> outputs, std::span<const int64_t> places, int64_t channels, const double* x,
               double* y) {
  MaxAll(outputs, places, channels, x, y);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {

HWY_EXPORT(MaxFloat);
HWY_EXPORT(MaxDouble);

void MaxRows(std::span<const int64_t> outputs, std::span<const int64_t> places, int64_t channels, const float* x,
             float* y) noexcept {
  EnsureIsa();
  HWY_DYNAMIC_DISPATCH(MaxFloat)(outputs, places, channels, x, y);
}
void MaxRows(std::span<const int64_t> outputs, std::span<const int64_t> places, int64_t channels, const double* x,
             double* y) noexcept {
  EnsureIsa();
  HWY_DYNAMIC_DISPATCH(MaxDouble)(outputs, places, channels, x, y);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
