// SPDX-License-Identifier: Apache-2.0
#include "kernels/lstm/lstm.h"

#include <algorithm>
#include <array>

#include "base/checked.h"
#include "kernels/gemm/panel.h"
#include "kernels/lstm/lstm_variant.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

template <size_t kCount>
std::optional<std::array<uint8_t, kCount>> OrderFromName(std::string_view name, std::string_view gates) noexcept {
  if (name.size() != kCount) return std::nullopt;
  std::array<uint8_t, kCount> order{};
  for (size_t gate = 0; gate < kCount; ++gate) {
    const size_t block = name.find(gates[gate]);
    if (block == std::string_view::npos) return std::nullopt;
    order[gate] = static_cast<uint8_t>(block);
  }
  return order;
}

bool IsDefault(const LstmCell& cell) {
  return cell.f.kind == ActivationKind::kSigmoid && cell.g.kind == ActivationKind::kTanh &&
         cell.h.kind == ActivationKind::kTanh && !cell.clips() && cell.coupling == LstmCoupling::kNone;
}

// rows [4H, k] of the file to panels [group][k][gate][lane].
template <class T>
void PackGates(const LstmWeights<T>& from, const T* rows, int64_t k, int64_t lanes, int64_t groups, bool flush, T* to) {
  const int64_t width = kPanelVectors * lanes, hidden = from.hidden_size;
  for (int64_t group = 0; group < groups; ++group, to += k * width)
    for (int64_t gate = 0; gate < kPanelVectors; ++gate)
      for (int64_t lane = 0; lane < lanes; ++lane) {
        const int64_t unit = group * lanes + lane;
        const T* const row = unit < hidden ? rows + (from.gates[gate] * hidden + unit) * k : nullptr;
        T* const column = to + gate * lanes + lane;
        for (int64_t i = 0; i < k; ++i)
          column[i * width] = row == nullptr ? T(0) : flush ? FlushDenormal(row[i]) : row[i];
      }
}

// Bytes of pre-activations to compute ahead of the steps that use them: as long as they and the panels in use fit an
// L2.
constexpr int64_t kAheadBytes = 2 << 20;
// But at least so many rows, which is where reading W once per chunk is cheap against the arithmetic; and no more than
// pays.
constexpr int64_t kLeastAhead = 48, kMostAhead = 240;
// Rows of a part when rows, not hidden units, are split among threads.
constexpr int64_t kPartRows = 16;
// Multiply-adds of a whole run and of one thread's share of one step that are worth a second thread and a barrier.
constexpr double kWorthAThread = 4e6;
constexpr double kWorthABarrier = 2.5e4;
constexpr int kMaxDirections = 2;

enum class Split { kNone, kDirections, kUnits, kRows };

template <class T>
using Directions = std::span<const LstmDirection<T>>;

// How to share the work of all directions among `threads`; from sizes alone. It decides who computes a number, never
// how.
template <class T>
Split ChooseSplit(Directions<T> directions, int threads) {
  if (threads <= 1 || directions.empty()) return Split::kNone;
  double total = 0, step = 0;
  int64_t groups = INT64_MAX, rows = 0;
  for (const auto& direction : directions) {
    const auto& w = direction.weights->data();
    const double units = 4.0 * static_cast<double>(w.hidden_size) * static_cast<double>(direction.io.rows);
    total += units * static_cast<double>(w.hidden_size + w.input_size) * static_cast<double>(direction.io.steps);
    step += units * static_cast<double>(w.hidden_size);
    groups = std::min(groups, w.groups);
    rows = std::max(rows, direction.io.rows);
  }
  if (total < kWorthAThread) return Split::kNone;
  const int each = threads / static_cast<int>(directions.size());
  if (each <= 1) return directions.size() > 1 ? Split::kDirections : Split::kNone;
  if (groups >= 2 * each && step / threads >= kWorthABarrier) return Split::kUnits;
  if (rows >= 2 * kPartRows) return Split::kRows;
  return directions.size() > 1 ? Split::kDirections : Split::kNone;
}

