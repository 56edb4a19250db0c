// SPDX-License-Identifier: Apache-2.0
// The definitions behind recurrent.h, for the .cc file of each kind, which instantiates them.
#pragma once

#include <algorithm>
#include <array>

#include "base/checked.h"
#include "kernels/gemm/panel.h"
#include "kernels/recurrent/carver.h"
#include "kernels/recurrent/panel_packer.h"
#include "kernels/recurrent/recurrent_walk.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace recurrent {

// Bytes of pre-activations to compute ahead of the steps that use them: as long as they and the panels in use fit an
// L2.
inline constexpr int64_t kAheadBytes = 2 << 20;
// But at least so many rows, which is where reading W once per chunk is cheap against the arithmetic; and no more than
// pays.
inline constexpr int64_t kLeastAhead = 48, kMostAhead = 240;
// Rows of a part, at least, when rows, not hidden units, are split among threads. Each part reads the weights for
// itself: those of an L2 take fewer multiply-adds to wait for than those beyond it.
inline constexpr int64_t kLeastRowsNear = 4, kLeastRowsFar = 16;
inline constexpr int kMaxDirections = 2;

enum class Split { kNone, kDirections, kUnits, kRows };

// How to share the work of all directions among threads.
struct Sharing {
  Split split = Split::kNone;
  int64_t most_rows = INT64_MAX;  // of a part

  int64_t PartRows(int64_t rows) const { return std::min(rows, most_rows); }
  int64_t PartCount(int64_t rows) const { return rows > 0 ? (rows - 1) / PartRows(rows) + 1 : 1; }
};

template <class Kind, class T>
using Directions = std::span<const RecurrentDirection<Kind, T>>;

// Multiply-adds of one step: those with R, and all.
struct StepWork {
  double state, all;
};
template <class Kind, class T>
StepWork StepWorkOf(const RecurrentDirection<Kind, T>& direction) {
  const auto& w = direction.weights->data();
  const double units = static_cast<double>(Kind::kGates * w.hidden_size) * static_cast<double>(direction.io.rows);
  return {units * static_cast<double>(w.hidden_size), units * static_cast<double>(w.hidden_size + w.input_size)};
}

template <class T>
double WeightBytes(const PackedSizes<T>& w) {
  return w.storage == WeightStorage::kInt8 ? 1 : w.storage == WeightStorage::kBf16 ? 2 : sizeof(T);
}

// The sharing among `threads`; from sizes alone. It decides who computes a number, never how.
template <class Kind, class T>
Sharing Share(Directions<Kind, T> directions, int threads) {
  if (threads <= 1 || directions.empty()) return {};
  double total = 0, step = 0, matrix = 0;
  int64_t groups = INT64_MAX, rows = 0;
  bool equal_lengths = true;
  for (const auto& direction : directions) {
    const auto& w = direction.weights->data();
    const StepWork work = StepWorkOf(direction);
    total += work.all * static_cast<double>(direction.io.steps);
    step += work.state;
    matrix = std::max(matrix, static_cast<double>(Kind::kGates * w.hidden_size) * static_cast<double>(w.hidden_size) *
                                  WeightBytes(w));
    groups = std::min(groups, w.groups);
    rows = std::max(rows, direction.io.rows);
    equal_lengths = equal_lengths && direction.io.lengths == nullptr;
  }
  // Rows that share a range cannot be told apart.
  const bool can_split_rows = !directions.front().weights->data().shared_ranges;
  const Sharing whole = {directions.size() > 1 ? Split::kDirections : Split::kNone};
  if (total < kWorthAThread) return {};
  const int each = threads / static_cast<int>(directions.size());
  if (each <= 1) return whole;
  // Rows need no barrier and nothing of each other: where each thread has enough of them, of equal lengths, they are
  // it.
  const int64_t least = matrix > static_cast<double>(kL2Bytes) ? kLeastRowsFar : kLeastRowsNear;
  if (can_split_rows && equal_lengths && rows / each >= least) return {Split::kRows, (rows - 1) / each + 1};
  if (groups >= 2 * each && step / threads >= kWorthABarrier) return {Split::kUnits};
  if (can_split_rows && rows >= 2 * kLeastRowsFar) return {Split::kRows, kLeastRowsFar};
  return whole;
}

