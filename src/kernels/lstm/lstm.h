// SPDX-License-Identifier: Apache-2.0
// lstm: one kernel for ONNX LSTM and OpenVINO LSTMSequence, float and double.
//
// T steps, N rows (the batch), I inputs, H hidden units. Gates are i (input), o (output), f (forget), c (candidate).
// Per row and step
//   z_k = x W_k^T + h R_k^T + Wb_k + Rb_k                               k in i, o, f, c
//   i = f(clip(z_i + P_i c)), f = f(clip(z_f + P_f c)), c~ = g(clip(z_c)), c' = f c + i c~
//   o = f(clip(z_o + P_o c')), h' = o h(c')                             c' reaches h() unclipped
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/thread_team.h"
#include "kernels/activation/activation.h"
#include "kernels/aligned_array.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

enum class LstmCoupling : uint8_t {
  kNone,
  kForgetFromInput,  // f = 1 - i: ONNX input_forget
  kInputFromForget,  // i = 1 - f: input_forget of legacy OpenVINO files
};

// What a cell computes beside its weights.
struct LstmCell {
  Activation f = Activation::Default(ActivationKind::kSigmoid);
  Activation g = Activation::Default(ActivationKind::kTanh);
  Activation h = Activation::Default(ActivationKind::kTanh);
  double clip = 0;  // bound of the gates' pre-activations; not above 0, infinite or NaN: none
  LstmCoupling coupling = LstmCoupling::kNone;

  bool clips() const noexcept { return clip > 0 && clip <= 1.7976931348623157e308; }
};

// Which block of H rows of W, R and B holds gate i, o, f, c; by default in that order, ONNX's.
using LstmGateOrder = std::array<uint8_t, 4>;
inline constexpr LstmGateOrder kIofc = {0, 1, 2, 3};
inline constexpr LstmGateOrder kFico = {1, 3, 0, 2};
// From OpenVINO's weights_format ("fico", "icof", "ifoc", "ifco", "iofc") or any other arrangement of the four letters.
std::optional<LstmGateOrder> LstmGateOrderFromName(std::string_view name) noexcept;
// Which block of H numbers of P holds the peephole of gate i, o, f.
using LstmPeepholeOrder = std::array<uint8_t, 3>;
inline constexpr LstmPeepholeOrder kIof = {0, 1, 2};
inline constexpr LstmPeepholeOrder kFio = {1, 2, 0};
std::optional<LstmPeepholeOrder> LstmPeepholeOrderFromName(std::string_view name) noexcept;

// Weights of one direction, as files hold them.
template <class T>
struct LstmWeights {
  int64_t input_size = 0, hidden_size = 0;
  const T* w = nullptr;  // [4H, I]
  const T* r = nullptr;  // [4H, H]
  // [4H] each, added up; null = 0. LSTMSequence's B, the sum of both, is either one.
  const T* wb = nullptr;
  const T* rb = nullptr;
  const T* p = nullptr;  // [3H], null = 0
  LstmGateOrder gates = kIofc;
  LstmPeepholeOrder peepholes = kIof;
};

// The data of one direction; strides in elements, so that every layout is read and written where it is. The I (or H)
// numbers of one row and step stand together. Inputs are only read; outputs overlap nothing, but yh may be h0 and yc
// may be c0, row for row.
template <class T>
struct LstmSequence {
  int64_t steps = 0, rows = 0;
  bool reverse = false;
  const T* x = nullptr;  // x[row, step] at x + row * x_row + step * x_step
  int64_t x_row = 0, x_step = 0;
  const int32_t* lengths = nullptr;  // [rows], each in [0, steps]; null = all `steps`
  const T* h0 = nullptr;             // null = 0
  int64_t h0_row = 0;
  const T* c0 = nullptr;
  int64_t c0_row = 0;
  T* y = nullptr;  // null = not wanted, as yh and yc
  int64_t y_row = 0, y_step = 0;
  T* yh = nullptr;
  int64_t yh_row = 0;
  T* yc = nullptr;
  int64_t yc_row = 0;
};

// Semantics of both functions below, beyond the equations:
// * a row ends after its length: the rest of its x is never read, the rest of its y is 0;
// * a row of length 0 has y, yh, yc = 0 when steps > 0; with steps == 0 yh, yc = h0, c0 whatever `lengths` holds;
// * reverse starts at a row's last valid step and ends at step 0; y stands at the step it belongs to.
// Preconditions, which callers check: sizes >= 0, lengths in range, pointers readable for the sizes, 4H and 4HI fit
// int64_t.

struct LstmVariant;

// Weights packed for the vector kernels of the instruction set that is active now, to which they stay bound. Immutable,
// thread safe.
template <class T>
class PackedLstm {
 public:
  PackedLstm() = default;
  // Copies the weights; with `flush_denormals` their denormals become 0. Throws std::bad_alloc.
  PackedLstm(const LstmCell& cell, const LstmWeights<T>& weights, bool flush_denormals = true);

  int64_t input_size() const { return data_.input_size; }
  int64_t hidden_size() const { return data_.hidden_size; }
  int64_t bytes() const { return bytes_; }

  // What the kernels see. Hidden units stand in groups of `lanes`; a group's columns are [gate][lane], gates in the
  // order i, o, f, c; units beyond H have weights 0.
  struct Data {
    int64_t input_size = 0, hidden_size = 0, lanes = 1, groups = 0;
    LstmCell cell;
    bool plain = true;        // default activations and nothing else
    const T* w = nullptr;     // [group][I][4 * lanes]
    const T* r = nullptr;     // [group][H][4 * lanes]
    const T* bias = nullptr;  // [group][4 * lanes]
    const T* p = nullptr;     // [group][3 * lanes], i, o, f; null when there are no peepholes
  };
  const Data& data() const { return data_; }
  const LstmVariant* variant() const { return variant_; }

 private:
  Data data_;
  int64_t bytes_ = 0;
  const LstmVariant* variant_ = nullptr;
  AlignedArray<T> storage_;
};

template <class T>
struct LstmDirection {
  const PackedLstm<T>* weights = nullptr;
  LstmSequence<T> io;
};

// Bytes of scratch RunLstm needs for these directions (1 or 2, of any sizes) on up to `threads` participants; a
// function of sizes only. Nothing when the count overflows.
template <class T>
std::optional<int64_t> LstmScratchBytes(std::span<const LstmDirection<T>> directions, int threads);

// Runs the directions. `scratch`: LstmScratchBytes bytes, kAlignment-aligned. Works on up to `threads` participants of
// `team` (null: the caller alone). Every number is one chain of multiply-adds in a fixed order, so results are bitwise
// the same whatever the number of threads, the batch a row stands in, and the places where a sequence is cut into
// calls. No allocation. Returns within a step once the run is to end (base/stop_token.h), outputs unfinished.
template <class T>
void RunLstm(std::span<const LstmDirection<T>> directions, std::span<std::byte> scratch, ThreadTeam* team = nullptr,
             int threads = 1) noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
