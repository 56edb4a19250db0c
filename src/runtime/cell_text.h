// SPDX-License-Identifier: Apache-2.0
// Graphs in ONNX text that compute LSTM, GRU or RNN step by step, spelled in ways chosen at random.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

class CellText {
 public:
  // Inputs of `columns`, states of `units`.
  CellText(uint32_t seed, int columns, int units)
      : seed_(seed), random_(seed), numbers_(seed), columns_(columns), units_(units) {}

  // What follows is spelled as from the beginning, with the same constants.
  void Again() {
    random_.seed(seed_);
    used_ = 0;
  }

  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  // A new value that a node makes, and a new constant of random numbers.
  std::string Node(const std::string& call);
  std::string Constant(const std::vector<int>& dims);
  std::string Ints(const std::vector<int64_t>& ints);

  // The names of the next values, of the state h and, for an LSTM, of c.
  std::pair<std::string, std::string> Lstm(const std::string& x, const std::string& h, const std::string& c,
                                           bool peepholes);
  std::string Gru(const std::string& x, const std::string& h, bool linear_before_reset);
  std::string Rnn(const std::string& x, const std::string& h, const std::string& function);

  std::string nodes;      // of a step
  std::string constants;  // initializers of the graph around, "float[2] k0 = {1, 2}, ..."

 private:
  std::string Sum(const std::string& a, const std::string& b) { return Commuted("Add", a, b); }
  std::string Product(const std::string& a, const std::string& b) { return Commuted("Mul", a, b); }
  std::string Commuted(const std::string& type, const std::string& a, const std::string& b);
  // value times a constant matrix, of so many rows and columns
  std::string Times(const std::string& value, int rows, int columns);
  // What goes into so many gates.
  std::vector<std::string> Gates(const std::string& x, const std::string& h, int count);
  std::string OneSum(const std::string& x, const std::string& h, int columns);

  // The next one of those that are there already, or a new one with what `make` says.
  template <class Fn>
  std::string NextConstant(Fn make);

  uint32_t seed_;
  std::mt19937 random_, numbers_;
  int columns_, units_;
  int made_ = 0;
  std::vector<std::string> names_;  // of constants
  size_t used_ = 0;
};

}  // namespace ONNX_LIGHT_NAMESPACE
