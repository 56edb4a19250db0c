// SPDX-License-Identifier: Apache-2.0
#include "passes/cells/unrolled_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace ONNX_LIGHT_NAMESPACE::cells {
namespace {

constexpr int kAbsent = GraphEdit::kAbsent;

bool IsOneOf(const GraphEdit& edit, int n, std::initializer_list<std::string_view> types) {
  return n != kAbsent && std::ranges::any_of(types, [&](std::string_view type) { return edit.Is(n, type); });
}
bool IsFunction(const GraphEdit& edit, int n) {
  return IsOneOf(edit, n, {"Sigmoid", "Tanh", "Relu", "HardSigmoid", "Clip", "Softsign", "LeakyRelu", "Elu"});
}

}  // namespace

UnrolledSteps::UnrolledSteps(const GraphEdit& edit) : edit_(edit) {
  steps_.outer = steps_.body = &edit;
  steps_.is_open = true;
}

// Values that matrices are multiplied by: inputs and h, but for the product of r and h in a GRU. And c: what goes
// through a function to be multiplied by a gate's.
void UnrolledSteps::FindCuts() {
  const auto maker = [&](int v) { return edit_.producer(steps_.Resolve({&edit_, v}).value); };
  for (int n = 0; n < edit_.node_size(); ++n) {
    if (!IsOneOf(edit_, n, {"MatMul", "Gemm"})) continue;
    for (const Place& part : steps_.Parts({&edit_, edit_.input(n, 0)})) {
      const int made = edit_.producer(part.value);
      const bool gated = IsOneOf(edit_, made, {"Mul"}) && std::ranges::any_of(edit_.inputs(made), [&](int v) {
                           return IsOneOf(edit_, maker(v), {"Sigmoid", "HardSigmoid", "Clip", "Split", "Slice"});
                         });
      // The h of an LSTM is such a product too: of two functions.
      if (!gated || StateBeside(made) != kAbsent) steps_.cuts.insert(part.value);
    }
  }
  for (int n = 0; n < edit_.node_size(); ++n) {
    if (!edit_.Is(n, "Mul")) continue;
    if (const int state = StateBeside(n); state != kAbsent) steps_.cuts.insert(state);
    // A first c that is constant.
    for (const size_t side : {0, 1}) {
      const Place place = steps_.Resolve({&edit_, edit_.input(n, side)});
      const Tensor& tensor = steps_.Constant(place);
      if (tensor.rank() >= 2 && tensor.NumElements() > 1 && IsFunction(edit_, maker(edit_.input(n, 1 - side))))
        steps_.cuts.insert(place.value);
    }
  }
}

// Of a product o f(c): the value c, where it is made as c is.
int UnrolledSteps::StateBeside(int n) const {
  for (const size_t side : {0, 1}) {
    const int function = edit_.producer(steps_.Resolve({&edit_, edit_.input(n, side)}).value);
    if (function == kAbsent || !IsFunction(edit_, function)) continue;
    const int state = steps_.Resolve({&edit_, edit_.input(function, 0)}).value;
    const int made = edit_.producer(state);
    if (!IsOneOf(edit_, made, {"Add", "Sum"})) continue;
    const bool of_products = std::ranges::all_of(edit_.inputs(made), [&](int v) {
      return IsOneOf(edit_, edit_.producer(steps_.Resolve({&edit_, v}).value), {"Mul"});
    });
    if (of_products) return state;
  }
  return kAbsent;
}

namespace {

// The values that matrices are multiplied by, in what the sum is made of.
std::vector<int> Leaves(const StepReader& reader, const Sum& sum) {
  const Symbols& symbols = reader.symbols();
  std::vector<int> leaves, open;
  std::set<int> seen;
  const auto add = [&](const Sum& terms) {
    for (const auto& term : terms)
      for (const int s : term.first)
        if (seen.insert(s).second) open.push_back(s);
  };
  add(sum);
  while (!open.empty()) {
    const Symbol& symbol = symbols[open.back()];
    open.pop_back();
    if (symbol.kind == Symbol::Kind::kCall) add(symbol.sum);
    if (symbol.kind != Symbol::Kind::kMatMul) continue;
    for (const int a : symbol.argument) {
      if (symbols[a].kind == Symbol::Kind::kCall) add({{{a}, 1}});
      if (symbols[a].kind != Symbol::Kind::kValue) continue;
      const int value = reader.LeafValue(symbols[a].source);
      if (value != kAbsent && std::ranges::find(leaves, value) == leaves.end()) leaves.push_back(value);
    }
  }
  return leaves;
}

}  // namespace

