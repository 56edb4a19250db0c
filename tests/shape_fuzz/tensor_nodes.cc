// SPDX-License-Identifier: Apache-2.0
// Nodes that compute, move and select elements of tensors.
#include "graph_maker.h"

namespace ONNX_LIGHT_NAMESPACE {

void Maker::Elementwise() {
  const Known x = Float();
  switch (random_.Int(0, 4)) {
    case 0:
    case 1: {
      static const std::vector<std::string> kUnary{"Relu", "Neg", "Sigmoid", "Abs", "Identity", "Tanh", "Erf", "my.f"};
      const std::string& op = random_.Of(kUnary);
      // The function is made for matrices, and gives one.
      if (op == "my.f" && (in_function_ || x.dims.size() != 2)) return;
      std::vector<Mark> dims = x.dims;
      if (op == "my.f") dims.back() = New();
      Emit(Kind::kFloat, fmt::format("{} ({})", op, x.name), dims);
      return;
    }
    case 2: {
      const Known y = Partner(x);
      std::vector<Mark> dims = x.dims.size() >= y.dims.size() ? x.dims : y.dims;
      const std::vector<Mark>& other = x.dims.size() >= y.dims.size() ? y.dims : x.dims;
      for (size_t i = 1; i <= other.size(); ++i) {
        Mark& mark = dims[dims.size() - i];
        if (mark == 1) mark = other[other.size() - i];
      }
      static const std::vector<std::string> kBinary{"Add", "Mul", "Sub", "Max", "Min"};
      Emit(Kind::kFloat, fmt::format("{} ({}, {})", random_.Of(kBinary), x.name, y.name), dims);
      return;
    }
    case 3: {
      if (x.dims.size() < 2) return;
      std::vector<int> perm(x.dims.size());
      for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int>(i);
      std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
      std::vector<Mark> turned = x.dims;
      std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
      const Known t =
          Emit(Kind::kFloat, fmt::format("Transpose <perm = [{}]> ({})", fmt::join(perm, ", "), x.name), turned);
      std::vector<Mark> dims = x.dims;
      dims.back() = dims[dims.size() - 2];
      Emit(Kind::kFloat, fmt::format("MatMul ({}, {})", x.name, t.name), dims);
      return;
    }
    default: {
      if (x.dims.empty()) return;
      static const std::vector<std::string> kAlong{"Softmax", "LogSoftmax", "Hardmax"};
      Emit(Kind::kFloat, fmt::format("{} <axis = {}> ({})", random_.Of(kAlong), Signed(x, Axis(x)), x.name), x.dims);
    }
  }
}

void Maker::Movement() {
  const Known x = FloatOfRank(1);
  const int axis = Axis(x), rank = static_cast<int>(x.dims.size());
  switch (random_.Int(0, 9)) {
    case 0: {
      std::vector<int> perm;
      std::vector<Mark> dims;
      for (int i = 0; i < rank; ++i) perm.insert(perm.begin() + random_.Int(0, i), i);
      for (const int i : perm) dims.push_back(x.dims[static_cast<size_t>(i)]);
      Emit(Kind::kFloat, fmt::format("Transpose <perm = [{}]> ({})", fmt::join(perm, ", "), x.name), dims);
      return;
    }
    case 1: {
      std::vector<const Known*> found;
      Collect(
          [&](const Known& other) {
            if (other.kind != Kind::kFloat || other.dims.size() != x.dims.size()) return false;
            for (size_t i = 0; i < x.dims.size(); ++i)
              if (static_cast<int>(i) != axis && x.dims[i] != other.dims[i]) return false;
            return true;
          },
          found);
      std::vector<Mark> dims = x.dims;
      dims[static_cast<size_t>(axis)] = New();
      const std::string other = found.empty() ? x.name : random_.Of(found)->name;
      Emit(Kind::kFloat, fmt::format("Concat <axis = {}> ({}, {})", Signed(x, axis), x.name, other), dims);
      return;
    }
    case 2: {
      std::vector<Mark> dims = x.dims;
      const int at = random_.Int(0, rank);
      dims.insert(dims.begin() + at, 1);
      const std::string axes = Ints({at}).name;
      Emit(Kind::kFloat, fmt::format("Unsqueeze ({}, {})", x.name, axes), dims);
      return;
    }
    case 3: {
      const auto one = std::ranges::find(x.dims, 1);
      if (one == x.dims.end()) return;
      std::vector<Mark> dims = x.dims;
      const auto at = one - x.dims.begin();
      dims.erase(dims.begin() + at);
      const std::string axes = Ints({static_cast<int>(at)}).name;
      Emit(Kind::kFloat, fmt::format("Squeeze ({}, {})", x.name, axes), dims);
      return;
    }
    case 4: {
      Emit(Kind::kFloat, fmt::format("Flatten <axis = {}> ({})", axis, x.name), {New(), New()});
      return;
    }
    case 5: {
      // The first dims as they are, the rest in one.
      std::vector<int> target(static_cast<size_t>(axis), 0);
      target.push_back(-1);
      std::vector<Mark> dims(x.dims.begin(), x.dims.begin() + axis);
      dims.push_back(axis + 1 == rank ? x.dims.back() : New());
      const std::string shape = Ints(target).name;
      Emit(Kind::kFloat, fmt::format("Reshape ({}, {})", x.name, shape), dims);
      return;
    }
    case 6: {
      // Through a flat form and back, by the shape of what was. A size of 0 is one here, as inference takes it to be.
      const std::string shape = Emit(Kind::kDims, fmt::format("Shape ({})", x.name)).name;
      const std::string flat = Ints({-1}).name;
      const Known f = Emit(Kind::kFloat, fmt::format("Reshape ({}, {})", x.name, flat), {New()});
      Emit(Kind::kFloat, fmt::format("Reshape <allowzero = 1> ({}, {})", f.name, shape), x.dims);
      return;
    }
    case 7: {
      // Two dims in one, computed.
      if (rank < 2) return;
      const std::string a = Emit(Kind::kDims, fmt::format("Shape <start = 0, end = 1> ({})", x.name)).name;
      const std::string b = Emit(Kind::kDims, fmt::format("Shape <start = 1, end = 2> ({})", x.name)).name;
      const std::string ab = Emit(Kind::kDims, fmt::format("Mul ({}, {})", a, b)).name;
      const std::string rest = random_.OneIn(2) ? Emit(Kind::kDims, fmt::format("Shape <start = 2> ({})", x.name)).name
                                                : Ints(std::vector<int>(static_cast<size_t>(rank - 2), -1)).name;
      const std::string shape = Emit(Kind::kDims, fmt::format("Concat <axis = 0> ({}, {})", ab, rest)).name;
      std::vector<Mark> dims(x.dims.begin() + 1, x.dims.end());
      dims[0] = New();
      if (rank <= 3) Emit(Kind::kFloat, fmt::format("Reshape <allowzero = 1> ({}, {})", x.name, shape), dims);
      return;
    }
    case 8: {
      std::vector<int> repeats;
      std::vector<Mark> dims = x.dims;
      for (Mark& dim : dims) {
        repeats.push_back(random_.OneIn(2) ? 1 : random_.Int(0, 3));
        if (repeats.back() != 1) dim = New();
      }
      const std::string by = Ints(repeats).name;
      Emit(Kind::kFloat, fmt::format("Tile ({}, {})", x.name, by), dims);
      return;
    }
    default: {
      std::vector<int> pads;
      std::vector<Mark> dims = x.dims;
      for (int i = 0; i < 2 * rank; ++i) pads.push_back(random_.OneIn(2) ? 0 : random_.Int(-1, 2));
      for (Mark& dim : dims) dim = New();
      const std::string by = Ints(pads).name;
      Emit(Kind::kFloat, fmt::format("Pad ({}, {})", x.name, by), dims);
    }
  }
}

void Maker::Selection() {
  const Known x = FloatOfRank(1);
  const int axis = Axis(x);
  std::vector<Mark> dims = x.dims;
  dims[static_cast<size_t>(axis)] = New();
  switch (random_.Int(0, 10)) {
    case 0:
    case 1: {
      static const std::vector<int> kSteps{1, 1, 2, 3, -1, -2};
      const std::string start = Ints({random_.Int(-5, 5)}).name, end = Ints({random_.Int(-6, 9)}).name;
      const std::string axes = Ints({Signed(x, axis)}).name, step = Ints({random_.Of(kSteps)}).name;
      Emit(Kind::kFloat, fmt::format("Slice ({}, {}, {}, {}, {})", x.name, start, end, axes, step), dims);
      return;
    }
    case 2: {
      dims.erase(dims.begin() + axis);
      const std::string at = Index(random_.Int(-1, 0)).name;
      Emit(Kind::kFloat, fmt::format("Gather <axis = {}> ({}, {})", Signed(x, axis), x.name, at), dims);
      return;
    }
    case 3: {
      static const std::vector<std::string> kReductions{"ReduceSum", "ReduceMax", "ReduceMean", "ReduceL2"};
      const bool keep = random_.OneIn(2);
      const std::string axes = Ints({Signed(x, axis)}).name;
      if (keep) {
        dims[static_cast<size_t>(axis)] = 1;
      } else {
        dims.erase(dims.begin() + axis);
      }
      Emit(Kind::kFloat,
           fmt::format("{} <keepdims = {}> ({}, {})", random_.Of(kReductions), keep ? 1 : 0, x.name, axes), dims);
      return;
    }
    case 4: {
      const Known a{Kind::kFloat, NewName(), dims};
      dims[static_cast<size_t>(axis)] = New();
      const Known b{Kind::kFloat, NewName(), dims};
      text_ +=
          fmt::format("  {}, {} = Split <axis = {}, num_outputs = 2> ({})\n", a.name, b.name, Signed(x, axis), x.name);
      Add(a);
      Add(b);
      return;
    }
    case 5: {
      const Known nonzero = Emit(Kind::kFloat, fmt::format("Relu ({})", x.name), x.dims);
      const std::string found = fmt::format("{}i", nonzero.name);
      text_ += fmt::format("  {} = NonZero ({})\n", found, nonzero.name);
      Emit(Kind::kFloat, fmt::format("Cast <to = 1> ({})", found), {static_cast<int>(x.dims.size()), New()});
      return;
    }
    case 6: {
      const Known y{Kind::kFloat, NewName(), dims};
      const std::string k = Ints({random_.Int(0, 2)}).name;
      text_ += fmt::format("  {}, {}i = TopK <axis = {}> ({}, {})\n", y.name, y.name, Signed(x, axis), x.name, k);
      Add(y);
      return;
    }
    case 7: {
      const std::string flat = NewName();
      text_ += fmt::format("  {}, {}b, {}c, {}d = Unique ({})\n", flat, flat, flat, flat, x.name);
      Add({Kind::kFloat, flat, {New()}});
      return;
    }
    case 8:
    case 9: {
      const Known image = FloatOfRank(3, 4);
      std::vector<Mark> pooled = image.dims;
      std::vector<int> kernel, strides, pads;
      for (size_t i = 2; i < pooled.size(); ++i) {
        pooled[i] = New();
        kernel.push_back(random_.Int(2, 3));
        strides.push_back(random_.Int(1, 3));
      }
      for (size_t i = 0; i < 2 * kernel.size(); ++i) pads.push_back(random_.Int(0, 1));
      Emit(Kind::kFloat,
           fmt::format("{} <kernel_shape = [{}], strides = [{}], pads = [{}], ceil_mode = {}> ({})",
                       random_.OneIn(2) ? "MaxPool" : "AveragePool", fmt::join(kernel, ", "), fmt::join(strides, ", "),
                       fmt::join(pads, ", "), random_.Int(0, 1), image.name),
           pooled);
      return;
    }
    default: {
      std::vector<std::string> scales;
      static const std::vector<std::string> kScales{"1.0", "0.5", "2.0", "0.3", "1.7"};
      for (size_t i = 0; i < x.dims.size(); ++i) scales.push_back(random_.Of(kScales));
      const std::string by = NewName();
      text_ += fmt::format("  {} = Constant <value_floats = [{}]> ()\n", by, fmt::join(scales, ", "));
      for (Mark& dim : dims) dim = New();
      Emit(Kind::kFloat, fmt::format("Resize <mode = \"nearest\"> ({}, , {})", x.name, by), dims);
    }
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
