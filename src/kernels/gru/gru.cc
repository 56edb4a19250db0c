// SPDX-License-Identifier: Apache-2.0
#include "kernels/gru/gru.h"

#include <array>

#include "kernels/recurrent/recurrent_impl.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

template <class T>
void Gru::Pack(const GruCell& cell, const GruWeights<T>& weights, PanelPacker<T>& packer, Packed<T>& packed) {
  constexpr std::array<uint8_t, 3> kAll{0, 1, 2};
  const std::span<const uint8_t> all(kAll);
  const int64_t hidden = weights.hidden_size;
  const bool linear = cell.linear_before_reset;
  packed.w = packer.Panels(weights.w, weights.input_size, all);
  packed.bias = packer.Vectors(kGates, [&](int64_t gate, int64_t unit) {
    return SumOf(weights.wb, linear && gate == 2 ? nullptr : weights.rb, gate * hidden + unit);
  });
  if (linear) {
    packed.r = packer.Panels(weights.r, hidden, all);
    packed.rb = packer.Vectors(1, [&](int64_t, int64_t unit) {
      return weights.rb != nullptr ? weights.rb[2 * hidden + unit] : SumOf<T>(weights.candidate_rb, nullptr, unit);
    });
  } else {
    packed.r = packer.Panels(weights.r, hidden, all.first(2));
    packed.r_candidate = packer.Panels(weights.r, hidden, all.last(1));
  }
  packed.cell = cell;
  packed.plain = cell.f.kind == ActivationKind::kSigmoid && cell.g.kind == ActivationKind::kTanh && !cell.clips();
}

template class PackedRecurrent<Gru, float>;
template class PackedRecurrent<Gru, double>;
template class RecurrentWalk<Gru, float>;
template class RecurrentWalk<Gru, double>;
template RecurrentCost RecurrentCostOf(std::span<const RecurrentDirection<Gru, float>>, int);
template RecurrentCost RecurrentCostOf(std::span<const RecurrentDirection<Gru, double>>, int);
template std::optional<int64_t> RecurrentScratchBytes(std::span<const RecurrentDirection<Gru, float>>, int);
template std::optional<int64_t> RecurrentScratchBytes(std::span<const RecurrentDirection<Gru, double>>, int);
template void RunRecurrent(std::span<const RecurrentDirection<Gru, float>>, std::span<std::byte>, ThreadTeam*,
                           int) noexcept;
template void RunRecurrent(std::span<const RecurrentDirection<Gru, double>>, std::span<std::byte>, ThreadTeam*,
                           int) noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
