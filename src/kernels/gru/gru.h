// SPDX-License-Identifier: Apache-2.0
// gru: one kernel for ONNX GRU and OpenVINO GRUSequence, float and double.
//
// T steps, N rows (the batch), I inputs, H hidden units. Gates are z (update), r (reset), h (candidate), in that order
// in W, R and B. Per row and step
//   z = f(clip(x Wz^T + h Rz^T + Wbz + Rbz)), r = f(clip(x Wr^T + h Rr^T + Wbr + Rbr))
//   h~ = g(clip(x Wh^T + (r h) Rh^T + Wbh + Rbh)), or with linear_before_reset
//   h~ = g(clip(x Wh^T + Wbh + r (h Rh^T + Rbh)))
//   h' = (1 - z) h~ + z h
#pragma once

#include <cstdint>

#include "kernels/activation/activation.h"
#include "kernels/recurrent/recurrent.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// What a cell computes beside its weights.
struct GruCell : CellClip {
  Activation f = Activation::Default(ActivationKind::kSigmoid);
  Activation g = Activation::Default(ActivationKind::kTanh);
  bool linear_before_reset = false;
};

// Weights of one direction, as files hold them.
template <class T>
struct GruWeights {
  int64_t input_size = 0, hidden_size = 0;
  const T* w = nullptr;  // [3H, I]
  const T* r = nullptr;  // [3H, H]
  // [3H] each, added up but for the candidate's with linear_before_reset; null = 0.
  const T* wb = nullptr;
  const T* rb = nullptr;
  // [H]: Rbh where `rb` is null, which is how GRUSequence's B of four blocks is said: z, r (sums), Wbh are `wb`. Only
  // with linear_before_reset; null = 0.
  const T* candidate_rb = nullptr;
};

// A kind of network, as recurrent.h has it.
struct Gru {
  using Cell = GruCell;
  template <class T>
  using Weights = GruWeights<T>;

  // A group's columns of W are [gate][lane], gates in the order z, r, h.
  template <class T>
  struct Packed : PackedSizes<T> {
    GruCell cell;
    bool plain = true;          // default activations and no clip
    GateMatrix<T> r;            // of z and r; with linear_before_reset of z, r and h
    GateMatrix<T> r_candidate;  // of h; none with linear_before_reset
    const T* rb = nullptr;      // [group][lanes], h; null without linear_before_reset
  };

  static constexpr int kGates = 3;
  static constexpr int kExtra = 2;  // z, and r h
  static constexpr bool kHasCellState = false;

  template <class T>
  static void Pack(const GruCell& cell, const GruWeights<T>& weights, PanelPacker<T>& packer, Packed<T>& packed);
  static const RecurrentVariant<Gru>& ActiveVariant() noexcept;
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
