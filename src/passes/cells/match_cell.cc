// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "passes/cells/cell.h"

namespace ONNX_LIGHT_NAMESPACE::cells {
namespace {

using Kind = Symbol::Kind;

bool SameFunction(const Symbol& a, const Symbol& b) {
  return a.function == b.function && a.alpha == b.alpha && a.beta == b.beta;
}

class Matching {
 public:
  explicit Matching(StepReader& reader) : reader_(reader), symbols_(reader.symbols()) {}

  Cell Lstm(int hidden, int state);
  Cell GruOrRnn(int hidden);

 private:
  bool IsCall(int symbol) const { return symbols_[symbol].kind == Kind::kCall; }
  bool Is(int symbol, Kind kind) const { return symbols_[symbol].kind == kind; }
  bool IsStep(int symbol) const {
    return Is(symbol, Kind::kValue) && reader_.leaf(symbols_[symbol].source).carried == GraphEdit::kAbsent;
  }
  // The columns of h or c that all gates take part in: from the first on.
  bool IsPartOf(int symbol, int whole) const {
    return Is(symbol, Kind::kValue) && symbols_[symbol].source == symbols_[whole].source;
  }
  // The only other factor, when the product is of `symbol` and a call.
  int CallBeside(const Product& product, int symbol) const {
    if (product.size() != 2) return GraphEdit::kAbsent;
    const int other = product[0] == symbol ? product[1] : product[0];
    return std::ranges::find(product, symbol) != product.end() && IsCall(other) ? other : GraphEdit::kAbsent;
  }
  // `state`: what the recurrent weights are multiplied by: h or columns of it, together with `reset` where that is one.
  Gate Split(const Sum& sum, int hidden, int reset, int peephole) const;
  Gate Candidate(const Sum& sum, int hidden, int& reset, std::optional<Gate>& before_reset) const;
  Sum TakeOutputPeephole(Sum& sum, const Sum& next_state, int forget, int state) const;

