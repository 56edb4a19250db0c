// SPDX-License-Identifier: Apache-2.0
#include "ops/rnn/recurrent_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/checked.h"
#include "ops/internal/segments.h"
#include "ops/type_dispatch.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

// Checks X.
void CheckSteps(const RunContext& ctx, const RecurrentSpec& spec, int64_t inputs) {
  const RecurrentOperands& at = *spec.operands;
  const Shape& x = ctx.tensor(at.x).shape();
  const int rank = spec.is_cell() ? 2 : 3;
  if (x.rank() != rank) {
    ctx.FailInput(at.x, fmt::format("must have rank {} ({}), got {}", rank,
                                    spec.is_cell()                               ? "[N,I]"
                                    : spec.layout == RecurrentLayout::kTimeMajor ? "[T,N,I]"
                                    : spec.layout == RecurrentLayout::kPacked    ? "[S,B,I]"
                                                                                 : "[N,T,I]",
                                    x.ToString()));
  }
  if (x[rank - 1] != inputs) {
    Shape expected = x;
    expected[rank - 1] = inputs;
    ctx.FailInput(at.x,
                  fmt::format("must be {} for {} {}, got {}", expected.ToString(), at.names[static_cast<size_t>(at.w)],
                              ctx.tensor(at.w).shape().ToString(), x.ToString()));
  }
}

void CheckCount(const RunContext& ctx, const RecurrentSpec& spec, int64_t count) {
  if (count > std::numeric_limits<int32_t>::max()) {
    ctx.FailInput(spec.operands->x, fmt::format("at most 2^31 - 1 steps and rows are possible, got {}",
                                                ctx.tensor(spec.operands->x).shape().ToString()));
  }
}

template <class I>
void ReadLengths(const RunContext& ctx, const RecurrentSpec& spec, int64_t steps, std::vector<int32_t>& lengths) {
  const int input = spec.operands->lengths;
  const std::span<const I> given = ctx.tensor(input).View<I>();
  lengths.reserve(given.size());
  for (size_t row = 0; row < given.size(); ++row) {
    const I length = given[row];
    if (std::cmp_less(length, 0) || std::cmp_greater(length, steps))
      ctx.FailInput(input, fmt::format("element {} must be in [0,{}], got {}", row, steps, +length));
    lengths.push_back(static_cast<int32_t>(length));
  }
}

// The lengths of the rows; none when all are `steps`. With no steps they mean nothing and are not looked at.
std::vector<int32_t> Lengths(const RunContext& ctx, const RecurrentSpec& spec, int64_t steps) {
  const int input = spec.operands->lengths;
  std::vector<int32_t> lengths;
  if (input < 0 || !ctx.HasInput(input) || steps == 0) return lengths;
  Dispatch(IntList(), ctx.tensor(input).dtype(),
           [&](auto type) { ReadLengths<typename decltype(type)::type>(ctx, spec, steps, lengths); });
  const auto full = static_cast<int32_t>(steps);
  if (std::all_of(lengths.begin(), lengths.end(), [full](int32_t length) { return length == full; })) lengths.clear();
  return lengths;
}

RecurrentStrides StridesOf(const RecurrentSpec& spec, int64_t t, int64_t n, int64_t i, int64_t h) {
  const int64_t d = spec.directions;
  switch (spec.layout) {
    case RecurrentLayout::kTimeMajor:
      return {i, n * i, h, d * n * h, n * h, h, n * h, {t, d, n, h}, {d, n, h}};
    case RecurrentLayout::kBatchMajor:
      return {t * i, i, t * d * h, d * h, h, d * h, h, {n, t, d, h}, {n, d, h}};
    case RecurrentLayout::kOpenVino:
      return {t * i, i, d * t * h, h, t * h, d * h, h, {n, d, t, h}, {n, d, h}};
    case RecurrentLayout::kCell:
    case RecurrentLayout::kPacked:
      break;
  }
  return {i, i, h, h, h, h, h, {}, {n, h}};
}

// A packed value: each row of each element has a place, the longest first.
RecurrentPlaces PlacePacked(const RunContext& ctx, const RecurrentSpec& spec, int64_t i, int64_t h) {
  const RecurrentOperands& at = *spec.operands;
  const Segments segments = ReadSegments(ctx, at.lengths);
  CheckFilled(ctx, segments, at.lengths, at.x, 0);
  const int64_t d = spec.directions, e = segments.count(), b = ctx.tensor(at.x).dim(1);
  const Shape each{d, b, h}, stacked{e, d, b, h};
  // From one element's initial state to the next one's.
  const auto stride = [&](int input) -> int64_t {
    if (input < 0 || !ctx.HasInput(input)) return 0;
    const Shape& shape = ctx.tensor(input).shape();
    if (shape == stacked) return d * b * h;
    if (shape == each) return 0;
    ctx.FailInput(input,
                  fmt::format("must be {} or {}, got {}", each.ToString(), stacked.ToString(), shape.ToString()));
  };
  const int64_t h0 = stride(at.h0), c0 = stride(at.c0);
  std::vector<int64_t> order(static_cast<size_t>(e));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(
      order, [&](int64_t x, int64_t y) { return std::pair(segments.length(y), x) < std::pair(segments.length(x), y); });

  const int64_t longest = order.empty() ? 0 : segments.length(order[0]);
  const auto rows = CheckedMul(e, b);
  CheckCount(ctx, spec, std::max(longest, rows.value_or(INT64_MAX)));
  RecurrentPlaces places{{.x_step = b * i,
                          .y_step = d * b * h,
                          .y_direction = b * h,
                          .state_direction = b * h,
                          .y = {segments.total(), d, b, h},
                          .state = stacked},
                         longest,
                         *rows};
  for (const int64_t element : order) {
    for (int64_t row = 0; row < b; ++row) {
      const int64_t state = element * d * b * h + row * h;
      places.lengths.push_back(static_cast<int32_t>(segments.length(element)));
      places.of_rows.push_back({.x = segments.start(element) * places.x_step + row * i,
                                .y = segments.start(element) * places.y_step + row * h,
                                .h0 = element * h0 + row * h,
                                .c0 = element * c0 + row * h,
                                .yh = state,
                                .yc = state});
    }
  }
  return places;
}

}  // namespace

RecurrentPlaces PlaceRecurrent(const RunContext& ctx, const RecurrentSpec& spec, int64_t inputs, int64_t hidden) {
  CheckSteps(ctx, spec, inputs);
  if (spec.layout == RecurrentLayout::kPacked) return PlacePacked(ctx, spec, inputs, hidden);
  const RecurrentOperands& at = *spec.operands;
  const Shape& x = ctx.tensor(at.x).shape();
  const bool time_major = spec.layout == RecurrentLayout::kTimeMajor;
  const int64_t steps = spec.is_cell() ? 1 : x[time_major ? 0 : 1], rows = x[time_major ? 1 : 0];
  CheckCount(ctx, spec, std::max(steps, rows));
  RecurrentPlaces places{StridesOf(spec, steps, rows, inputs, hidden), steps, rows};
  const auto require = [&](int i, const Shape& expected) {
    if (i < 0 || !ctx.HasInput(i) || ctx.tensor(i).shape() == expected) return;
    ctx.FailInput(i, fmt::format("must be {}, got {}", expected.ToString(), ctx.tensor(i).shape().ToString()));
  };
  require(at.lengths, {rows});
  require(at.h0, places.state);
  require(at.c0, places.state);
  places.lengths = Lengths(ctx, spec, steps);
  return places;
}

}  // namespace ONNX_LIGHT_NAMESPACE
