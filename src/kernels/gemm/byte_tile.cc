// SPDX-License-Identifier: Apache-2.0
// The one file of intrinsics: Highway's vectors know no products of bytes.
//
// Where no instruction multiplies bytes exactly (pmaddubsw saturates), those at even and odd places are widened to 16
// bits and multiplied as pairs (pmaddwd), whose sums fit 32.
#include "kernels/gemm/byte_tile.h"

#include <array>
#include <cstring>
#include <vector>

#include "base/cpu_features.h"
#include "kernels/gemm/panel.h"

#if defined(__x86_64__)
#include <hwy/highway.h>  // HWY_PUSH_ATTRIBUTES
#include <immintrin.h>
#endif

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

void MultiplyPlain(const ByteTile& tile) {
  const int64_t all = tile.vectors * tile.lanes;
  for (int r = 0; r < tile.rows; ++r)
    for (int panel = 0; panel < tile.panels; ++panel) {
      auto* const sums = reinterpret_cast<uint32_t*>(tile.sums + (r * tile.panels + panel) * all);  // which wrap
      std::memset(sums, 0, static_cast<size_t>(all) * sizeof(int32_t));
      const uint8_t* a = tile.a + r * tile.a_row;
      const int8_t* b = tile.b + panel * tile.panel_bytes;
      for (int64_t quad = 0; quad < tile.quads; ++quad, a += kByteQuad, b += tile.quad_bytes)
        for (int64_t column = 0; column < all; ++column) {
          for (int64_t i = 0; i < kByteQuad; ++i)
            sums[column] += static_cast<uint32_t>(int32_t{a[i]} * b[column * kByteQuad + i]);
        }
    }
}

void MultiplyPlanesPlain(const BytePlanes& planes) {
  for (int r = 0; r < planes.rows; ++r)
    for (int64_t at = 0; at < planes.vectors * planes.lanes; ++at) {
      auto sum = static_cast<uint32_t>(planes.starts[r]);  // which wraps
      for (int64_t quad = 0; quad < planes.quads; ++quad)
        for (int64_t i = 0; i < kByteQuad; ++i)
          sum += static_cast<uint32_t>(int32_t{planes.x[planes.offsets[quad] + at * kByteQuad + i]} *
                                       planes.w[(quad * planes.rows + r) * kByteQuad + i]);
      planes.sums[r * planes.sums_row + at] = static_cast<int32_t>(sum);
    }
}

