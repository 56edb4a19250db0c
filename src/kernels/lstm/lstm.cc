// SPDX-License-Identifier: Apache-2.0
#include "kernels/lstm/lstm.h"

#include <array>

#include "kernels/recurrent/recurrent_impl.h"

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

}  // namespace

std::optional<LstmGateOrder> LstmGateOrderFromName(std::string_view name) noexcept {
  return OrderFromName<4>(name, "iofc");
}
std::optional<LstmPeepholeOrder> LstmPeepholeOrderFromName(std::string_view name) noexcept {
  return OrderFromName<3>(name, "iof");
}

template <class T>
void Lstm::Pack(const LstmCell& cell, const LstmWeights<T>& weights, PanelPacker<T>& packer, Packed<T>& packed) {
  const int64_t hidden = weights.hidden_size;
  packed.w = packer.Panels(weights.w, weights.input_size, weights.gates, weights.w_bytes);
  packed.r = packer.Panels(weights.r, hidden, weights.gates, weights.r_bytes);
  packed.shared_ranges = weights.w_bytes.values != nullptr;
  packed.bias = packer.Vectors(kGates, [&](int64_t gate, int64_t unit) {
    return SumOf(weights.wb, weights.rb, weights.gates[static_cast<size_t>(gate)] * hidden + unit);
  });
  if (weights.p != nullptr) {
    packed.p = packer.Vectors(3, [&](int64_t gate, int64_t unit) {
      return weights.p[weights.peepholes[static_cast<size_t>(gate)] * hidden + unit];
    });
  }
  packed.cell = cell;
  packed.plain = IsDefault(cell) && weights.p == nullptr;
}

template class PackedRecurrent<Lstm, float>;
template class PackedRecurrent<Lstm, double>;
template class RecurrentWalk<Lstm, float>;
template class RecurrentWalk<Lstm, double>;
template RecurrentCost RecurrentCostOf(std::span<const RecurrentDirection<Lstm, float>>, int);
template RecurrentCost RecurrentCostOf(std::span<const RecurrentDirection<Lstm, double>>, int);
template std::optional<int64_t> RecurrentScratchBytes(std::span<const RecurrentDirection<Lstm, float>>, int);
template std::optional<int64_t> RecurrentScratchBytes(std::span<const RecurrentDirection<Lstm, double>>, int);
template void RunRecurrent(std::span<const RecurrentDirection<Lstm, float>>, std::span<std::byte>, ThreadTeam*,
                           int) noexcept;
template void RunRecurrent(std::span<const RecurrentDirection<Lstm, double>>, std::span<std::byte>, ThreadTeam*,
                           int) noexcept;

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
