// SPDX-License-Identifier: Apache-2.0
// StepReader: values of a step as sums.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "passes/cells/cell_sums.h"
#include "passes/cells/step_body.h"

namespace ONNX_LIGHT_NAMESPACE::cells {

// A step works on rows that have nothing to do with each other: each value is [rows,columns], with axes of size 1 put
// in before the last one as the body likes. What mixes rows is no cell.
class StepReader {
 public:
  // `like`: a value of the body whose rows are those of all values that are read. `steps` must outlive this.
  StepReader(const StepBody& steps, int like);

  // All columns of a value of the body. All that reads throws NotACell.
  Sum Read(int value);
  // What the node that makes the value makes of it, where the value itself is a cut; `through` is for this once no cut.
  Sum ReadMade(int value, int through = GraphEdit::kAbsent);
  // The symbol of what comes into the step, all of its columns.
  int WholeSymbol(int value);

  const Symbols& symbols() const { return symbols_; }
  // What Symbol::source of kValue stands for; the first value of the body that is that, kAbsent where none is.
  const StepInput& leaf(int source) const { return leaves_[static_cast<size_t>(source)]; }
  int LeafValue(int source) const { return leaf_values_[static_cast<size_t>(source)]; }
  // Columns of the leaf.
  int64_t LeafWidth(int source) const { return leaf_widths_[static_cast<size_t>(source)]; }
  // kVector and kMatMul: the constant `source`, and whether it is to be read with rows and columns exchanged.
  const Tensor& constant(int source) const { return steps_.Constant(constants_[static_cast<size_t>(source)].first); }
  bool IsTransposed(int source) const { return constants_[static_cast<size_t>(source)].second; }

 private:
  struct Columns {
    int64_t begin, width;
  };
  using Rows = std::vector<OptimDim>;  // dims but for the last and those of size 1

  Sum Read(Place place, Columns columns);
  std::optional<StepInput> LeafAt(Place place) const;
  Sum ReadNode(Place place, int n, Columns columns);
  Sum ReadCall(Place place, int n, Columns columns);
  Sum ReadMatMul(Place place, int left, int right, bool transposed, Columns columns);
  Sum ReadGemm(Place place, int n, Columns columns);
  Sum ReadSlice(Place place, int n, Columns columns);
  Sum ReadConcat(Place place, int n, Columns columns);
  Sum ReadClip(Place place, int n, Columns columns);
  Sum ReadConstant(Place place, Columns columns);
  // Of an elementwise node of a value that has `of` columns.
  Sum ReadOperand(Place place, int64_t of, Columns columns);
  std::optional<StepInput> InputAt(Place place) const;
  // Of all `width` columns of a leaf that a value is.
  Sum LeafColumns(const StepInput& leaf, Place place, int64_t width, Columns columns);
  // Of what a step takes of a product that is made for all steps at once.
  std::optional<Sum> ReadAhead(StepInput input, Columns columns);
  int ConstantSource(Place place, bool transposed);
  int64_t Width(Place place) const;
  // But for `without`, an axis.
  std::optional<Rows> RowsOf(Place place, int64_t without = -1) const;
  std::string Quoted(Place place) const;

  const StepBody& steps_;
  Rows rows_;
  Symbols symbols_;
  std::vector<StepInput> leaves_;
  std::vector<int> leaf_values_;
  std::vector<int64_t> leaf_widths_;
  std::vector<std::pair<Place, bool>> constants_;
  std::map<std::tuple<Place, int64_t, int64_t, int>, Sum> read_;  // by through_, too
  int depth_ = 0;
  int through_ = GraphEdit::kAbsent;
};

// Calls fn with the elements; throws NotACell where they are neither float nor double.
template <class Fn>
auto WithFloats(const Tensor& tensor, Fn fn) {
  if (tensor.dtype() == TensorType::kDouble) return fn(tensor.View<double>());
  if (tensor.dtype() != TensorType::kFloat) throw NotACell{"it has constants that are neither float nor double"};
  return fn(tensor.View<float>());
}

}  // namespace ONNX_LIGHT_NAMESPACE::cells