template <class Kind, class T>
int64_t RowsAhead(const RecurrentDirection<Kind, T>& direction, int64_t rows) {
  const auto& w = direction.weights->data();
  const int64_t row_bytes = std::max<int64_t>(1, w.groups * w.lanes * Kind::kGates * static_cast<int64_t>(sizeof(T)));
  const int64_t ahead = std::clamp(kAheadBytes / row_bytes, kLeastAhead, kMostAhead);
  const auto all = CheckedMul(rows, direction.io.steps);
  return std::max(rows, all ? std::min(ahead, *all) : ahead);
}

// What each of `width` threads has of its own, one after the other.
template <class T>
struct OwnScratch {
  const T** rows = nullptr;
  uint8_t* codes = nullptr;
  RowCode* row_codes = nullptr;
  int64_t row_bytes = 0;  // of codes
};

// A part with its scratch.
template <class Kind, class T>
struct PartScratch {
  int32_t *order, *lengths;
  T *h, *z;
  std::array<T*, 2> extra{};
  OwnScratch<T> own;
  int64_t z_rows;

  PartScratch(const RecurrentDirection<Kind, T>& direction, int64_t rows, int width, Carver& carver) {
    const auto& w = direction.weights->data();
    z_rows = RowsAhead(direction, rows);
    order = carver.Take<int32_t>({rows});
    lengths = carver.Take<int32_t>({rows});
    h = carver.Take<T>({2, rows, w.groups, w.lanes});
    for (int i = 0; i < Kind::kExtra; ++i) extra[static_cast<size_t>(i)] = carver.Take<T>({rows, w.groups, w.lanes});
    z = carver.Take<T>({z_rows, w.groups, w.lanes, Kind::kGates});
    own.rows = carver.Take<const T*>({z_rows, width});
    if (w.storage != WeightStorage::kInt8) return;
    own.row_bytes = (std::max(w.input_size, w.hidden_size) / kByteQuad + 1) * kByteQuad;
    own.codes = carver.Take<uint8_t>({z_rows, width, own.row_bytes});
    own.row_codes = carver.Take<RowCode>({z_rows, width});
  }
};

// Bytes of scratch of one part; nothing when they overflow.
template <class Kind, class T>
std::optional<int64_t> PartBytes(const RecurrentDirection<Kind, T>& direction, const Sharing& sharing, int threads) {
  Carver count(nullptr);
  static_cast<void>(PartScratch<Kind, T>(direction, sharing.PartRows(direction.io.rows),
                                         sharing.split == Split::kUnits ? threads : 1, count));
  if (count.used() < 0) return std::nullopt;
  return count.used();
}

// Rows [first, first + rows) of a direction, sorted; equal lengths keep their order.
template <class Kind, class T>
RecurrentPart<Kind, T> MakePart(const RecurrentDirection<Kind, T>& direction, int64_t first, int64_t rows,
                                const PartScratch<Kind, T>& scratch) {
  const RecurrentSequence<T>& io = direction.io;
  const auto length = [&](int64_t row) {
    return io.lengths != nullptr && io.steps > 0 ? io.lengths[row] : static_cast<int32_t>(io.steps);
  };
  for (int64_t i = 0; i < rows; ++i) scratch.order[i] = static_cast<int32_t>(first + i);
  if (io.lengths != nullptr)
    std::sort(scratch.order, scratch.order + rows,
              [&](int32_t a, int32_t b) { return length(a) != length(b) ? length(a) > length(b) : a < b; });
  for (int64_t i = 0; i < rows; ++i) scratch.lengths[i] = length(scratch.order[i]);
  RecurrentPart<Kind, T> part;
  part.weights = &direction.weights->data();
  part.io = &io;
  part.rows = rows;
  part.z_rows = scratch.z_rows;
  part.order = scratch.order;
  part.lengths = scratch.lengths;
  part.h = scratch.h;
  part.extra = scratch.extra;
  part.z = scratch.z;
  return part;
}

template <class Kind, class T>
RecurrentShare<T> ShareOf(const RecurrentPart<Kind, T>& part, const OwnScratch<T>& own, int rank, int width) {
  RecurrentShare<T> share;
  share.group_begin = part.weights->groups * rank / width;
  share.group_end = part.weights->groups * (rank + 1) / width;
  share.rows = own.rows + rank * part.z_rows;
  if (own.codes != nullptr) {
    share.codes = own.codes + rank * part.z_rows * own.row_bytes;
    share.row_codes = own.row_codes + rank * part.z_rows;
  }
  share.width = width;
  return share;
}

