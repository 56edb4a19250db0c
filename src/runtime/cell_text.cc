// SPDX-License-Identifier: Apache-2.0
#include "runtime/cell_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ONNX_LIGHT_NAMESPACE {

std::string CellText::Node(const std::string& call) {
  std::string name = fmt::format("v{}", made_++);
  nodes += fmt::format("    {} = {}\n", name, call);
  return name;
}

template <class Fn>
std::string CellText::NextConstant(Fn make) {
  if (used_ == names_.size()) {
    names_.push_back(fmt::format("k{}", made_++));
    constants += (constants.empty() ? "" : ", ") + make(names_.back());
  }
  return names_[used_++];
}

std::string CellText::Constant(const std::vector<int>& dims) {
  return NextConstant([&](const std::string& name) {
    std::vector<float> numbers;
    int count = 1;
    for (const int dim : dims) count *= dim;
    for (int i = 0; i < count; ++i)
      numbers.push_back(static_cast<float>(static_cast<int>(numbers_() % 2001) - 1000) / 1000);
    return fmt::format("float[{}] {} = {{{}}}", fmt::join(dims, ","), name, fmt::join(numbers, ", "));
  });
}

std::string CellText::Ints(const std::vector<int64_t>& ints) {
  return NextConstant([&](const std::string& name) {
    return fmt::format("int64[{}] {} = {{{}}}", ints.size(), name, fmt::join(ints, ", "));
  });
}

std::string CellText::Commuted(const std::string& type, const std::string& a, const std::string& b) {
  return Node(Below(2) == 0 ? fmt::format("{}({}, {})", type, a, b) : fmt::format("{}({}, {})", type, b, a));
}

std::string CellText::Times(const std::string& value, int rows, int columns) {
  switch (Below(4)) {
    case 0:
      return Node(fmt::format("Gemm <transB = 1> ({}, {})", value, Constant({columns, rows})));
    case 1:
      return Node(fmt::format("MatMul({}, {})", value,
                              Node(fmt::format("Transpose <perm = [1, 0]> ({})", Constant({columns, rows})))));
    case 2:
      return Node(fmt::format("Gemm({}, {}, {})", value, Constant({rows, columns}), Constant({columns})));
    default:
      return Node(fmt::format("MatMul({}, {})", value, Constant({rows, columns})));
  }
}

std::string CellText::OneSum(const std::string& x, const std::string& h, int columns) {
  std::string sum;
  if (Below(2) == 0) {
    const bool x_first = Below(2) == 0;
    const std::string both =
        Node(fmt::format("Concat <axis = {}> ({}, {})", Below(2) == 0 ? 1 : -1, x_first ? x : h, x_first ? h : x));
    sum = Times(both, columns_ + units_, columns);
  } else {
    sum = Sum(Times(x, columns_, columns), Times(h, units_, columns));
  }
  if (Below(3) > 0) sum = Sum(sum, Constant(Below(2) == 0 ? std::vector{columns} : std::vector{1, columns}));
  if (Below(4) == 0) sum = Node(fmt::format("Identity({})", sum));
  return sum;
}

std::vector<std::string> CellText::Gates(const std::string& x, const std::string& h, int count) {
  std::vector<std::string> gates;
  const int how = Below(4);
  if (how == 0) {
    for (int g = 0; g < count; ++g) gates.push_back(OneSum(x, h, units_));
    return gates;
  }
  const std::string all = OneSum(x, h, count * units_);
  if (how == 1) {
    for (int g = 0; g < count; ++g)
      gates.push_back(
          Node(fmt::format("Slice({}, {}, {}, {})", all, Ints({g * units_}), Ints({(g + 1) * units_}), Ints({1}))));
  } else {
    for (int g = 0; g < count; ++g) gates.push_back(fmt::format("v{}", made_++));
    nodes += fmt::format("    {} = Split <axis = {}> ({})\n", fmt::join(gates, ", "), how == 2 ? 1 : -1, all);
  }
  return gates;
}

std::pair<std::string, std::string> CellText::Lstm(const std::string& x, const std::string& h, const std::string& c,
                                                   bool peepholes) {
  std::vector<std::string> gates = Gates(x, h, 4);
  std::shuffle(gates.begin(), gates.end(), random_);
  auto [i, f, o, g] = std::tie(gates[0], gates[1], gates[2], gates[3]);
  if (Below(2) == 0) f = Node(fmt::format("Add({}, {})", f, Constant({1})));
  if (peepholes) {
    i = Sum(i, Product(c, Constant({units_})));
    f = Sum(f, Product(c, Constant({units_})));
  }
  const std::string next_c = Sum(Product(Node(fmt::format("Sigmoid({})", f)), c),
                                 Product(Node(fmt::format("Sigmoid({})", i)), Node(fmt::format("Tanh({})", g))));
  if (peepholes) o = Sum(o, Product(next_c, Constant({units_})));
  const std::string next_h = Product(Node(fmt::format("Sigmoid({})", o)), Node(fmt::format("Tanh({})", next_c)));
  return {next_h, next_c};
}

std::string CellText::Gru(const std::string& x, const std::string& h, bool linear_before_reset) {
  const std::vector<std::string> gates = Gates(x, h, 2);
  const std::string z = Node(fmt::format("Sigmoid({})", gates[0])), r = Node(fmt::format("Sigmoid({})", gates[1]));
  const std::string inner = linear_before_reset ? Product(r, Sum(Times(h, units_, units_), Constant({units_})))
                                                : Times(Product(r, h), units_, units_);
  const std::string n = Node(fmt::format("Tanh({})", Sum(Sum(Times(x, columns_, units_), inner), Constant({units_}))));
  const std::string one = NextConstant([](const std::string& name) { return fmt::format("float {} = {{1}}", name); });
  switch (Below(3)) {
    case 0:
      return Sum(Product(z, h), Product(Node(fmt::format("Sub({}, {})", one, z)), n));
    case 1:
      return Sum(n, Product(z, Node(fmt::format("Sub({}, {})", h, n))));
    default:
      return Sum(Product(z, n), Product(Node(fmt::format("Sub({}, {})", one, z)), h));
  }
}

std::string CellText::Rnn(const std::string& x, const std::string& h, const std::string& function) {
  return Node(fmt::format("{}({})", function, OneSum(x, h, units_)));
}

}  // namespace ONNX_LIGHT_NAMESPACE