int64_t PartRows(Split split, int64_t rows) { return split == Split::kRows ? std::min(rows, kPartRows) : rows; }
int64_t PartCount(Split split, int64_t rows) {
  return split == Split::kRows && rows > 0 ? (rows - 1) / kPartRows + 1 : 1;
}

template <class T>
int64_t RowsAhead(const LstmDirection<T>& direction, int64_t rows) {
  const auto& w = direction.weights->data();
  const int64_t row_bytes = std::max<int64_t>(1, w.groups * w.lanes * kPanelVectors * static_cast<int64_t>(sizeof(T)));
  const int64_t ahead = std::clamp(kAheadBytes / row_bytes, kLeastAhead, kMostAhead);
  const auto all = CheckedMul(rows, direction.io.steps);
  return std::max(rows, all ? std::min(ahead, *all) : ahead);
}

// Hands out aligned pieces of the scratch; with a null base it only counts. A count that overflows stays negative.
class Carver {
 public:
  explicit Carver(std::byte* base) : base_(base) {}

  template <class V>
  V* Take(std::initializer_list<int64_t> sizes) {
    std::optional<int64_t> bytes = static_cast<int64_t>(sizeof(V));
    for (const int64_t size : sizes) bytes = bytes ? CheckedMul(*bytes, size) : std::nullopt;
    if (bytes) bytes = CheckedAdd(*bytes, kAlignment - 1);
    if (bytes) bytes = CheckedAdd(*bytes / kAlignment * kAlignment, used_);
    if (!bytes || used_ < 0) {
      used_ = -1;
      return nullptr;
    }
    V* const piece = base_ != nullptr ? reinterpret_cast<V*>(base_ + used_) : nullptr;
    used_ = *bytes;
    return piece;
  }
  int64_t used() const { return used_; }

 private:
  std::byte* base_;
  int64_t used_ = 0;
};

// A part with its scratch; x_rows for each of `width` threads.
template <class T>
struct PartScratch {
  int32_t *order, *lengths;
  T *h, *c, *z;
  const T** x_rows;
  int64_t z_rows;

  PartScratch(const LstmDirection<T>& direction, int64_t rows, int width, Carver& carver) {
    const auto& w = direction.weights->data();
    z_rows = RowsAhead(direction, rows);
    order = carver.Take<int32_t>({rows});
    lengths = carver.Take<int32_t>({rows});
    h = carver.Take<T>({2, rows, w.groups, w.lanes});
    c = carver.Take<T>({rows, w.groups, w.lanes});
    z = carver.Take<T>({z_rows, w.groups, w.lanes, kPanelVectors});
    x_rows = carver.Take<const T*>({z_rows, width});
  }
};

// Bytes of scratch of one part; nothing when they overflow.
template <class T>
std::optional<int64_t> PartBytes(const LstmDirection<T>& direction, Split split, int threads) {
  Carver count(nullptr);
  static_cast<void>(
      PartScratch<T>(direction, PartRows(split, direction.io.rows), split == Split::kUnits ? threads : 1, count));
  if (count.used() < 0) return std::nullopt;
  return count.used();
}

// Rows [first, first + rows) of a direction, sorted; equal lengths keep their order.
template <class T>
LstmPart<T> MakePart(const LstmDirection<T>& direction, int64_t first, int64_t rows, const PartScratch<T>& scratch) {
  const LstmSequence<T>& io = direction.io;
  const auto length = [&](int64_t row) {
    return io.lengths != nullptr && io.steps > 0 ? io.lengths[row] : static_cast<int32_t>(io.steps);
  };
  for (int64_t i = 0; i < rows; ++i) scratch.order[i] = static_cast<int32_t>(first + i);
  if (io.lengths != nullptr)
    std::sort(scratch.order, scratch.order + rows,
              [&](int32_t a, int32_t b) { return length(a) != length(b) ? length(a) > length(b) : a < b; });
  for (int64_t i = 0; i < rows; ++i) scratch.lengths[i] = length(scratch.order[i]);
  LstmPart<T> part;
  part.weights = &direction.weights->data();
  part.io = &io;
  part.rows = rows;
  part.z_rows = scratch.z_rows;
  part.order = scratch.order;
  part.lengths = scratch.lengths;
  part.h = scratch.h;
  part.c = scratch.c;
  part.z = scratch.z;
  return part;
}

