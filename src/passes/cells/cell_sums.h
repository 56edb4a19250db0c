// SPDX-License-Identifier: Apache-2.0
// cells: what the body of a Loop or Scan computes in one step, read as formulas and compared with those of LSTM, GRU
// and RNN. Before it: graph_edit (who makes a value). After it: recognise_cells, which puts the operator there.
//
// Sums: formulas in a normal form. Equal ones are equal objects, whatever nodes spell them.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::cells {

// Symbols, ascending; one may stand there twice. The empty one is the number 1.
using Product = std::vector<int>;
// Products and what they are multiplied by, never 0. Each stands for some columns of a value [rows,columns].
using Sum = std::map<Product, double>;

struct Symbol {
  enum class Kind : unsigned char {
    kValue,   // columns [column,column+width) of what comes from outside the step: `source` says which
    kVector,  // elements [column,column+width) of the constant `source`, for every row
    kMatMul,  // `argument` times rows from `row` on and columns [column,column+width) of the constant `source`
    kCall,    // a function of each element of `sum`
  };
  Kind kind = Kind::kValue;
  int source = 0;
  int64_t row = 0, column = 0, width = 0;
  Product argument = {};
  std::string function = {};
  float alpha = 0, beta = 0;
  Sum sum = {};

  friend auto operator<=>(const Symbol&, const Symbol&) = default;
};

// Numbers for symbols, the same for equal ones.
class Symbols {
 public:
  int Intern(Symbol symbol);
  const Symbol& operator[](int s) const { return *by_number_[static_cast<size_t>(s)]; }

 private:
  std::map<Symbol, int> numbers_;
  std::vector<const Symbol*> by_number_;
};

// Not a cell any operator computes, for the reason given.
struct NotACell {
  std::string why;
};

void Add(Sum& to, const Sum& sum, double factor = 1);
// Throws NotACell for what has more terms than the update of any cell.
Sum Multiply(const Sum& a, const Sum& b);
// The product's factors but for one `symbol`; the product must have it.
Product Without(const Product& product, int symbol);

}  // namespace ONNX_LIGHT_NAMESPACE::cells
