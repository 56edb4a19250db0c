// SPDX-License-Identifier: Apache-2.0
#include "kernels/strided/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/strided/transpose.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

struct Dim {
  int64_t size;
  int64_t stride;
};

// Without dims of one element, neighbours merged that one stride walks through. Never empty.
std::vector<Dim> Merge(std::span<const int64_t> dims, std::span<const int64_t> strides) {
  std::vector<Dim> merged;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    if (!merged.empty() && merged.back().stride == strides[d] * dims[d]) {
      merged.back() = {merged.back().size * dims[d], strides[d]};
    } else {
      merged.push_back({dims[d], strides[d]});
    }
  }
  if (merged.empty()) merged.push_back({1, 1});
  return merged;
}

template <class T>
void Row(const T* from, int64_t stride, T* to, int64_t n) {
  if (stride == 1) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
    } else {
      std::copy_n(from, n, to);
    }
  } else if (stride == 0) {
    std::fill_n(to, n, *from);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
  }
}

template <class T>
void Copy(const T* from, T* to, const std::vector<Dim>& dims, int64_t begin, int64_t end) {
  if (begin >= end) return;
  const Dim inner = dims.back();
  size_t outer = dims.size() - 1;
  const bool whole = outer >= 1 && begin % inner.size == 0 && end % inner.size == 0;
  // Whole rows of the last two dims, read down the columns of the source.
  const bool tiled = whole && dims[outer - 1].stride == 1 && inner.stride > 1;
  // The same row several times: copied from where it was written, more and more at once.
  const bool repeated = whole && dims[outer - 1].stride == 0 && inner.stride == 1;
  int64_t block = inner.size;
  if (tiled || repeated) block *= dims[--outer].size;
  std::vector<int64_t> index(outer);
  int64_t offset = 0;
  int64_t rest = begin / block;
  for (size_t d = outer; d-- > 0;) {
    index[d] = rest % dims[d].size;
    rest /= dims[d].size;
    offset += index[d] * dims[d].stride;
  }
  int64_t column = begin % block;
  to += begin;
  while (begin < end) {
    const int64_t n = std::min(block - column, end - begin);
    if (tiled) {
      TransposeInto(from + offset + column / inner.size, inner.stride, to, inner.size, inner.size, n / inner.size);
    } else if (repeated) {
      Row(from + offset, 1, to, inner.size);
      for (int64_t done = inner.size, more = 0; done < n; done += more) {
        more = std::min(done, n - done);
        Row(to, 1, to + done, more);
      }
    } else {
      Row(from + offset + column * inner.stride, inner.stride, to, n);
    }
    begin += n;
    to += n;
    column = 0;
    for (size_t d = outer; d-- > 0;) {
      offset += dims[d].stride;
      if (++index[d] < dims[d].size) break;
      offset -= dims[d].stride * dims[d].size;
      index[d] = 0;
    }
  }
}

struct Bytes16 {
  uint64_t low;
  uint64_t high;
};

}  // namespace

void StridedCopy(const void* from, void* to, std::span<const int64_t> dims, std::span<const int64_t> strides,
                 size_t element_size, int64_t begin, int64_t end) {
  const std::vector<Dim> merged = Merge(dims, strides);
  const auto copy = [&]<class T>(std::type_identity<T>) {
    Copy(static_cast<const T*>(from), static_cast<T*>(to), merged, begin, end);
  };
  switch (element_size) {
    case 1:
      return copy(std::type_identity<uint8_t>());
    case 2:
      return copy(std::type_identity<uint16_t>());
    case 4:
      return copy(std::type_identity<uint32_t>());
    case 8:
      return copy(std::type_identity<uint64_t>());
    default:
      return copy(std::type_identity<Bytes16>());
  }
}

void StridedCopyStrings(const void* from, void* to, std::span<const int64_t> dims, std::span<const int64_t> strides) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  Copy(static_cast<const std::string*>(from), static_cast<std::string*>(to), Merge(dims, strides), 0, n);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
