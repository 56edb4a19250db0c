// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN over the steps of an element, and attention over them.
#include "body_maker.h"

namespace ONNX_LIGHT_NAMESPACE {

void BodyMaker::Recurrent() {
  const bool batch_major = random_.OneIn(3);
  const Known* found =
      Find([](const std::vector<Mark>& dims) { return dims.size() == 3 && IsSize(dims[2]) && dims[2] > 0; });
  Known x;
  if (found != nullptr && random_.OneIn(3)) {
    x = *found;
  } else {
    const Known rows = Matrix();
    const std::string axes = Ints({batch_major ? 0 : 1}).name;
    std::vector<Mark> dims = rows.dims;
    dims.insert(dims.begin() + (batch_major ? 0 : 1), 1);
    x = Emit(Kind::kFloat, fmt::format("Unsqueeze ({}, {})", rows.name, axes), dims);
  }
  struct Cell {
    std::string op;
    int gates, biases;
  };
  static const std::vector<Cell> kCells{{"LSTM", 4, 8}, {"LSTM", 4, 8}, {"GRU", 3, 6}, {"RNN", 1, 2}};
  const Cell cell = random_.Of(kCells);
  static const std::vector<std::string> kDirections{"forward", "reverse", "bidirectional"};
  const std::string& direction = random_.Of(kDirections);
  const int d = direction == "bidirectional" ? 2 : 1, h = random_.Int(1, 3), inputs = x.dims[2];
  const Mark batch = x.dims[batch_major ? 0 : 1], steps = x.dims[batch_major ? 1 : 0];
  const std::string w = Numbers({d, cell.gates * h, inputs}, 0.5), r = Numbers({d, cell.gates * h, h}, 0.5);
  const std::string b = random_.OneIn(3) ? "" : Numbers({d, cell.biases * h}, 0.5);
  std::string states;
  if (random_.OneIn(2)) {
    const std::string size =
        Hidden(fmt::format("Shape <start = {}, end = {}> ({})", batch_major ? 0 : 1, batch_major ? 1 : 2, x.name));
    const std::string directions = Ints({d}).name, units = Ints({h}).name;
    const std::string dims = batch_major
                                 ? Hidden(fmt::format("Concat <axis = 0> ({}, {}, {})", size, directions, units))
                                 : Hidden(fmt::format("Concat <axis = 0> ({}, {}, {})", directions, size, units));
    std::string h0 = Hidden(fmt::format("ConstantOfShape <value = float[1] {{0.25}}> ({})", dims));
    if (random_.OneIn(3)) {  // one that knows the element
      const std::string mean = Hidden(fmt::format("ReduceMean <keepdims = 0> ({})", x.name));
      const std::string bounded = Hidden(fmt::format("Tanh ({})", mean));
      h0 = Hidden(fmt::format("Add ({}, {})", h0, bounded));
    }
    states = ", , " + h0;
    if (cell.op == "LSTM" && random_.OneIn(2)) states += ", " + h0;
  } else if (IsSize(batch) && random_.OneIn(3)) {
    states = ", , " + Numbers(batch_major ? std::vector<int>{batch, d, h} : std::vector<int>{d, batch, h}, 0.5);
  } else if (IsSize(steps) && batch == 1 && random_.OneIn(6)) {
    states = ", " + Hidden("Cast <to = 6> (" + Ints({1}).name + ")");
  }
  const std::string y = NewName(), last = NewName(), memory = cell.op == "LSTM" ? NewName() : "";
  text_ += fmt::format("  {}, {}{} = {} <hidden_size = {}, direction = \"{}\", layout = {}> ({}, {}, {}, {}{})\n", y,
                       last, memory.empty() ? "" : ", " + memory, cell.op, h, direction, batch_major ? 1 : 0, x.name, w,
                       r, b, states);
  const std::vector<Mark> state = batch_major ? std::vector<Mark>{batch, d, h} : std::vector<Mark>{d, batch, h};
  Add({Kind::kFloat, last, state});
  made_[last] = true;
  if (!memory.empty() && random_.OneIn(2)) {
    Add({Kind::kFloat, memory, state});
    made_[memory] = true;
  }
  if (random_.OneIn(4)) return;
  if (d == 1) {
    const std::string axes = Ints({batch_major ? 2 : 1}).name;
    Emit(Kind::kFloat, fmt::format("Squeeze ({}, {})", y, axes), {x.dims[0], x.dims[1], h});
    return;
  }
  Add({Kind::kFloat, y, batch_major ? std::vector<Mark>{batch, steps, d, h} : std::vector<Mark>{steps, d, batch, h}});
  made_[y] = true;
}

// Steps weighed by a softmax over them.
void BodyMaker::Attention() {
  const Known x = Matrix();
  const int width = x.dims[1];
  const Known scores = Emit(Kind::kFloat, fmt::format("MatMul ({}, {})", x.name, Numbers({width, 1})), {x.dims[0], 1});
  const Known weights = Emit(Kind::kFloat, fmt::format("Softmax <axis = 0> ({})", scores.name), scores.dims);
  if (random_.OneIn(2)) {
    const std::string row = Hidden(fmt::format("Transpose <perm = [1, 0]> ({})", weights.name));
    Emit(Kind::kFloat, fmt::format("MatMul ({}, {})", row, x.name), {1, width});
    return;
  }
  const std::string weighed = Hidden(fmt::format("Mul ({}, {})", x.name, weights.name));
  const std::string axes = Ints({0}).name;
  const bool keep = random_.OneIn(2);
  Emit(Kind::kFloat, fmt::format("ReduceSum <keepdims = {}> ({}, {})", keep ? 1 : 0, weighed, axes),
       keep ? std::vector<Mark>{1, width} : std::vector<Mark>{width});
}

}  // namespace ONNX_LIGHT_NAMESPACE
