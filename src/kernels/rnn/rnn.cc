// SPDX-License-Identifier: Apache-2.0
#include "kernels/rnn/rnn.h"

#include "kernels/recurrent/recurrent_impl.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

template <class T>
void Rnn::Pack(const RnnCell& cell, const RnnWeights<T>& weights, PanelPacker<T>& packer, Packed<T>& packed) {
  constexpr uint8_t kOnly[] = {0};
  packed.w = packer.Panels(weights.w, weights.input_size, kOnly);
  packed.r = packer.Panels(weights.r, weights.hidden_size, kOnly);
  packed.bias = packer.Vectors(kGates, [&](int64_t, int64_t unit) { return SumOf(weights.wb, weights.rb, unit); });
  packed.cell = cell;
  packed.plain = cell.f.kind == ActivationKind::kTanh && !cell.clips();
}

template class PackedRecurrent<Rnn, float>;
template class PackedRecurrent<Rnn, double>;
template class RecurrentWalk<Rnn, float>;
template class RecurrentWalk<Rnn, double>;
template RecurrentCost RecurrentCostOf(std::span<const RecurrentDirection<Rnn, float>>, int);
template RecurrentCost RecurrentCostOf(std::span<const RecurrentDirection<Rnn, double>>, int);
template std::optional<int64_t> RecurrentScratchBytes(std::span<const RecurrentDirection<Rnn, float>>, int);
template std::optional<int64_t> RecurrentScratchBytes(std::span<const RecurrentDirection<Rnn, double>>, int);
template void RunRecurrent(std::span<const RecurrentDirection<Rnn, float>>, std::span<std::byte>, ThreadTeam*,
                           int) noexcept;
template void RunRecurrent(std::span<const RecurrentDirection<Rnn, double>>, std::span<std::byte>, ThreadTeam*,
                           int) noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
