// SPDX-License-Identifier: Apache-2.0
#include "kernels/normalize/float_rows.h"

#include "base/cpu_features.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/normalize/float_rows.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

double SquaredDeviations(const float* x, int64_t n, double center) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto mid = hn::Set(d, center);
  // Four chains hide what an addition takes.
  auto a = hn::Zero(d), b = a, c = a, e = a;
  const auto step = [&](auto& sum, int64_t i) HWY_ATTR {
    const auto gap = hn::Sub(hn::PromoteTo(d, hn::LoadU(df, x + i)), mid);
    sum = hn::MulAdd(gap, gap, sum);
  };
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    step(a, i);
    step(b, i + lanes);
    step(c, i + 2 * lanes);
    step(e, i + 3 * lanes);
  }
  for (; i + lanes <= n; i += lanes) step(a, i);
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  for (; i < n; ++i) {
    const double gap = static_cast<double>(x[i]) - center;
    sum += gap * gap;
  }
  return sum;
}

void NormalizeRow(const float* x, float* y, int64_t n, float center, float factor, const float* scale,
                  const float* shift) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto mid = hn::Set(d, center), times = hn::Set(d, factor);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto v = hn::Mul(hn::Mul(hn::Sub(hn::LoadU(d, x + i), mid), times), hn::LoadU(d, scale + i));
    if (shift != nullptr) v = hn::Add(v, hn::LoadU(d, shift + i));
    hn::StoreU(v, d, y + i);
  }
  for (; i < n; ++i) {
    const float v = (x[i] - center) * factor * scale[i];
    y[i] = shift == nullptr ? v : v + shift[i];
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ONNX_LIGHT_NAMESPACE::kernels {

HWY_EXPORT(SquaredDeviations);
HWY_EXPORT(NormalizeRow);

double SumOfSquaredDeviations(const float* x, int64_t n, double center) noexcept {
  EnsureIsa();
  return HWY_DYNAMIC_DISPATCH(SquaredDeviations)(x, n, center);
}
void NormalizeAndScale(const float* x, float* y, int64_t n, float center, float factor, const float* scale,
                       const float* shift) noexcept {
  EnsureIsa();
  HWY_DYNAMIC_DISPATCH(NormalizeRow)(x, y, n, center, factor, scale, shift);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
#endif
