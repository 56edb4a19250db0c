// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "passes/cells/cell.h"

namespace ONNX_LIGHT_NAMESPACE::cells {
namespace {

using Kind = Symbol::Kind;

constexpr int kAbsent = GraphEdit::kAbsent;

bool SameFunction(const Symbol& a, const Symbol& b) {
  return a.function == b.function && a.alpha == b.alpha && a.beta == b.beta;
}

// f(-x) = 1 - f(x)
bool IsSymmetric(const Symbol& call) {
  return call.function == "Sigmoid" || (call.function == "HardSigmoid" && call.beta == 0.5f);
}

constexpr const char* kDifferent = "its gates have different functions";

class Matching {
 public:
  Matching(const StepReader& reader, const Update& update)
      : symbols_(reader.symbols()), update_(update), h_(update.hidden), c_(update.state) {}

  Cell Lstm() const;
  Cell GruOrRnn() const;

 private:
  bool IsCall(int symbol) const { return symbols_[symbol].kind == Kind::kCall; }
  bool Is(int symbol, Kind kind) const { return symbols_[symbol].kind == kind; }
  // Columns of a state, or of what comes in.
  bool IsOf(int symbol, int whole) const {
    return whole != kAbsent && Is(symbol, Kind::kValue) && symbols_[symbol].source == symbols_[whole].source;
  }
  bool IsStep(int symbol) const { return Is(symbol, Kind::kValue) && !IsOf(symbol, h_) && !IsOf(symbol, c_); }
  // The only other factor, when the product is of `symbol` and a call.
  int CallBeside(const Product& product, int symbol) const {
    if (product.size() != 2) return kAbsent;
    const int other = product[0] == symbol ? product[1] : product[0];
    return std::ranges::find(product, symbol) != product.end() && IsCall(other) ? other : kAbsent;
  }
  bool AreCalls(const Product& product) const {
    return std::ranges::all_of(product, [&](int symbol) { return IsCall(symbol); });
  }
  // `reset`: what h is multiplied by before the recurrent weights.
  Gate Split(const Sum& sum, int reset = kAbsent) const;
  Gate Candidate(const Sum& sum, int& reset, std::optional<Gate>& before_reset) const;
  Sum TakeOutputPeephole(Sum& sum, int forget) const;

