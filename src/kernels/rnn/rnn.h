// SPDX-License-Identifier: Apache-2.0
// rnn: one kernel for ONNX RNN and OpenVINO RNNSequence, float and double.
//
// T steps, N rows (the batch), I inputs, H hidden units. Per row and step h' = f(clip(x W^T + h R^T + Wb + Rb)).
#pragma once

#include <cstdint>

#include "kernels/activation/activation.h"
#include "kernels/recurrent/recurrent.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// What a cell computes beside its weights.
struct RnnCell : CellClip {
  Activation f = Activation::Default(ActivationKind::kTanh);
};

// Weights of one direction, as files hold them.
template <class T>
struct RnnWeights {
  int64_t input_size = 0, hidden_size = 0;
  const T* w = nullptr;  // [H, I]
  const T* r = nullptr;  // [H, H]
  // [H] each, added up; null = 0.
  const T* wb = nullptr;
  const T* rb = nullptr;
};

// A kind of network, as recurrent.h has it.
struct Rnn {
  using Cell = RnnCell;
  template <class T>
  using Weights = RnnWeights<T>;

  template <class T>
  struct Packed : PackedSizes<T> {
    RnnCell cell;
    bool plain = true;  // tanh and no clip
    GateMatrix<T> r;
  };

  static constexpr int kGates = 1;
  static constexpr int kExtra = 0;
  static constexpr bool kHasCellState = false;

  template <class T>
  static void Pack(const RnnCell& cell, const RnnWeights<T>& weights, PanelPacker<T>& packer, Packed<T>& packed);
  static const RecurrentVariant<Rnn>& ActiveVariant() noexcept;
};

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