template <class T>
void RunShareOf(const LstmDirection<T>& direction, const LstmPart<T>& part, const T** x_rows, StepBarrier& barrier,
                int rank, int width) {
  LstmShare<T> share;
  share.group_begin = part.weights->groups * rank / width;
  share.group_end = part.weights->groups * (rank + 1) / width;
  share.x_rows = x_rows + rank * part.z_rows;
  share.barrier = &barrier;
  share.width = width;
  if constexpr (sizeof(T) == 4)
    direction.weights->variant()->f32(part, share);
  else
    direction.weights->variant()->f64(part, share);
}

// Rows [first, first + rows) of one direction on the calling thread.
template <class T>
void RunAlone(const LstmDirection<T>& direction, int64_t first, int64_t rows, const PartScratch<T>& scratch) {
  StepBarrier barrier;
  RunShareOf(direction, MakePart(direction, first, rows, scratch), scratch.x_rows, barrier, 0, 1);
}

// Hidden units split among threads that run at the same time, the directions among groups of them.
template <class T>
void RunUnits(Directions<T> directions, Carver& carver, ThreadTeam& team, int threads) {
  const int count = static_cast<int>(directions.size());
  std::array<StepBarrier, kMaxDirections> barriers;
  std::array<LstmPart<T>, kMaxDirections> parts;
  std::array<const T**, kMaxDirections> x_rows{};
  for (int i = 0; i < count; ++i) {
    const PartScratch<T> scratch(directions[i], directions[i].io.rows, threads, carver);
    parts[i] = MakePart(directions[i], 0, directions[i].io.rows, scratch);
    x_rows[i] = scratch.x_rows;
  }
  team.Gang(threads, [&](int rank, int size) {
    for (int i = 0; i < count; ++i) {
      const int first = size >= count ? size * i / count : 0;
      const int width = size >= count ? size * (i + 1) / count - first : 1;
      if (rank >= first && rank < first + width)
        RunShareOf(directions[i], parts[i], x_rows[i], barriers[i], rank - first, width);
    }
  });
}

template <class T>
bool IsEmpty(const LstmDirection<T>& direction) {
  return direction.io.rows <= 0 || direction.weights->hidden_size() <= 0;
}

}  // namespace

std::optional<LstmGateOrder> LstmGateOrderFromName(std::string_view name) noexcept {
  return OrderFromName<4>(name, "iofc");
}
std::optional<LstmPeepholeOrder> LstmPeepholeOrderFromName(std::string_view name) noexcept {
  return OrderFromName<3>(name, "iof");
}

template <class T>
PackedLstm<T>::PackedLstm(const LstmCell& cell, const LstmWeights<T>& weights, bool flush_denormals)
    : variant_(&ActiveLstmVariant()) {
  const int64_t hidden = weights.hidden_size, lanes = sizeof(T) == 4 ? variant_->f32_lanes : variant_->f64_lanes;
  const int64_t groups = hidden / lanes + (hidden % lanes != 0 ? 1 : 0);
  Carver count(nullptr);
  const auto carve = [&](Carver& carver) {
    return std::array<T*, 4>{carver.Take<T>({groups, lanes, kPanelVectors, weights.input_size}),
                             carver.Take<T>({groups, lanes, kPanelVectors, hidden}),
                             carver.Take<T>({groups, lanes, kPanelVectors}),
                             carver.Take<T>({groups, lanes, weights.p != nullptr ? 3 : 0})};
  };
  carve(count);
  bytes_ = count.used();
  storage_ = MakeAlignedArray<T>(bytes_ < 0 ? -1 : bytes_ / static_cast<int64_t>(sizeof(T)));
  Carver carver(reinterpret_cast<std::byte*>(storage_.get()));
  const auto [w, r, bias, p] = carve(carver);
  PackGates(weights, weights.w, weights.input_size, lanes, groups, flush_denormals, w);
  PackGates(weights, weights.r, hidden, lanes, groups, flush_denormals, r);
  const auto flushed = [&](T value) { return flush_denormals ? FlushDenormal(value) : value; };
  for (int64_t unit = 0; unit < groups * lanes; ++unit) {
    const int64_t group = unit / lanes, lane = unit % lanes;
    for (int64_t gate = 0; gate < kPanelVectors; ++gate) {
      const int64_t from = weights.gates[gate] * hidden + unit;
      T sum = 0;
      if (unit < hidden && weights.wb != nullptr) sum += weights.wb[from];
      if (unit < hidden && weights.rb != nullptr) sum += weights.rb[from];
      bias[(group * kPanelVectors + gate) * lanes + lane] = flushed(sum);
    }
    for (int64_t gate = 0; weights.p != nullptr && gate < 3; ++gate)
      p[(group * 3 + gate) * lanes + lane] =
          unit < hidden ? flushed(weights.p[weights.peepholes[gate] * hidden + unit]) : T(0);
  }
  data_.input_size = weights.input_size;
  data_.hidden_size = hidden;
  data_.lanes = lanes;
  data_.groups = groups;
  data_.cell = cell;
  data_.plain = IsDefault(cell) && weights.p == nullptr;
  data_.w = w;
  data_.r = r;
  data_.bias = bias;
  data_.p = weights.p != nullptr ? p : nullptr;
}