template <class Kind, class T>
void Call(const RecurrentVariant<Kind>& variant, const RecurrentPart<Kind, T>& part, const RecurrentShare<T>& share) {
  if constexpr (sizeof(T) == 4)
    (part.weights->storage == WeightStorage::kFull ? variant.f32 : variant.f32_narrow)(part, share);
  else
    variant.f64(part, share);
}

template <class Kind, class T>
void RunShareOf(const RecurrentDirection<Kind, T>& direction, const RecurrentPart<Kind, T>& part,
                const OwnScratch<T>& own, StepBarrier& barrier, int rank, int width) {
  RecurrentShare<T> share = ShareOf(part, own, rank, width);
  share.barrier = &barrier;
  Call(*direction.weights->variant(), part, share);
}

// Rows [first, first + rows) of one direction on the calling thread.
template <class Kind, class T>
void RunAlone(const RecurrentDirection<Kind, T>& direction, int64_t first, int64_t rows,
              const PartScratch<Kind, T>& scratch) {
  StepBarrier barrier;
  RunShareOf(direction, MakePart(direction, first, rows, scratch), scratch.own, barrier, 0, 1);
}

// Hidden units split among threads that run at the same time, the directions among groups of them.
template <class Kind, class T>
void RunUnits(Directions<Kind, T> directions, Carver& carver, ThreadTeam& team, int threads) {
  const int count = static_cast<int>(directions.size());
  std::array<StepBarrier, kMaxDirections> barriers;
  std::array<RecurrentPart<Kind, T>, kMaxDirections> parts;
  std::array<OwnScratch<T>, kMaxDirections> own;
  for (int i = 0; i < count; ++i) {
    const PartScratch<Kind, T> scratch(directions[i], directions[i].io.rows, threads, carver);
    parts[i] = MakePart(directions[i], 0, directions[i].io.rows, scratch);
    own[i] = scratch.own;
  }
  team.Gang(threads, [&](int rank, int size) {
    for (int i = 0; i < count; ++i) {
      const int first = size >= count ? size * i / count : 0;
      const int width = size >= count ? size * (i + 1) / count - first : 1;
      if (rank >= first && rank < first + width)
        RunShareOf(directions[i], parts[i], own[i], barriers[i], rank - first, width);
    }
  });
}

template <class Kind, class T>
bool IsEmpty(const RecurrentDirection<Kind, T>& direction) {
  return direction.io.rows <= 0 || direction.weights->hidden_size() <= 0;
}

}  // namespace recurrent

template <class Kind, class T>
PackedRecurrent<Kind, T>::PackedRecurrent(const Cell& cell, const Weights& weights, bool flush_denormals,
                                          WeightStorage storage)
    : variant_(&Kind::ActiveVariant()) {
  const int64_t hidden = weights.hidden_size, lanes = sizeof(T) == 4 ? variant_->f32_lanes : variant_->f64_lanes;
  data_.input_size = weights.input_size;
  data_.hidden_size = hidden;
  data_.lanes = lanes;
  data_.groups = hidden / lanes + (hidden % lanes != 0 ? 1 : 0);
  data_.storage = sizeof(T) == 4 ? storage : WeightStorage::kFull;
  data_.bytes = &ByteKernelFor(lanes);
  PanelPacker<T> count(data_, flush_denormals, nullptr);
  Kind::Pack(cell, weights, count, data_);
  bytes_ = count.used();
  storage_ = MakeAlignedArray<T>(bytes_ < 0 ? -1 : bytes_ / static_cast<int64_t>(sizeof(T)));
  PanelPacker<T> packer(data_, flush_denormals, reinterpret_cast<std::byte*>(storage_.get()));
  Kind::Pack(cell, weights, packer, data_);
  data_.finite = packer.finite();
}

