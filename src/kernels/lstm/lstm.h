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
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/activation/activation.h"
#include "kernels/recurrent/recurrent.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

enum class LstmCoupling : uint8_t {
  kNone,
  kForgetFromInput,  // f = 1 - i: ONNX input_forget
  kInputFromForget,  // i = 1 - f: input_forget of legacy OpenVINO files
};

// What a cell computes beside its weights.
struct LstmCell : CellClip {
  Activation f = Activation::Default(ActivationKind::kSigmoid);
  Activation g = Activation::Default(ActivationKind::kTanh);
  Activation h = Activation::Default(ActivationKind::kTanh);
  LstmCoupling coupling = LstmCoupling::kNone;
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
  // In place of w and r: the bytes they are.
  ByteRows w_bytes, r_bytes;
  LstmGateOrder gates = kIofc;
  LstmPeepholeOrder peepholes = kIof;
};

// A kind of network, as recurrent.h has it.
struct Lstm {
  using Cell = LstmCell;
  template <class T>
  using Weights = LstmWeights<T>;

  // A group's columns are [gate][lane], gates in the order i, o, f, c.
  template <class T>
  struct Packed : PackedSizes<T> {
    LstmCell cell;
    bool plain = true;  // default activations and nothing else
    GateMatrix<T> r;
    const T* p = nullptr;  // [group][3 * lanes], i, o, f; null when there are no peepholes
  };

  static constexpr int kGates = 4;
  static constexpr int kExtra = 1;
  static constexpr bool kHasCellState = true;

  template <class T>
  static void Pack(const LstmCell& cell, const LstmWeights<T>& weights, PanelPacker<T>& packer, Packed<T>& packed);
  static const RecurrentVariant<Lstm>& ActiveVariant() noexcept;
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