template <class T>
std::optional<int64_t> LstmScratchBytes(Directions<T> directions, int threads) {
  const Split split = ChooseSplit<T>(directions, threads);
  Carver count(nullptr);
  for (const LstmDirection<T>& direction : directions) {
    if (IsEmpty(direction)) continue;
    const auto each = PartBytes(direction, split, threads);
    const auto all = each ? CheckedMul(*each, PartCount(split, direction.io.rows)) : std::nullopt;
    if (!all) return std::nullopt;
    count.Take<std::byte>({*all});
    if (count.used() < 0) return std::nullopt;
  }
  return count.used();
}

template <class T>
void RunLstm(Directions<T> directions, std::span<std::byte> scratch, ThreadTeam* team, int threads) noexcept {
  const Split split = ChooseSplit<T>(directions, threads);
  Carver carver(scratch.data());
  const bool any_empty = std::any_of(directions.begin(), directions.end(), IsEmpty<T>);
  if (team != nullptr && split == Split::kUnits && !any_empty) return RunUnits(directions, carver, *team, threads);

  // Pieces that need nothing of each other: whole directions, or blocks of rows of one.
  std::array<std::byte*, kMaxDirections> bases{};
  std::array<int64_t, kMaxDirections> bytes{}, ends{};
  int64_t pieces = 0;
  for (size_t i = 0; i < directions.size(); ++i) {
    if (!IsEmpty(directions[i])) {
      const int64_t count = PartCount(split, directions[i].io.rows);
      bytes[i] = *PartBytes(directions[i], split, threads);
      bases[i] = carver.Take<std::byte>({bytes[i], count});
      pieces += count;
    }
    ends[i] = pieces;
  }
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const size_t i = piece < ends[0] ? 0 : 1;
      const LstmDirection<T>& direction = directions[i];
      const int64_t block = i == 0 ? piece : piece - ends[0], rows = PartRows(split, direction.io.rows);
      Carver own(bases[i] + block * bytes[i]);
      const PartScratch<T> part_scratch(direction, rows, 1, own);
      RunAlone(direction, block * rows, std::min(rows, direction.io.rows - block * rows), part_scratch);
    }
  };
  if (team == nullptr || split == Split::kNone)
    run(0, pieces);
  else
    team->ParallelFor(pieces, 1, run, threads);
}

template class PackedLstm<float>;
template class PackedLstm<double>;
template std::optional<int64_t> LstmScratchBytes(Directions<float>, int);
template std::optional<int64_t> LstmScratchBytes(Directions<double>, int);
template void RunLstm(Directions<float>, std::span<std::byte>, ThreadTeam*, int) noexcept;
template void RunLstm(Directions<double>, std::span<std::byte>, ThreadTeam*, int) noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
