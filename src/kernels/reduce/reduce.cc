// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/reduce.h"

#include <algorithm>

#include "base/stop_token.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

// Inputs between two looks at whether the run is to end: some milliseconds. Longer rows are folded in parts.
constexpr int64_t kStopInputs = int64_t{1} << 22;

}  // namespace

ReduceLoops::ReduceLoops(std::span<const int64_t> dims, std::span<const char> reduced,
                         std::span<const int64_t> strides) {
  // From the last axis to the first.
  int64_t dense_stride = 1, out_stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    const bool folds = reduced[d] != 0;
    const int64_t in_stride = strides.empty() ? dense_stride : strides[d];
    (folds ? count_ : outputs_) *= dims[d];
    dense_stride *= dims[d];
    if (dims[d] == 1) continue;
    if (dims_.empty() && in_stride != 1) dims_.push_back({1, true, 1, 0});  // rows are of neighbours
    if (!dims_.empty() && dims_.back().reduced == folds && in_stride == dims_.back().in_stride * dims_.back().size) {
      dims_.back().size *= dims[d];
    } else {
      dims_.push_back({dims[d], folds, in_stride, folds ? 0 : out_stride});
    }
    if (!folds) out_stride *= dims[d];
  }
  if (dims_.empty()) dims_.push_back({1, true, 1, 0});
  std::ranges::reverse(dims_);
  slices_ = !dims_[0].reduced && dims_.size() > 1 ? dims_[0].size : 1;
}

void ReduceLoops::Run(int64_t begin, int64_t end, const void* in, void* acc, void* out, const ReduceFns& fns) const {
  const int64_t n = (end - begin) * slice_outputs();
  if (n == 0) return;
  fns.init(acc, n);
  if (count_ > 0) {
    const bool sliced = !dims_[0].reduced && dims_.size() > 1;
    const Dim& inner = dims_.back();
    const auto size_of = [&](size_t d) { return d == 0 && sliced ? end - begin : dims_[d].size; };
    size_t outer = dims_.size() - 1;
    // Rows that lie one behind the other go together.
    int64_t together = 1;
    if (outer > 0 && dims_[outer - 1].in_stride == inner.size && dims_[outer - 1].out_stride == (inner.reduced ? 1 : 0))
      together = size_of(--outer);
    std::vector<int64_t> index(outer);
    int64_t rows = 1;
    for (size_t d = 0; d < outer; ++d) rows *= size_of(d);
    const auto* from = static_cast<const std::byte*>(in);
    int64_t in_offset = sliced ? begin * dims_[0].in_stride : 0;
    int64_t acc_offset = 0, since_look = 0;
    const int64_t most_rows = std::max<int64_t>(1, kStopInputs / inner.size);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t r = 0, n_rows = 0; r < together; r += n_rows) {
        n_rows = std::min(together - r, most_rows);
        for (int64_t done = 0, n_part = 0; done < inner.size; done += n_part) {
          n_part = std::min(inner.size - done, kStopInputs);
          since_look += n_rows * n_part;
          if (since_look >= kStopInputs && (since_look = 0, StopRequested())) return;
          const auto* x = from + static_cast<size_t>(in_offset + r * inner.size + done) * fns.in_size;
          auto* total = static_cast<std::byte*>(acc) +
                        static_cast<size_t>(acc_offset + (inner.reduced ? r : done)) * fns.acc_size;
          (inner.reduced ? fns.fold : fns.fold_each)(x, total, n_part, n_rows);
        }
      }
      for (size_t d = outer; d-- > 0;) {
        in_offset += dims_[d].in_stride;
        acc_offset += dims_[d].out_stride;
        if (++index[d] < dims_[d].size || d == 0) break;
        in_offset -= dims_[d].in_stride * dims_[d].size;
        acc_offset -= dims_[d].out_stride * dims_[d].size;
        index[d] = 0;
      }
    }
  }
  fns.finish(acc, static_cast<std::byte*>(out) + static_cast<size_t>(begin * slice_outputs()) * fns.out_size, n,
             count_);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