#if defined(__x86_64__)
template <class T>
inline T Read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Where bytes are widened, each row's factor and the column take two registers beside the sums.
HWY_PUSH_ATTRIBUTES("sse2,ssse3,sse4.1")
namespace sse4 {
struct Pair {
  __m128i even, odd;
};
using Vec = __m128i;
using Factor = Pair;
using Column = Pair;
constexpr int64_t kLanes = 4;
constexpr int kMostRows = 2;
template <int kRows>
inline constexpr int kMostVectors = kRows == 1 ? 8 : 4;
inline Vec Zero() { return _mm_setzero_si128(); }
inline Vec SpreadSum(int32_t sum) { return _mm_set1_epi32(sum); }
inline Factor Unsigned(__m128i all) { return {_mm_and_si128(all, _mm_set1_epi16(0xFF)), _mm_srli_epi16(all, 8)}; }
inline Column Signed(__m128i all) { return {_mm_srai_epi16(_mm_slli_epi16(all, 8), 8), _mm_srai_epi16(all, 8)}; }
inline Factor Spread(const uint8_t* a) { return Unsigned(_mm_set1_epi32(Read<int32_t>(a))); }
inline Column SpreadWeights(const int8_t* w) { return Signed(_mm_set1_epi32(Read<int32_t>(w))); }
inline Factor LoadPlane(const uint8_t* x) { return Unsigned(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x))); }
inline Column Load(const int8_t* b) { return Signed(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b))); }
inline Vec Dot(Vec sum, const Factor& a, const Column& b) {
  return _mm_add_epi32(sum, _mm_add_epi32(_mm_madd_epi16(a.even, b.even), _mm_madd_epi16(a.odd, b.odd)));
}
inline void Store(int32_t* to, Vec sum) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), sum); }
#include "kernels/gemm/byte_tile-inl.h"
}  // namespace sse4
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES("avx2")
namespace avx2 {
struct Pair {
  __m256i even, odd;
};
using Vec = __m256i;
using Factor = Pair;
using Column = Pair;
constexpr int64_t kLanes = 8;
constexpr int kMostRows = 2;
template <int kRows>
inline constexpr int kMostVectors = kRows == 1 ? 8 : 4;
inline Vec Zero() { return _mm256_setzero_si256(); }
inline Vec SpreadSum(int32_t sum) { return _mm256_set1_epi32(sum); }
inline Factor Unsigned(__m256i all) {
  return {_mm256_and_si256(all, _mm256_set1_epi16(0xFF)), _mm256_srli_epi16(all, 8)};
}
inline Column Signed(__m256i all) {
  return {_mm256_srai_epi16(_mm256_slli_epi16(all, 8), 8), _mm256_srai_epi16(all, 8)};
}
inline Factor Spread(const uint8_t* a) { return Unsigned(_mm256_set1_epi32(Read<int32_t>(a))); }
inline Column SpreadWeights(const int8_t* w) { return Signed(_mm256_set1_epi32(Read<int32_t>(w))); }
inline Factor LoadPlane(const uint8_t* x) { return Unsigned(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x))); }
inline Column Load(const int8_t* b) { return Signed(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b))); }
inline Vec Dot(Vec sum, const Factor& a, const Column& b) {
  return _mm256_add_epi32(sum, _mm256_add_epi32(_mm256_madd_epi16(a.even, b.even), _mm256_madd_epi16(a.odd, b.odd)));
}
inline void Store(int32_t* to, Vec sum) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sum); }
#include "kernels/gemm/byte_tile-inl.h"
}  // namespace avx2
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES("avx2,avxvnni")
namespace avx_vnni {
using Vec = __m256i;
using Factor = __m256i;
using Column = __m256i;
constexpr int64_t kLanes = 8;
constexpr int kMostRows = 3;
template <int kRows>
inline constexpr int kMostVectors = kRows == 1 ? 8 : 4;
inline Vec Zero() { return _mm256_setzero_si256(); }
inline Vec SpreadSum(int32_t sum) { return _mm256_set1_epi32(sum); }
inline Factor Spread(const uint8_t* a) { return _mm256_set1_epi32(Read<int32_t>(a)); }
inline Column SpreadWeights(const int8_t* w) { return _mm256_set1_epi32(Read<int32_t>(w)); }
inline Factor LoadPlane(const uint8_t* x) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)); }
inline Column Load(const int8_t* b) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)); }
inline Vec Dot(Vec sum, Factor a, Column b) { return _mm256_dpbusd_avx_epi32(sum, a, b); }
inline void Store(int32_t* to, Vec sum) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sum); }
#include "kernels/gemm/byte_tile-inl.h"
}  // namespace avx_vnni
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw")
namespace avx512 {
struct Pair {
  __m512i even, odd;
};
using Vec = __m512i;
using Factor = Pair;
using Column = Pair;
constexpr int64_t kLanes = 16;
constexpr int kMostRows = 4;
template <int kRows>
inline constexpr int kMostVectors = kRows == 1 ? 16 : 4;
inline Vec Zero() { return _mm512_setzero_si512(); }
inline Vec SpreadSum(int32_t sum) { return _mm512_set1_epi32(sum); }
inline Factor Unsigned(__m512i all) {
  return {_mm512_and_si512(all, _mm512_set1_epi16(0xFF)), _mm512_srli_epi16(all, 8)};
}
inline Column Signed(__m512i all) {
  return {_mm512_srai_epi16(_mm512_slli_epi16(all, 8), 8), _mm512_srai_epi16(all, 8)};
}
inline Factor Spread(const uint8_t* a) { return Unsigned(_mm512_set1_epi32(Read<int32_t>(a))); }
inline Column SpreadWeights(const int8_t* w) { return Signed(_mm512_set1_epi32(Read<int32_t>(w))); }
inline Factor LoadPlane(const uint8_t* x) { return Unsigned(_mm512_loadu_si512(x)); }
inline Column Load(const int8_t* b) { return Signed(_mm512_loadu_si512(b)); }
inline Vec Dot(Vec sum, const Factor& a, const Column& b) {
  return _mm512_add_epi32(sum, _mm512_add_epi32(_mm512_madd_epi16(a.even, b.even), _mm512_madd_epi16(a.odd, b.odd)));
}
inline void Store(int32_t* to, Vec sum) { _mm512_storeu_si512(to, sum); }
#include "kernels/gemm/byte_tile-inl.h"
}  // namespace avx512
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vnni")
namespace avx512_vnni {
using Vec = __m512i;
using Factor = __m512i;
using Column = __m512i;
constexpr int64_t kLanes = 16;
constexpr int kMostRows = 6;
template <int kRows>
inline constexpr int kMostVectors = kRows == 1   ? 16
                                    : kRows <= 3 ? 8
                                                 : 4;
inline Vec Zero() { return _mm512_setzero_si512(); }
inline Vec SpreadSum(int32_t sum) { return _mm512_set1_epi32(sum); }
inline Factor Spread(const uint8_t* a) { return _mm512_set1_epi32(Read<int32_t>(a)); }
inline Column SpreadWeights(const int8_t* w) { return _mm512_set1_epi32(Read<int32_t>(w)); }
inline Factor LoadPlane(const uint8_t* x) { return _mm512_loadu_si512(x); }
inline Column Load(const int8_t* b) { return _mm512_loadu_si512(b); }
inline Vec Dot(Vec sum, Factor a, Column b) { return _mm512_dpbusd_epi32(sum, a, b); }
inline void Store(int32_t* to, Vec sum) { _mm512_storeu_si512(to, sum); }
#include "kernels/gemm/byte_tile-inl.h"
}  // namespace avx512_vnni
HWY_POP_ATTRIBUTES
#endif