  StepReader& reader_;
  const Symbols& symbols_;
};

Gate Matching::Split(const Sum& sum, int hidden, int reset, int peephole) const {
  Gate gate;
  for (const auto& term : sum) {
    const Product& product = term.first;
    Sum* part = nullptr;
    if (product.empty() || (product.size() == 1 && Is(product[0], Kind::kVector))) part = &gate.bias;
    if (product.size() == 1 && IsStep(product[0])) part = &gate.input;
    if (product.size() == 1 && Is(product[0], Kind::kMatMul)) {
      const Product& argument = symbols_[product[0]].argument;
      if (argument.size() == 1 && IsStep(argument[0])) part = &gate.input;
      if (reset == GraphEdit::kAbsent && argument.size() == 1 && IsPartOf(argument[0], hidden)) part = &gate.recurrent;
      if (reset != GraphEdit::kAbsent && argument.size() == 2 && CallBeside(argument, hidden) == reset)
        part = &gate.recurrent;
    }
    if (peephole != GraphEdit::kAbsent && product.size() == 2) {
      const int other = product[0] == peephole ? product[1] : product[0];
      if (std::ranges::find(product, peephole) != product.end() && Is(other, Kind::kVector)) part = &gate.peephole;
    }
    if (part == nullptr) throw NotACell{"a gate takes more than inputs, the state and constants"};
    part->insert(term);
  }
  return gate;
}

// P times the next c, which the output gate's sum has expanded: taken out of it, P times c as it is for other gates.
Sum Matching::TakeOutputPeephole(Sum& sum, const Sum& next_state, int forget, int state) const {
  Sum peephole;
  const Sum before = sum;
  for (const auto& [product, number] : before) {
    if (product.size() != 3 || std::ranges::find(product, forget) == product.end() ||
        std::ranges::find(product, state) == product.end())
      continue;
    const int vector = Without(Without(product, forget), state).front();
    if (!Is(vector, Kind::kVector)) continue;
    Add(sum, Multiply(next_state, {{{vector}, number}}), -1);
    Add(peephole, Multiply({{{state}, 1}}, {{{vector}, number}}));
  }
  return peephole;
}

// c' = f c + i g, or f c + (1 - f) g; h' = o h(c').
Cell Matching::Lstm(int hidden, int state) {
  constexpr const char* kOther = "its states do not go on as those of an LSTM";
  const int h = reader_.CarriedSymbol(hidden), c = reader_.CarriedSymbol(state);
  const Sum next_c = reader_.ReadNext(state), next_h = reader_.ReadNext(hidden);
  int f = GraphEdit::kAbsent, i = GraphEdit::kAbsent, g = GraphEdit::kAbsent;
  for (const auto& [product, number] : next_c)
    if (const int call = CallBeside(product, c); call >= 0 && number == 1) f = call;
  if (f < 0) throw NotACell{kOther};
  Cell cell{.op_type = "LSTM", .hidden = hidden, .state = state};
  Sum rest = next_c;
  Add(rest, Multiply({{{f}, 1}}, {{{c}, 1}}), -1);
  const auto is_call_times = [&](const std::pair<const Product, double>& term, size_t size) {
    return term.first.size() == size && std::ranges::all_of(term.first, [&](int symbol) { return IsCall(symbol); });
  };
  if (rest.size() == 1 && is_call_times(*rest.begin(), 2) && rest.begin()->second == 1) {
    i = rest.begin()->first[0], g = rest.begin()->first[1];
    if (!SameFunction(symbols_[i], symbols_[f])) std::swap(i, g);
    if (!SameFunction(symbols_[i], symbols_[f])) throw NotACell{"its gates have different functions"};
  } else if (rest.size() == 2) {
    for (const auto& term : rest)
      if (is_call_times(term, 1) && term.second == 1) g = term.first[0];
    cell.input_forget = true;
    if (g < 0) throw NotACell{kOther};
    Add(rest, Multiply({{{g}, 1}}, {{{}, 1}, {{f}, -1}}), -1);
    if (!rest.empty()) throw NotACell{kOther};
  } else {
    throw NotACell{kOther};
  }
  if (next_h.size() != 1 || !is_call_times(*next_h.begin(), 2) || next_h.begin()->second != 1) throw NotACell{kOther};
  int o = next_h.begin()->first[0], out = next_h.begin()->first[1];
  if (symbols_[out].sum != next_c) std::swap(o, out);
  if (symbols_[out].sum != next_c) throw NotACell{kOther};
  if (!SameFunction(symbols_[o], symbols_[f])) throw NotACell{"its gates have different functions"};
  Sum output = symbols_[o].sum;
  const Sum output_peephole = TakeOutputPeephole(output, next_c, f, c);
  // Coupled: the operator computes f as 1 - i.
  const Sum forget = symbols_[f].sum;
  Sum input;
  if (cell.input_forget) {
    const Symbol& call = symbols_[f];
    if (call.function != "Sigmoid" && !(call.function == "HardSigmoid" && call.beta == 0.5f))
      throw NotACell{"its gates are coupled by a function that is not symmetric"};
    Add(input, forget, -1);
  } else {
    input = symbols_[i].sum;
  }
  const auto gate = [&](const Sum& sum) { return Split(sum, h, GraphEdit::kAbsent, c); };
  cell.gates = {gate(input), gate(output), gate(forget),
                Split(symbols_[g].sum, h, GraphEdit::kAbsent, GraphEdit::kAbsent)};
  if (!cell.gates[1].peephole.empty()) throw NotACell{"its output gate takes the state of before"};
  cell.gates[1].peephole = output_peephole;
  cell.functions = {symbols_[f], symbols_[g], symbols_[out]};
  return cell;
}

// The candidate of a GRU: x W + (r h) R, or x W + r (h R + b); finds r.
Gate Matching::Candidate(const Sum& sum, int hidden, int& reset, std::optional<Gate>& before_reset) const {
  Sum rest, inner;
  for (const auto& [product, number] : sum) {
    const auto call = std::ranges::find_if(product, [&](int symbol) { return IsCall(symbol); });
    if (call == product.end()) {
      rest.emplace(product, number);
      continue;
    }
    if (reset != GraphEdit::kAbsent && reset != *call) throw NotACell{"its candidate has several gates"};
    reset = *call;
    inner.emplace(Without(product, reset), number);
  }
  if (reset != GraphEdit::kAbsent) {
    before_reset = Split(inner, hidden, GraphEdit::kAbsent, GraphEdit::kAbsent);
    Gate gate = Split(rest, hidden, GraphEdit::kAbsent, GraphEdit::kAbsent);
    if (!gate.recurrent.empty() || !before_reset->input.empty())
      throw NotACell{"its reset gate does not stand before the state's product alone"};
    return gate;
  }
  for (const auto& [product, number] : rest) {
    if (product.size() != 1 || !Is(product[0], Kind::kMatMul)) continue;
    if (const int call = CallBeside(symbols_[product[0]].argument, hidden); call >= 0) reset = call;
  }
  if (reset == GraphEdit::kAbsent) throw NotACell{"its candidate has no reset gate"};
  return Split(rest, hidden, reset, GraphEdit::kAbsent);
}

// h' = (1 - z) n + z h, or with z the other way round; h' = f(..).
Cell Matching::GruOrRnn(int hidden) {
  const int h = reader_.CarriedSymbol(hidden);
  const Sum next = reader_.ReadNext(hidden);
  if (next.size() == 1 && next.begin()->first.size() == 1 && next.begin()->second == 1 &&
      IsCall(next.begin()->first[0])) {
    const int call = next.begin()->first[0];
    return {.op_type = "RNN",
            .hidden = hidden,
            .gates = {Split(symbols_[call].sum, h, GraphEdit::kAbsent, GraphEdit::kAbsent)},
            .functions = {symbols_[call]}};
  }
  constexpr const char* kOther = "its state does not go on as that of a GRU or RNN";
  int z = GraphEdit::kAbsent, n = GraphEdit::kAbsent;
  double sign = 0;
  for (const auto& [product, number] : next)
    if (const int call = CallBeside(product, h); call >= 0) z = call, sign = number;
  for (const auto& [product, number] : next)
    if (product.size() == 2 && product[0] != h && product[1] != h)
      if (const int call = CallBeside(product, z); call >= 0) n = call;
  if (z < 0 || n < 0 || (sign != 1 && sign != -1)) throw NotACell{kOther};
  const Sum keep = sign > 0 ? Sum{{{z}, 1}} : Sum{{{}, 1}, {{z}, -1}};
  Sum take{{{}, 1}}, rest = next;
  Add(take, keep, -1);
  Add(rest, Multiply(keep, {{{h}, 1}}), -1);
  Add(rest, Multiply(take, {{{n}, 1}}), -1);
  if (!rest.empty()) throw NotACell{kOther};

  Cell cell{.op_type = "GRU", .hidden = hidden};
  int r = GraphEdit::kAbsent;
  Gate candidate = Candidate(symbols_[n].sum, h, r, cell.reset);
  const Symbol &update = symbols_[z], &reset = symbols_[r];
  if (!SameFunction(update, reset)) throw NotACell{"its gates have different functions"};
  Sum update_sum;
  if (sign < 0 && update.function != "Sigmoid" && !(update.function == "HardSigmoid" && update.beta == 0.5f))
    throw NotACell{"its update gate is turned round, and its function is not symmetric"};
  Add(update_sum, update.sum, sign);
  const auto gate = [&](const Sum& sum) { return Split(sum, h, GraphEdit::kAbsent, GraphEdit::kAbsent); };
  cell.gates = {gate(update_sum), gate(reset.sum), std::move(candidate)};
  cell.functions = {update, symbols_[n]};
  return cell;
}

}  // namespace

Cell MatchCell(StepReader& reader, const std::vector<int>& carried) {
  if (carried.size() == 1) return Matching(reader).GruOrRnn(carried[0]);
  if (carried.size() != 2) throw NotACell{"it has " + std::to_string(carried.size()) + " states"};
  // h' is one product, c' a sum of two.
  const bool in_order = reader.ReadNext(carried[0]).size() == 1;
  return Matching(reader).Lstm(carried[in_order ? 0 : 1], carried[in_order ? 1 : 0]);
}

}  // namespace ONNX_LIGHT_NAMESPACE::cells