template <class Kind, class T>
RecurrentCost RecurrentCostOf(std::span<const RecurrentDirection<Kind, T>> directions, int threads) {
  using namespace recurrent;
  RecurrentCost cost;
  double steps = 0;
  int64_t pieces = 0;
  const Sharing sharing = Share<Kind, T>(directions, threads);
  for (const RecurrentDirection<Kind, T>& direction : directions) {
    const double work = StepWorkOf(direction).all * static_cast<double>(direction.io.steps);
    cost.alone += work;
    cost.longest = std::max(cost.longest, work);
    steps = std::max(steps, static_cast<double>(direction.io.steps));
    pieces += sharing.PartCount(direction.io.rows);
  }
  switch (sharing.split) {
    case Split::kNone:
      cost.shared = cost.alone;
      break;
    case Split::kUnits:
      cost.shared = cost.alone / threads + steps * kWorthABarrier;
      break;
    case Split::kDirections:
    case Split::kRows:
      cost.shared = cost.alone / static_cast<double>(pieces) * static_cast<double>((pieces - 1) / threads + 1);
      break;
  }
  return cost;
}

template <class Kind, class T>
std::optional<int64_t> RecurrentWalk<Kind, T>::ScratchBytes(const RecurrentDirection<Kind, T>& direction) {
  return recurrent::PartBytes(direction, recurrent::Sharing(), 1);
}

template <class Kind, class T>
RecurrentWalk<Kind, T>::RecurrentWalk(const RecurrentDirection<Kind, T>& direction, std::span<std::byte> scratch)
    : variant_(direction.weights->variant()) {
  Carver carver(scratch.data());
  const recurrent::PartScratch<Kind, T> pieces(direction, direction.io.rows, 1, carver);
  part_ = recurrent::MakePart(direction, 0, direction.io.rows, pieces);
  share_ = recurrent::ShareOf(part_, pieces.own, 0, 1);
}

template <class Kind, class T>
void RecurrentWalk<Kind, T>::operator()(int64_t begin, int64_t end) noexcept {
  StepBarrier barrier;
  share_.barrier = &barrier;
  share_.begin = begin;
  share_.end = end;
  recurrent::Call(*variant_, part_, share_);
}

template <class Kind, class T>
std::optional<int64_t> RecurrentScratchBytes(std::span<const RecurrentDirection<Kind, T>> directions, int threads) {
  using namespace recurrent;
  const Sharing sharing = Share<Kind, T>(directions, threads);
  Carver count(nullptr);
  for (const RecurrentDirection<Kind, T>& direction : directions) {
    if (IsEmpty(direction)) continue;
    const auto each = PartBytes(direction, sharing, threads);
    const auto all = each ? CheckedMul(*each, sharing.PartCount(direction.io.rows)) : std::nullopt;
    if (!all) return std::nullopt;
    count.Take<std::byte>({*all});
    if (count.used() < 0) return std::nullopt;
  }
  return count.used();
}

template <class Kind, class T>
void RunRecurrent(std::span<const RecurrentDirection<Kind, T>> directions, std::span<std::byte> scratch,
                  ThreadTeam* team, int threads) noexcept {
  using namespace recurrent;
  const Sharing sharing = Share<Kind, T>(directions, threads);
  Carver carver(scratch.data());
  const bool any_empty = std::any_of(directions.begin(), directions.end(), IsEmpty<Kind, T>);
  if (team != nullptr && sharing.split == Split::kUnits && !any_empty)
    return RunUnits(directions, carver, *team, threads);

  // Pieces that need nothing of each other: whole directions, or blocks of rows of one.
  std::array<std::byte*, kMaxDirections> bases{};
  std::array<int64_t, kMaxDirections> bytes{}, ends{};
  int64_t pieces = 0;
  for (size_t i = 0; i < directions.size(); ++i) {
    if (!IsEmpty(directions[i])) {
      const int64_t count = sharing.PartCount(directions[i].io.rows);
      bytes[i] = *PartBytes(directions[i], sharing, threads);
      bases[i] = carver.Take<std::byte>({bytes[i], count});
      pieces += count;
    }
    ends[i] = pieces;
  }
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const size_t i = piece < ends[0] ? 0 : 1;
      const RecurrentDirection<Kind, T>& direction = directions[i];
      const int64_t block = i == 0 ? piece : piece - ends[0], rows = sharing.PartRows(direction.io.rows);
      Carver own(bases[i] + block * bytes[i]);
      const PartScratch<Kind, T> part_scratch(direction, rows, 1, own);
      RunAlone(direction, block * rows, std::min(rows, direction.io.rows - block * rows), part_scratch);
    }
  };
  if (team == nullptr || sharing.split == Split::kNone)
    run(0, pieces);
  else
    team->ParallelFor(pieces, 1, run, threads);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