  const Symbols& symbols_;
  const Update& update_;
  int h_, c_;
};

Gate Matching::Split(const Sum& sum, int reset) const {
  Gate gate;
  for (const auto& term : sum) {
    const Product& product = term.first;
    Sum* part = nullptr;
    if (product.empty() || (product.size() == 1 && Is(product[0], Kind::kVector))) part = &gate.bias;
    if (product.size() == 1 && IsStep(product[0])) part = &gate.input;
    if (product.size() == 1 && Is(product[0], Kind::kMatMul)) {
      const Product& argument = symbols_[product[0]].argument;
      if (argument.size() == 1 && IsStep(argument[0])) part = &gate.input;
      if (reset == kAbsent && argument.size() == 1 && IsOf(argument[0], h_)) part = &gate.recurrent;
      if (reset != kAbsent && argument.size() == 2 && CallBeside(argument, h_) == reset) part = &gate.recurrent;
    }
    if (product.size() == 2 && c_ != kAbsent && std::ranges::find(product, c_) != product.end() &&
        Is(Without(product, c_)[0], Kind::kVector))
      part = &gate.peephole;
    if (part == nullptr) throw NotACell{"a gate takes more than inputs, the state and constants"};
    part->insert(term);
  }
  return gate;
}

// P times the next c, which the output gate's sum has expanded: taken out of it, P times c as it is for other gates.
Sum Matching::TakeOutputPeephole(Sum& sum, int forget) const {
  Sum peephole;
  const Sum before = sum;
  for (const auto& [product, number] : before) {
    if (product.size() != 3 || std::ranges::find(product, forget) == product.end() ||
        std::ranges::find(product, c_) == product.end())
      continue;
    const int vector = Without(Without(product, forget), c_)[0];
    if (!Is(vector, Kind::kVector)) continue;
    Add(sum, Multiply(update_.next_state, {{{vector}, number}}), -1);
    Add(peephole, Multiply({{{c_}, 1}}, {{{vector}, number}}));
  }
  return peephole;
}

// c' = f c + i g, or f c + (1 - f) g; h' = o h(c').
Cell Matching::Lstm() const {
  constexpr const char* kOther = "its states do not go on as those of an LSTM";
  int f = kAbsent, i = kAbsent, g = kAbsent;
  for (const auto& [product, number] : update_.next_state)
    if (const int call = CallBeside(product, c_); call >= 0 && number == 1) f = call;
  if (f < 0) throw NotACell{kOther};
  Cell cell{.op_type = "LSTM"};
  Sum rest = update_.next_state;
  Add(rest, Multiply({{{f}, 1}}, {{{c_}, 1}}), -1);
  if (rest.size() == 1) {
    const auto& [product, number] = *rest.begin();
    if (product.size() != 2 || !AreCalls(product) || number != 1) throw NotACell{kOther};
    i = product[0], g = product[1];
    if (!SameFunction(symbols_[i], symbols_[f])) std::swap(i, g);
    if (!SameFunction(symbols_[i], symbols_[f])) throw NotACell{kDifferent};
  } else {
    for (const auto& [product, number] : rest)
      if (product.size() == 1 && AreCalls(product) && number == 1) g = product[0];
    if (g < 0) throw NotACell{kOther};
    Add(rest, Multiply({{{g}, 1}}, {{{}, 1}, {{f}, -1}}), -1);
    if (!rest.empty()) throw NotACell{kOther};
    cell.input_forget = true;
  }
  const Sum& next_h = update_.next_hidden;
  if (next_h.size() != 1 || next_h.begin()->second != 1) throw NotACell{kOther};
  const Product& product = next_h.begin()->first;
  if (product.size() != 2 || !AreCalls(product)) throw NotACell{kOther};
  int o = product[0], out = product[1];
  if (symbols_[out].sum != update_.next_state) std::swap(o, out);
  if (symbols_[out].sum != update_.next_state) throw NotACell{kOther};
  if (!SameFunction(symbols_[o], symbols_[f])) throw NotACell{kDifferent};
  Sum output = symbols_[o].sum;
  Sum output_peephole = TakeOutputPeephole(output, f);
  // Coupled gates: the operator has f = 1 - i.
  Sum input;
  if (cell.input_forget && !IsSymmetric(symbols_[f]))
    throw NotACell{"its gates are coupled by a function that is not symmetric"};
  Add(input, symbols_[cell.input_forget ? f : i].sum, cell.input_forget ? -1 : 1);
  cell.gates = {Split(input), Split(output), Split(symbols_[f].sum), Split(symbols_[g].sum)};
  if (!cell.gates[1].peephole.empty() || !cell.gates[3].peephole.empty())
    throw NotACell{"c goes into gates that do not take it"};
  cell.gates[1].peephole = std::move(output_peephole);
  cell.functions = {symbols_[f], symbols_[g], symbols_[out]};
  return cell;
}

// The candidate of a GRU: x W + (r h) R, or x W + r (h R + b); finds r.
Gate Matching::Candidate(const Sum& sum, int& reset, std::optional<Gate>& before_reset) const {
  Sum rest, inner;
  for (const auto& [product, number] : sum) {
    const auto call = std::ranges::find_if(product, [&](int symbol) { return IsCall(symbol); });
    if (call == product.end()) {
      rest.emplace(product, number);
      continue;
    }
    if (reset != kAbsent && reset != *call) throw NotACell{"its candidate has several gates"};
    reset = *call;
    inner.emplace(Without(product, reset), number);
  }
  if (reset != kAbsent) {
    before_reset = Split(inner);
    Gate gate = Split(rest);
    if (!gate.recurrent.empty() || !before_reset->input.empty())
      throw NotACell{"its reset gate does not stand before the state's product alone"};
    return gate;
  }
  for (const auto& [product, number] : rest) {
    if (product.size() != 1 || !Is(product[0], Kind::kMatMul)) continue;
    if (const int call = CallBeside(symbols_[product[0]].argument, h_); call >= 0) reset = call;
  }
  if (reset == kAbsent) throw NotACell{"its candidate has no reset gate"};
  return Split(rest, reset);
}

// h' = (1 - z) n + z h, or with z the other way round; h' = f(..).
Cell Matching::GruOrRnn() const {
  const Sum& next = update_.next_hidden;
  if (next.size() == 1 && next.begin()->first.size() == 1 && next.begin()->second == 1 &&
      AreCalls(next.begin()->first)) {
    const Symbol& call = symbols_[next.begin()->first[0]];
    return {.op_type = "RNN", .gates = {Split(call.sum)}, .functions = {call}};
  }
  constexpr const char* kOther = "its state does not go on as that of a GRU or RNN";
  int z = kAbsent, n = kAbsent, r = kAbsent;
  double sign = 0;
  for (const auto& [product, number] : next)
    if (const int call = CallBeside(product, h_); call >= 0) z = call, sign = number;
  for (const auto& [product, number] : next)
    if (const int call = CallBeside(product, z); call >= 0) n = call;
  if (z < 0 || n < 0 || (sign != 1 && sign != -1)) throw NotACell{kOther};
  const Sum keep = sign > 0 ? Sum{{{z}, 1}} : Sum{{{}, 1}, {{z}, -1}};
  Sum take{{{}, 1}}, rest = next;
  Add(take, keep, -1);
  Add(rest, Multiply(keep, {{{h_}, 1}}), -1);
  Add(rest, Multiply(take, {{{n}, 1}}), -1);
  if (!rest.empty()) throw NotACell{kOther};

  Cell cell{.op_type = "GRU"};
  Gate candidate = Candidate(symbols_[n].sum, r, cell.reset);
  const Symbol &update = symbols_[z], &reset = symbols_[r];
  if (!SameFunction(update, reset)) throw NotACell{kDifferent};
  if (sign < 0 && !IsSymmetric(update))
    throw NotACell{"its update gate is turned round by a function that is not symmetric"};
  Sum update_sum;
  Add(update_sum, update.sum, sign);
  cell.gates = {Split(update_sum), Split(reset.sum), std::move(candidate)};
  cell.functions = {update, symbols_[n]};
  return cell;
}

}  // namespace

Cell MatchCell(const StepReader& reader, const Update& update) {
  const Matching matching(reader, update);
  return update.state == kAbsent ? matching.GruOrRnn() : matching.Lstm();
}

}  // namespace ONNX_LIGHT_NAMESPACE::cells