std::vector<ByteKernel> Runnable() {
  std::vector<ByteKernel> kernels;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool has_avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0;
  if (has_avx512 && __builtin_cpu_supports("avx512vnni"))
    kernels.push_back({"avx512_vnni", avx512_vnni::kLanes, avx512_vnni::kMostRows, avx512_vnni::Multiply,
                       avx512_vnni::MultiplyPlanes});
  if (has_avx512)
    kernels.push_back({"avx512", avx512::kLanes, avx512::kMostRows, avx512::Multiply, avx512::MultiplyPlanes});
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("avxvnni"))
    kernels.push_back(
        {"avx_vnni", avx_vnni::kLanes, avx_vnni::kMostRows, avx_vnni::Multiply, avx_vnni::MultiplyPlanes});
  if (__builtin_cpu_supports("avx2"))
    kernels.push_back({"avx2", avx2::kLanes, avx2::kMostRows, avx2::Multiply, avx2::MultiplyPlanes});
  if (__builtin_cpu_supports("sse4.1"))
    kernels.push_back({"sse4", sse4::kLanes, sse4::kMostRows, sse4::Multiply, sse4::MultiplyPlanes});
#endif
  kernels.push_back({"plain", 0, 1, MultiplyPlain, MultiplyPlanesPlain});
  return kernels;
}

}  // namespace

std::span<const ByteKernel> ByteKernels() {
  static const std::vector<ByteKernel> kernels = Runnable();
  return kernels;
}

const ByteKernel& ByteKernelFor(int64_t lanes) {
  const std::span<const ByteKernel> kernels = ByteKernels();
  for (const ByteKernel& kernel : kernels)
    if (kernel.lanes == lanes) return kernel;
  return kernels.back();
}

const ByteKernel& ActiveByteKernel() {
  switch (ActiveIsa()) {
    case Isa::kAvx512:
      return ByteKernelFor(16);
    case Isa::kAvx2:
      return ByteKernelFor(8);
    case Isa::kSse4:
      return ByteKernelFor(4);
    case Isa::kBaseline:
      break;
  }
  return ByteKernels().back();
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
