// SPDX-License-Identifier: Apache-2.0
// Shape arithmetic, nodes that take sizes from it, and sequences.
#include "graph_maker.h"

namespace ONNX_LIGHT_NAMESPACE {

void Maker::Arithmetic() {
  switch (random_.Int(0, 8)) {
    case 0:
    case 1: {
      Emit(Kind::kDims, fmt::format("Shape ({})", Float().name));
      return;
    }
    case 2: {
      const Known x = FloatOfRank(1);
      const std::string shape = Emit(Kind::kDims, fmt::format("Shape ({})", x.name)).name;
      const std::string at = Index(Signed(x, Axis(x))).name;
      Emit(Kind::kIndex, fmt::format("Gather ({}, {})", shape, at));
      return;
    }
    case 3: {
      Emit(Kind::kIndex, fmt::format("Size ({})", Float().name));
      return;
    }
    case 4:
    case 5: {
      static const std::vector<std::string> kOps{"Add", "Sub", "Mul", "Max", "Min"};
      const std::string a = Any(Kind::kIndex).name;
      const std::string b = random_.OneIn(2) ? Any(Kind::kIndex).name : Index(random_.Int(-2, 4)).name;
      Emit(Kind::kIndex, fmt::format("{} ({}, {})", random_.Of(kOps), a, b));
      return;
    }
    case 6: {
      static const std::vector<std::string> kOps{"Div", "Mod"};
      const std::string a = Any(Kind::kIndex).name, b = Index(random_.Int(2, 5)).name;
      Emit(Kind::kIndex, fmt::format("{} ({}, {})", random_.Of(kOps), a, b));
      return;
    }
    case 7: {
      // A scale in float.
      const std::string a = Any(Kind::kIndex).name, by = NewName(), as_float = NewName(), scaled = NewName();
      static const std::vector<std::string> kScales{"0.5", "2.0", "0.25", "0.3", "1.5"};
      static const std::vector<std::string> kRounding{"Floor", "Ceil", "Round"};
      text_ += fmt::format("  {} = Constant <value_float = {}> ()\n", by, random_.Of(kScales));
      text_ += fmt::format("  {} = Cast <to = 1> ({})\n", as_float, a);
      text_ += fmt::format("  {} = Mul ({}, {})\n  {}r = {} ({})\n", scaled, as_float, by, scaled,
                           random_.Of(kRounding), scaled);
      Emit(Kind::kIndex, fmt::format("Cast <to = 7> ({}r)", scaled));
      return;
    }
    default: {
      const std::string a = Any(Kind::kIndex).name, b = Any(Kind::kIndex).name;
      static const std::vector<std::string> kComparisons{"Less", "Equal", "Greater"};
      const std::string is = Emit(Kind::kBool, fmt::format("{} ({}, {})", random_.Of(kComparisons), a, b)).name;
      if (random_.OneIn(2)) Emit(Kind::kIndex, fmt::format("Where ({}, {}, {})", is, a, b));
    }
  }
}

void Maker::FromArithmetic() {
  // A size from 0 to 12, whatever the arithmetic gives.
  const std::string low = Index(0).name, high = Index(12).name;
  const std::string raw = Any(Kind::kIndex).name;
  const std::string floor = Emit(Kind::kIndex, fmt::format("Max ({}, {})", raw, low)).name;
  const std::string size = Emit(Kind::kIndex, fmt::format("Min ({}, {})", floor, high)).name;
  const std::string front = Ints({0}).name;
  const std::string one = Emit(Kind::kDims, fmt::format("Unsqueeze ({}, {})", size, front)).name;
  switch (random_.Int(0, 5)) {
    case 0: {
      const Known x = Float();
      std::vector<Mark> dims = x.dims;
      dims.insert(dims.begin(), New());
      const std::string shape = Emit(Kind::kDims, fmt::format("Shape ({})", x.name)).name;
      const std::string target = Emit(Kind::kDims, fmt::format("Concat <axis = 0> ({}, {})", one, shape)).name;
      Emit(Kind::kFloat, fmt::format("Expand ({}, {})", x.name, target), dims);
      return;
    }
    case 1: {
      const std::string other = Ints({random_.Int(1, 3)}).name;
      const std::string target = Emit(Kind::kDims, fmt::format("Concat <axis = 0> ({}, {})", one, other)).name;
      Emit(Kind::kFloat, fmt::format("ConstantOfShape ({})", target), {New(), New()});
      return;
    }
    case 2: {
      const std::string step = Index(random_.Int(1, 3)).name, start = Index(random_.Int(-1, 2)).name;
      const std::string range = NewName();
      text_ += fmt::format("  {} = Range ({}, {}, {})\n", range, start, size, step);
      Emit(Kind::kFloat, fmt::format("Cast <to = 1> ({})", range), {New()});
      return;
    }
    case 3:
    case 4: {
      const Known x = FloatOfRank(1);
      const int axis = Axis(x);
      std::vector<Mark> dims = x.dims;
      dims[static_cast<size_t>(axis)] = New();
      const std::string axes = Ints({axis}).name, zero = Ints({0}).name;
      const std::string ends =
          random_.OneIn(2) ? fmt::format("{}, {}", zero, one) : fmt::format("{}, {}", one, Ints({9}).name);
      Emit(Kind::kFloat, fmt::format("Slice ({}, {}, {})", x.name, ends, axes), dims);
      return;
    }
    default: {
      const Known x = FloatOfRank(1, 1);
      const std::string zero = Ints({0}).name;
      const std::string pads = Emit(Kind::kDims, fmt::format("Concat <axis = 0> ({}, {})", zero, one)).name;
      Emit(Kind::kFloat, fmt::format("Pad ({}, {})", x.name, pads), {New()});
    }
  }
}

void Maker::Sequences() {
  switch (random_.Int(0, 7)) {
    case 0: {
      const Known x = Float(), y = random_.OneIn(3) ? Float() : x;
      std::vector<Mark> dims = x.dims;
      if (y.name != x.name && y.dims != x.dims) {
        if (y.dims.size() != x.dims.size()) return;
        for (Mark& dim : dims) dim = New();
      }
      Emit(Kind::kSequence, fmt::format("SequenceConstruct ({}, {})", x.name, y.name), dims);
      return;
    }
    case 1:
    case 2: {
      const Known x = FloatOfRank(1);
      const int axis = Axis(x);
      std::vector<Mark> dims = x.dims;
      dims[static_cast<size_t>(axis)] = New();
      std::string split;
      if (random_.OneIn(2)) split = ", " + Index(random_.Int(1, 3)).name;
      Emit(Kind::kSequence, fmt::format("SplitToSequence <axis = {}> ({}{})", Signed(x, axis), x.name, split), dims);
      return;
    }
    case 3: {
      const Known s = Any(Kind::kSequence);
      std::vector<const Known*> found;
      Collect([&](const Known& value) { return value.kind == Kind::kFloat && value.dims.size() == s.dims.size(); },
              found);
      if (found.empty()) return;
      const std::string inserted = random_.Of(found)->name;
      const std::string at = random_.OneIn(2) ? ", " + Index(random_.Int(-1, 0)).name : "";
      std::vector<Mark> dims = s.dims;
      for (Mark& dim : dims) dim = New();
      Emit(Kind::kSequence, fmt::format("SequenceInsert ({}, {}{})", s.name, inserted, at), dims);
      return;
    }
    case 4: {
      const Known s = Any(Kind::kSequence);
      const std::string at = random_.OneIn(2) ? ", " + Index(random_.Int(-1, 0)).name : "";
      Emit(Kind::kSequence, fmt::format("SequenceErase ({}{})", s.name, at), s.dims);
      return;
    }
    case 5: {
      const Known s = Any(Kind::kSequence);
      std::vector<Mark> dims = s.dims;
      for (Mark& dim : dims)
        if (dim >= kFirstUnknown) dim = New();
      const std::string at = Index(random_.Int(-1, 0)).name;
      Emit(Kind::kFloat, fmt::format("SequenceAt ({}, {})", s.name, at), dims);
      return;
    }
    case 6: {
      Emit(Kind::kIndex, fmt::format("SequenceLength ({})", Any(Kind::kSequence).name));
      return;
    }
    default: {
      const Known s = Any(Kind::kSequence);
      if (s.dims.empty()) return;
      std::vector<Mark> dims = s.dims;
      for (Mark& dim : dims)
        if (dim >= kFirstUnknown) dim = New();
      Emit(Kind::kFloat, fmt::format("ConcatFromSequence <axis = {}> ({})", Axis(s), s.name), dims);
    }
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
