// SPDX-License-Identifier: Apache-2.0
// recurrent: what the kernels of LSTM, GRU and RNN have in common: the data of a sequence, packed weights, the split of
// the work among threads, the walk over steps. Before it: gemm (tiles), activation. After it: lstm, gru, rnn, each with
// its cell.
//
// A kind of network (Lstm, Gru, Rnn) is a type with
//   Cell, Weights<T>   what a cell computes; the weights of one direction as files hold them
//   Packed<T>          what its kernels see of them: PackedSizes and more
//   kGates             rows of W per hidden unit
//   kExtra             numbers a unit keeps beside h during a run
//   kHasCellState      the first of these is a state with initial and final values (c0, yc)
//   Pack               fills a Packed through a PanelPacker (panel_packer.h)
//   ActiveVariant()    its kernels for the active instruction set (recurrent_variant.h)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/thread_team.h"
#include "kernels/aligned_array.h"
#include "kernels/gemm/byte_tile.h"
#include "onnx_proto/config.h"
#include "onnxseq/weight_storage.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// The bound of the gates' pre-activations of a cell; not above 0, infinite or NaN: none.
struct CellClip {
  double clip = 0;

  bool clips() const noexcept { return clip > 0 && clip <= 1.7976931348623157e308; }
};

// Where the data of one row stand, in elements from the pointers of its sequence.
struct RowPlace {
  int64_t x = 0, y = 0;  // of its step 0
  int64_t h0 = 0, c0 = 0, yh = 0, yc = 0;
};

// The data of one direction; strides in elements, so that every layout is read and written where it is. The I (or H)
// numbers of one row and step stand together. Inputs are only read; outputs overlap nothing, but yh may be h0 and yc
// may be c0, row for row.
template <class T>
struct RecurrentSequence {
  int64_t steps = 0, rows = 0;
  bool reverse = false;
  const T* x = nullptr;  // x[row, step] at x + row * x_row + step * x_step
  int64_t x_row = 0, x_step = 0;
  const int32_t* lengths = nullptr;  // [rows], each in [0, steps]; null = all `steps`
  // [rows]; null = as far apart as the strides of rows say. With places a row has no steps after its length, so that
  // rows of many lengths may stand one after the other.
  const RowPlace* places = nullptr;
  const T* h0 = nullptr;  // null = 0
  int64_t h0_row = 0;
  const T* c0 = nullptr;  // c0 and yc: LSTM only
  int64_t c0_row = 0;
  T* y = nullptr;  // null = not wanted, as yh and yc
  int64_t y_row = 0, y_step = 0;
  T* yh = nullptr;
  int64_t yh_row = 0;
  T* yc = nullptr;
  int64_t yc_row = 0;

  const T* XOf(int64_t row) const { return x + (places != nullptr ? places[row].x : row * x_row); }
  T* YOf(int64_t row) const { return y + (places != nullptr ? places[row].y : row * y_row); }
  const T* H0Of(int64_t row) const { return h0 + (places != nullptr ? places[row].h0 : row * h0_row); }
  const T* C0Of(int64_t row) const { return c0 + (places != nullptr ? places[row].c0 : row * c0_row); }
  T* YhOf(int64_t row) const { return yh + (places != nullptr ? places[row].yh : row * yh_row); }
  T* YcOf(int64_t row) const { return yc + (places != nullptr ? places[row].yc : row * yc_row); }
  // What a row of this length has no step for counts as zero.
  bool IsPadded(int64_t length) const { return places == nullptr && length < steps; }
};

// Semantics of all kinds, beyond their equations:
// * a row ends after its length: the rest of its x is never read, the rest of its y is 0;
// * a row of length 0 has y, yh, yc = 0 when steps > 0; with steps == 0, or with places, yh, yc = h0, c0 whatever
//   `lengths` holds;
// * reverse starts at a row's last valid step and ends at step 0; y stands at the step it belongs to.
// Preconditions, which callers check: sizes >= 0, lengths in range, pointers readable for the sizes, (kGates + 1) H and
// kGates * H * I fit int64_t.

// A packed matrix: [panel][k][group][gates * lanes] of T, or bfloat16 as uint16_t, a panel being PanelGroups(gates)
// groups (gemm/panel.h). With kInt8 [panel][k / 4][group][gates * lanes][4] of int8_t, k filled up with zeros; a weight
// is (number - zero) * scale of its column, and the rest is [group][gates * lanes]; otherwise null.
template <class T>
struct GateMatrix {
  const void* weights = nullptr;
  int64_t groups = 0;
  const T* scales = nullptr;
  const int32_t* sums = nullptr;   // of the numbers of a column
  const int32_t* zeros = nullptr;  // null = 0
};

