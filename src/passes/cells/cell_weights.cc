// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "passes/cells/cell.h"

namespace ONNX_LIGHT_NAMESPACE::cells {
namespace {

using Kind = Symbol::Kind;

template <class T>
class Weights {
 public:
  Weights(const StepReader& reader, const Cell& cell, int64_t hidden_size) : reader_(reader), hidden_(hidden_size) {
    result_.hidden_size = hidden_size;
    for (const Gate& gate : cell.gates) FindInputs(gate.input);
    const auto gates = static_cast<int64_t>(cell.gates.size());
    result_.w = Zeros({1, gates * hidden_, result_.input_size});
    result_.r = Zeros({1, gates * hidden_, hidden_});
    result_.b = Zeros({1, 2 * gates * hidden_});
    const bool peepholes = std::ranges::any_of(cell.gates, [](const Gate& gate) { return !gate.peephole.empty(); });
    if (peepholes) result_.p = Zeros({1, 3 * hidden_});
    for (int64_t g = 0; g < gates; ++g) {
      const Gate& gate = cell.gates[static_cast<size_t>(g)];
      AddMatrices(result_.w, g, gate.input);
      AddMatrices(result_.r, g, gate.recurrent);
      AddVectors(result_.b, g, gate.bias);
      if (!gate.peephole.empty()) AddVectors(result_.p, g, gate.peephole);
    }
    if (cell.reset) {
      AddMatrices(result_.r, gates - 1, cell.reset->recurrent);
      AddVectors(result_.b, 2 * gates - 1, cell.reset->bias);
    }
  }

  CellWeights Take() { return std::move(result_); }

 private:
  static Tensor Zeros(Shape shape) {
    Tensor tensor(kTensorTypeOf<T>, std::move(shape));
    std::ranges::fill(tensor.template MutableView<T>(), T{0});
    return tensor;
  }

  // What the product is of: a step's input or the state, by itself or times the matrix of `symbol`.
  const Symbol& Operand(const Symbol& symbol) const {
    if (symbol.kind != Kind::kMatMul) return symbol;
    const auto& argument = symbol.argument;
    return symbols()[*std::ranges::find_if(argument, [&](int s) { return symbols()[s].kind == Kind::kValue; })];
  }
  const Symbols& symbols() const { return reader_.symbols(); }

  void FindInputs(const Sum& sum) {
    for (const auto& [product, number] : sum) {
      const int source = Operand(symbols()[product[0]]).source;
      if (!columns_.emplace(source, result_.input_size).second) continue;
      result_.inputs.push_back(reader_.leaf(source));
      result_.leaves.push_back(source);
      result_.input_size += reader_.LeafWidth(source);
    }
  }

  // To the rows of gate g of W or R.
  void AddMatrices(Tensor& to, int64_t g, const Sum& sum) {
    const int64_t width = to.dim(2);
    for (const auto& [product, number] : sum) {
      const Symbol& symbol = symbols()[product[0]];
      const Symbol& operand = Operand(symbol);
      const auto place = columns_.find(operand.source);
      const int64_t first = operand.column + (place == columns_.end() ? 0 : place->second);
      T* const rows = to.template MutableView<T>().data() + g * hidden_ * width + first;
      if (symbol.kind == Kind::kValue) {  // times nothing: each column into its own unit
        for (int64_t j = 0; j < hidden_; ++j) rows[j * width + j] += static_cast<T>(number);
        continue;
      }
      const Tensor& matrix = reader_.constant(symbol.source);
      const T* const from = matrix.View<T>().data();
      const int64_t stored = matrix.dim(matrix.rank() - 1);
      const bool transposed = reader_.IsTransposed(symbol.source);
      const int64_t row_step = transposed ? 1 : stored, column_step = transposed ? stored : 1;
      for (int64_t k = 0; k < operand.width; ++k) {
        const T* const row = from + (symbol.row + k) * row_step + symbol.column * column_step;
        for (int64_t j = 0; j < hidden_; ++j)
          rows[j * width + k] += static_cast<T>(number * static_cast<double>(row[j * column_step]));
      }
    }
  }

  void AddVectors(Tensor& to, int64_t g, const Sum& sum) {
    const std::span<T> all = to.template MutableView<T>();
    const std::span<T> part = all.subspan(static_cast<size_t>(g * hidden_), static_cast<size_t>(hidden_));
    std::vector<double> total(part.begin(), part.end());
    for (const auto& [product, number] : sum) {
      const auto vector = std::ranges::find_if(product, [&](int s) { return symbols()[s].kind == Kind::kVector; });
      const T* from = nullptr;
      if (vector != product.end()) {
        const Symbol& symbol = symbols()[*vector];
        from = reader_.constant(symbol.source).template View<T>().data() + symbol.column;
      }
      for (size_t j = 0; j < total.size(); ++j)
        total[j] += number * (from == nullptr ? 1 : static_cast<double>(from[j]));
    }
    std::ranges::transform(total, part.begin(), [](double number) { return static_cast<T>(number); });
  }

  const StepReader& reader_;
  int64_t hidden_;
  CellWeights result_;
  std::map<int, int64_t> columns_;  // of an input's leaf, in the operator's input
};

}  // namespace

CellWeights MakeWeights(const StepReader& reader, const Cell& cell, TensorType type, int64_t hidden_size) {
  if (hidden_size == 0) throw NotACell{"its states have no columns"};
  if (type == TensorType::kDouble) return Weights<double>(reader, cell, hidden_size).Take();
  return Weights<float>(reader, cell, hidden_size).Take();
}

std::string Describe(const Cell& cell, const CellWeights& weights, bool reversed) {
  return fmt::format("{} {} of {} units over {} inputs{}", cell.op_type == "GRU" ? "a" : "an", cell.op_type,
                     weights.hidden_size, weights.input_size, reversed ? ", backwards" : "");
}

}  // namespace ONNX_LIGHT_NAMESPACE::cells