void UnrolledSteps::AddCandidate(int n) {
  const int state = edit_.Is(n, "Mul") ? StateBeside(n) : kAbsent;
  if (state == kAbsent && !IsFunction(edit_, n) && !IsOneOf(edit_, n, {"Add", "Sub", "Sum"})) return;
  const int hidden = edit_.outputs(n)[0];
  const OptimShape shape = edit_.ShapeOf(hidden);
  if (hidden == kAbsent || shape.IsUnknown() || shape.Empty()) return;
  std::string rows;
  for (size_t i = 0; i + 1 < shape.Rank(); ++i)
    if (!(shape[i] == OptimDim(1))) rows += shape[i].ToString() + ",";
  std::unique_ptr<StepReader>& reader = readers_[rows];
  if (reader == nullptr) reader = std::make_unique<StepReader>(steps_, hidden);
  Candidate candidate{.reader = reader.get(),
                      .hidden = hidden,
                      .state = state,
                      .next_hidden = {},
                      .next_state = {},
                      .leaves = {},
                      .states = {}};
  candidate.next_hidden = reader->ReadMade(hidden, state);
  candidate.leaves = Leaves(*reader, candidate.next_hidden);
  if (candidate.leaves.empty()) return;
  if (state != kAbsent) {
    candidate.next_state = reader->ReadMade(state);
    for (const auto& term : candidate.next_state)
      for (const int s : term.first)
        if (const Symbol& symbol = reader->symbols()[s]; symbol.kind == Symbol::Kind::kValue)
          candidate.states.push_back(reader->LeafValue(symbol.source));
    if (candidate.states.empty()) return;
  }
  candidates_.emplace(hidden, std::move(candidate));
}

namespace {

// Terms of the gates in words, those with inputs apart by the input: two steps of the same cell have the same ones.
class Words {
 public:
  Words(const StepReader& reader, const Update& update) : reader_(reader), update_(update) {}

  void AddGate(std::string_view gate, const Sum& sum) {
    for (const auto& [product, number] : sum) {
      int input = kAbsent;
      std::string words = fmt::format("{} {}{}", gate, number, Of(product, input));
      (input == kAbsent ? own_ : inputs_[input]).insert(std::move(words));
    }
  }
  void AddFunction(const Symbol& call) { own_.insert(fmt::format("{} {} {}", call.function, call.alpha, call.beta)); }

  void Finish(UnrolledStep& step) const {
    std::vector<std::pair<std::string, int>> inputs;
    for (const auto& [source, words] : inputs_) inputs.emplace_back(fmt::format("{}", fmt::join(words, ";")), source);
    std::ranges::sort(inputs);
    step.signature = fmt::format("{} {}", step.cell.op_type, fmt::join(own_, ";"));
    for (const auto& [words, source] : inputs) {
      step.signature += "|" + words;
      step.inputs.push_back(source);
    }
  }

 private:
  // Numbers of symbols say nothing: the words are sorted.
  std::string Of(const Product& product, int& input) const {
    std::vector<std::string> words;
    for (const int s : product) words.push_back(Of(s, input));
    std::ranges::sort(words);
    return fmt::format("({})", fmt::join(words, " "));
  }
  std::string Of(int s, int& input) const {
    const Symbols& symbols = reader_.symbols();
    const Symbol& symbol = symbols[s];
    const auto is_of = [&](int whole) { return whole != kAbsent && symbols[whole].source == symbol.source; };
    switch (symbol.kind) {
      case Symbol::Kind::kValue: {
        const bool h = is_of(update_.hidden), c = is_of(update_.state);
        if (!h && !c) input = symbol.source;
        return fmt::format("{}[{},{}]", h ? 'h' : c ? 'c' : 'x', symbol.column, symbol.width);
      }
      case Symbol::Kind::kCall:
        return "r";  // whose own terms are there
      default:
        return fmt::format("{}[{},{},{}]{}", symbol.source, symbol.row, symbol.column, symbol.width,
                           Of(symbol.argument, input));
    }
  }

  const StepReader& reader_;
  const Update& update_;
  std::set<std::string> own_;
  std::map<int, std::set<std::string>> inputs_;  // by the leaf
};

}  // namespace

