// SPDX-License-Identifier: Apache-2.0
// Operators that go along one axis, or some.
#include "body_maker.h"

namespace ONNX_LIGHT_NAMESPACE {

void BodyMaker::Reduce() {
  static const std::vector<std::string> kOps{"ReduceL1",  "ReduceL2",       "ReduceLogSum", "ReduceLogSumExp",
                                             "ReduceMax", "ReduceMean",     "ReduceMin",    "ReduceProd",
                                             "ReduceSum", "ReduceSumSquare"};
  const Known x = FloatOfRank(1);
  const std::string& op = random_.Of(kOps);
  const bool keep = random_.OneIn(2);
  std::vector<int> axes;
  if (!random_.OneIn(8)) axes.push_back(Axis(x));
  if (!axes.empty() && random_.OneIn(3)) {
    const int second = Axis(x);
    if (second != axes[0]) axes.push_back(second);
  }
  std::vector<Mark> dims;
  for (int i = 0; i < static_cast<int>(x.dims.size()); ++i) {
    const bool gone = axes.empty() || std::ranges::find(axes, i) != axes.end();
    if (!gone || keep) dims.push_back(gone ? 1 : x.dims[static_cast<size_t>(i)]);
  }
  for (int& axis : axes) axis = Signed(x, axis);
  const std::string input = axes.empty() ? "" : ", " + Ints(axes).name;
  Emit(Kind::kFloat, fmt::format("{} <keepdims = {}> ({}{})", op, keep ? 1 : 0, x.name, input), dims);
}

void BodyMaker::AlongAxis() {
  const Known x = FloatOfRank(1);
  const int axis = Axis(x), spelled = Signed(x, axis);
  switch (random_.Int(0, 5)) {
    case 0:
    case 1: {
      static const std::vector<std::string> kOps{"Softmax", "LogSoftmax", "Hardmax", "LpNormalization",
                                                 "LpNormalization"};
      Emit(Kind::kFloat, fmt::format("{} <axis = {}> ({})", random_.Of(kOps), spelled, x.name), x.dims);
      return;
    }
    case 2: {
      const bool keep = random_.OneIn(2);
      const std::string found = Hidden(fmt::format(
          "{} <axis = {}, keepdims = {}> ({})", random_.OneIn(2) ? "ArgMax" : "ArgMin", spelled, keep ? 1 : 0, x.name));
      std::vector<Mark> dims = x.dims;
      if (keep) {
        dims[static_cast<size_t>(axis)] = 1;
      } else {
        dims.erase(dims.begin() + axis);
      }
      Emit(Kind::kFloat, fmt::format("Cast <to = 1> ({})", found), dims);
      return;
    }
    case 3: {
      std::vector<Mark> dims = x.dims;
      dims[static_cast<size_t>(axis)] = 1;
      const std::string k = Ints({1}).name, values = NewName(), indices = NewName();
      text_ += fmt::format("  {}, {} = TopK <axis = {}, largest = {}> ({}, {})\n", values, indices, spelled,
                           random_.Int(0, 1), x.name, k);
      Add({Kind::kFloat, values, dims});
      made_[values] = true;
      Emit(Kind::kFloat, fmt::format("Cast <to = 1> ({})", indices), dims);
      return;
    }
    default: {
      const std::string at = Index(spelled).name;
      Emit(Kind::kFloat,
           fmt::format("{} <exclusive = {}, reverse = {}> ({}, {})", random_.OneIn(3) ? "CumProd" : "CumSum",
                       random_.Int(0, 1), random_.Int(0, 1), x.name, at),
           x.dims);
    }
  }
}

void BodyMaker::Normalize() {
  const Known* found = Find([](const std::vector<Mark>& dims) { return !dims.empty() && IsSize(dims.back()); });
  if (found == nullptr) return;
  const Known x = *found;
  // The last axis, or those before it that are of known size too.
  size_t first = x.dims.size() - 1;
  if (random_.OneIn(4)) {
    while (first > 0 && IsSize(x.dims[first - 1])) --first;
  }
  const std::vector<int> sizes(x.dims.begin() + static_cast<std::ptrdiff_t>(first), x.dims.end());
  const int axis = Signed(x, static_cast<int>(first));
  const std::string scale = Numbers(sizes);
  if (random_.OneIn(3)) {
    Emit(Kind::kFloat, fmt::format("RMSNormalization <axis = {}> ({}, {})", axis, x.name, scale), x.dims);
    return;
  }
  const std::string bias = random_.OneIn(2) ? ", " + Numbers(sizes) : "";
  Emit(Kind::kFloat, fmt::format("LayerNormalization <axis = {}> ({}, {}{})", axis, x.name, scale, bias), x.dims);
}

void BodyMaker::Pick() {
  const Known x = FloatOfRank(1);
  const int axis = Axis(x);
  std::vector<Mark> dims = x.dims;
  Mark& size = dims[static_cast<size_t>(axis)];
  switch (random_.Int(0, 6)) {
    case 0: {  // the last step, or the first
      const std::string at = Index(random_.Int(-1, 0)).name;
      dims.erase(dims.begin() + axis);
      Emit(Kind::kFloat, fmt::format("Gather <axis = {}> ({}, {})", Signed(x, axis), x.name, at), dims);
      return;
    }
    case 1: {
      const std::string at = Ints({0, -1, 0}).name;
      size = 3;
      Emit(Kind::kFloat, fmt::format("Gather <axis = {}> ({}, {})", Signed(x, axis), x.name, at), dims);
      return;
    }
    case 2: {  // rows of a table, by the element's own numbers
      for (const Typed& value : typed_) {
        if (value.dtype != "int64" && value.dtype != "int32") continue;
        std::vector<Mark> rows = value.dims;
        rows.push_back(3);
        const std::string table = random_.OneIn(4) ? x.name : Numbers({5, 3});
        if (table == x.name) {
          rows.pop_back();
          rows.insert(rows.end(), x.dims.begin() + 1, x.dims.end());
        }
        Emit(Kind::kFloat, fmt::format("Gather <axis = 0> ({}, {})", table, value.name), rows);
        return;
      }
      const std::string best = Hidden(fmt::format("ArgMax <axis = {}, keepdims = 0> ({})", axis, x.name));
      dims.erase(dims.begin() + axis);
      dims.push_back(2);
      Emit(Kind::kFloat, fmt::format("Gather <axis = 0> ({}, {})", Numbers({60, 2}), best), dims);
      return;
    }
    case 3: {
      static const std::vector<int> kSteps{1, 1, 2, -1};
      const std::string start = Ints({random_.Int(-2, 1)}).name, end = Ints({random_.OneIn(2) ? 99 : 2}).name;
      const std::string axes = Ints({Signed(x, axis)}).name, step = Ints({random_.Of(kSteps)}).name;
      size = New();
      Emit(Kind::kFloat, fmt::format("Slice ({}, {}, {}, {}, {})", x.name, start, end, axes, step), dims);
      return;
    }
    case 4: {
      if (!IsSize(size) || size < 2) return;
      const int first = random_.Int(1, size - 1), rest = size - first;
      const std::string sizes = Ints({first, rest}).name, a = NewName(), b = NewName();
      text_ += fmt::format("  {}, {} = Split <axis = {}> ({}, {})\n", a, b, Signed(x, axis), x.name, sizes);
      size = first;
      Add({Kind::kFloat, a, dims});
      size = rest;
      Add({Kind::kFloat, b, dims});
      made_[a] = made_[b] = true;
      return;
    }
    default: {
      const int rank = static_cast<int>(x.dims.size());
      static const std::vector<std::string> kModes{"constant", "edge", "reflect", "wrap"};
      std::vector<int> pads(static_cast<size_t>(2 * rank), 0);
      pads[static_cast<size_t>(axis)] = random_.Int(0, 1);
      pads[static_cast<size_t>(axis + rank)] = random_.Int(0, 1);
      size = IsSize(size) ? size + pads[static_cast<size_t>(axis)] + pads[static_cast<size_t>(axis + rank)] : New();
      const std::string by = Ints(pads).name, filled = random_.OneIn(2) ? ", " + Scalar(1.5) : "";
      const std::string& mode = random_.Of(kModes);
      Emit(Kind::kFloat, fmt::format("Pad <mode = \"{}\"> ({}, {}{})", mode, x.name, by, filled), dims);
    }
  }
}

// Things beside each other along one axis.
void BodyMaker::Join() {
  const Known x = FloatOfRank(1);
  const int axis = Axis(x);
  std::vector<std::string> names{x.name};
  std::vector<Mark> dims = x.dims;
  Mark& size = dims[static_cast<size_t>(axis)];
  const std::string doubled = Hidden(fmt::format("Add ({}, {})", x.name, x.name));
  names.push_back(doubled);
  bool is_size = IsSize(size);
  Mark sum = 2 * size;
  if (std::ranges::all_of(x.dims, IsSize) && random_.OneIn(2)) {
    std::vector<int> sizes(x.dims.begin(), x.dims.end());
    sizes[static_cast<size_t>(axis)] = 2;
    names.insert(names.begin() + random_.Int(0, 2), Numbers(sizes));
    sum += 2;
  }
  is_size = is_size && sum < kFirstLength;
  size = is_size ? sum : New();
  Emit(Kind::kFloat, fmt::format("Concat <axis = {}> ({})", Signed(x, axis), fmt::join(names, ", ")), dims);
}

}  // namespace ONNX_LIGHT_NAMESPACE