// Rows [.., k] of a file that are bytes: a weight is (value - zero) * scale of its row.
struct ByteRows {
  const int8_t* values = nullptr;
  const float* scales = nullptr;
  const int32_t* zeros = nullptr;
};

// Hidden units stand in groups of `lanes`; a group's columns are [gate][lane], units beyond H have weights 0.
template <class T>
struct PackedSizes {
  int64_t input_size = 0, hidden_size = 0, lanes = 1, groups = 0;
  WeightStorage storage = WeightStorage::kFull;
  // With kInt8, rows of x and states are rounded to bytes, too: each by its own range, or all x of a call by one and
  // all states of a step by one, also those of rows that ended in the step before, as onnxruntime has it.
  bool shared_ranges = false;
  const ByteKernel* bytes = nullptr;
  bool finite = true;       // no weight is a NaN or an infinity: their products with a state of 0 are 0
  GateMatrix<T> w;          // of I rows and kGates
  const T* bias = nullptr;  // [group][kGates * lanes]: where the sums of W begin
};

template <class T>
class PanelPacker;
template <class Kind>
struct RecurrentVariant;

// Weights packed for the vector kernels of the instruction set that is active now, to which they stay bound. Immutable,
// thread safe.
template <class Kind, class T>
class PackedRecurrent {
 public:
  using Cell = typename Kind::Cell;
  using Weights = typename Kind::template Weights<T>;
  using Data = typename Kind::template Packed<T>;

  PackedRecurrent() = default;
  // Copies the weights; with `flush_denormals` their denormals become 0. Throws std::bad_alloc.
  // kFull is the only storage there is for double; kInt8 takes at most kMostByteSums inputs and hidden units
  // (gemm/byte_tile.h), and is the one for weights that are bytes.
  PackedRecurrent(const Cell& cell, const Weights& weights, bool flush_denormals = true,
                  WeightStorage storage = WeightStorage::kFull);

  int64_t input_size() const { return data_.input_size; }
  int64_t hidden_size() const { return data_.hidden_size; }
  int64_t bytes() const { return bytes_; }
  const Data& data() const { return data_; }
  const RecurrentVariant<Kind>* variant() const { return variant_; }

 private:
  Data data_;
  int64_t bytes_ = 0;
  const RecurrentVariant<Kind>* variant_ = nullptr;
  AlignedArray<T> storage_;
};

template <class Kind, class T>
struct RecurrentDirection {
  const PackedRecurrent<Kind, T>* weights = nullptr;
  RecurrentSequence<T> io;
};

// What a run takes, about, in multiply-adds: with all directions on one thread, the longest of them, and as
// RunRecurrent shares it among `threads`, the waiting of threads for each other included. A function of sizes only.
struct RecurrentCost {
  double alone = 0, longest = 0, shared = 0;
};
template <class Kind, class T>
RecurrentCost RecurrentCostOf(std::span<const RecurrentDirection<Kind, T>> directions, int threads);
// A run of fewer multiply-adds is not worth a second thread, and a meeting of threads is worth about so many.
inline constexpr double kWorthAThread = 4e6, kWorthABarrier = 2.5e4;

// Bytes of scratch RunRecurrent needs for these directions (1 or 2, of any sizes) on up to `threads` participants; a
// function of sizes only. Nothing when the count overflows.
template <class Kind, class T>
std::optional<int64_t> RecurrentScratchBytes(std::span<const RecurrentDirection<Kind, T>> directions, int threads);

// Runs the directions. `scratch`: RecurrentScratchBytes bytes, kAlignment-aligned. Works on up to `threads`
// participants of `team` (null: the caller alone). Every number is one chain of multiply-adds in a fixed order, so
// results are bitwise the same whatever the number of threads, the batch a row stands in, and the places where a
// sequence is cut into calls (the last two not with shared_ranges). No allocation. Returns within a step once the run
// is to end (base/stop_token.h), outputs unfinished.
template <class Kind, class T>
void RunRecurrent(std::span<const RecurrentDirection<Kind, T>> directions, std::span<std::byte> scratch,
                  ThreadTeam* team = nullptr, int threads = 1) noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