std::optional<UnrolledStep> UnrolledSteps::Match(const Candidate& candidate, int hidden_before,
                                                 int state_before) const {
  try {
    StepReader& reader = *candidate.reader;
    Update update{.hidden = reader.WholeSymbol(hidden_before),
                  .next_hidden = candidate.next_hidden,
                  .next_state = candidate.next_state};
    if (state_before != kAbsent) update.state = reader.WholeSymbol(state_before);
    UnrolledStep step{.reader = &reader,
                      .hidden = candidate.hidden,
                      .state = candidate.state,
                      .hidden_before = hidden_before,
                      .state_before = state_before,
                      .units = reader.symbols()[update.hidden].width,
                      .cell = MatchCell(reader, update)};
    if (edit_.ShapeOf(candidate.hidden).Dims().back() != OptimDim(step.units)) return std::nullopt;
    Words words(reader, update);
    bool recurs = false;
    for (size_t g = 0; g < step.cell.gates.size(); ++g) {
      const Gate& gate = step.cell.gates[g];
      words.AddGate(fmt::format("{}x", g), gate.input);
      words.AddGate(fmt::format("{}h", g), gate.recurrent);
      words.AddGate(fmt::format("{}b", g), gate.bias);
      words.AddGate(fmt::format("{}p", g), gate.peephole);
      recurs = recurs || !gate.recurrent.empty();
    }
    if (step.cell.reset) {
      words.AddGate("r", step.cell.reset->recurrent);
      words.AddGate("rb", step.cell.reset->bias);
    }
    for (const Symbol& function : step.cell.functions) words.AddFunction(function);
    words.Finish(step);
    return recurs && !step.inputs.empty() ? std::optional(std::move(step)) : std::nullopt;
  } catch (const NotACell&) {
    return std::nullopt;
  }
}

std::optional<UnrolledStep> UnrolledSteps::MatchLike(const Candidate& candidate, const std::string& signature) const {
  const std::vector<int> no_state{kAbsent};
  for (const int hidden : candidate.leaves) {
    for (const int state : candidate.state == kAbsent ? no_state : candidate.states) {
      auto step = Match(candidate, hidden, state);
      if (step && step->signature == signature) return step;
    }
  }
  return std::nullopt;
}

std::vector<std::vector<UnrolledStep>> UnrolledSteps::Find() {
  FindCuts();
  if (steps_.cuts.size() < 2) return {};
  for (int n = 0; n < edit_.node_size(); ++n) {
    if (!edit_.alive(n) || edit_.outputs(n).size() != 1) continue;
    try {
      AddCandidate(n);
    } catch (const NotACell&) {
      // Most nodes are no step.
    }
  }
  // Each step after one that may be a step, too.
  std::multimap<int, UnrolledStep> after;  // by the h before it
  for (const auto& [hidden, candidate] : candidates_) {
    for (const int before : candidate.leaves) {
      const auto previous = candidates_.find(before);
      if (previous == candidates_.end() || previous->second.reader != candidate.reader) continue;
      const int state = previous->second.state;
      if ((state == kAbsent) != (candidate.state == kAbsent)) continue;
      if (auto step = Match(candidate, before, state)) after.emplace(before, *std::move(step));
    }
  }
  const auto going_on = [&](int hidden, const std::string& signature) -> const UnrolledStep* {
    const auto [begin, end] = after.equal_range(hidden);
    const auto it = std::find_if(begin, end, [&](const auto& entry) { return entry.second.signature == signature; });
    return it == end ? nullptr : &it->second;
  };
  std::vector<std::vector<UnrolledStep>> chains;
  for (const auto& [before, second] : after) {
    const bool is_first = std::ranges::none_of(after, [&](const auto& entry) {
      return entry.second.hidden == before && entry.second.signature == second.signature;
    });
    if (!is_first || going_on(before, second.signature) != &second) continue;
    std::vector<UnrolledStep> chain;
    if (auto first = MatchLike(candidates_.at(before), second.signature)) chain.push_back(*std::move(first));
    for (const UnrolledStep* step = &second; step != nullptr; step = going_on(step->hidden, second.signature))
      chain.push_back(*step);
    if (chain.size() > 1) chains.push_back(std::move(chain));
  }
  return chains;
}

}  // namespace ONNX_LIGHT_NAMESPACE::cells
