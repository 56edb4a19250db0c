// SPDX-License-Identifier: Apache-2.0
// What follows from shapes, and operators that have no rule.
#include "body_maker.h"

namespace ONNX_LIGHT_NAMESPACE {

void BodyMaker::AddNode() {
  // By name, as often as their operators are many.
  switch (random_.Int(0, 35)) {
    case 0:
      return Elementwise();
    case 1:
    case 2:
    case 3:
      return Movement();
    case 4:
      return Selection();
    case 5:
      return random_.OneIn(2) ? Arithmetic() : FromArithmetic();
    case 6:
      return random_.OneIn(3) ? Sequences() : Unary();
    case 7:
      return random_.OneIn(2) ? Control() : WithoutRule();
    case 8:
    case 9:
    case 10:
      return Unary();
    case 11:
    case 12:
    case 13:
      return Broadcast();
    case 14:
    case 15:
      return Choose();
    case 16:
      return OtherTypes();
    case 17:
    case 18:
    case 19:
      return Products();
    case 20:
    case 21:
      return random_.OneIn(4) ? Images() : Pools();
    case 22:
      return Blocks();
    case 23:
    case 24:
      return Reduce();
    case 25:
    case 26:
      return AlongAxis();
    case 27:
      return Normalize();
    case 28:
    case 29:
      return Pick();
    case 30:
      return Join();
    case 31:
      return Shapes();
    case 32:
      return Heads();
    case 33:
    case 34:
      return Recurrent();
    default:
      return Attention();
  }
}

void BodyMaker::Shapes() {
  const Known x = FloatOfRank(1);
  const std::string shape = Hidden(fmt::format("Shape ({})", x.name));
  switch (random_.Int(0, 4)) {
    case 0:
      Emit(Kind::kFloat, fmt::format("ConstantOfShape <value = float[1] {{0.5}}> ({})", shape), x.dims);
      return;
    case 1: {  // a row, as often as the element has such
      std::vector<int> sizes;
      for (const Mark mark : x.dims) sizes.push_back(IsSize(mark) ? mark : 1);
      Emit(Kind::kFloat, fmt::format("Expand ({}, {})", Numbers(sizes), shape), x.dims);
      return;
    }
    case 2: {  // the mean over the first axis, at every place of it
      const std::string axes = Ints({0}).name;
      const std::string mean = Hidden(fmt::format("ReduceMean ({}, {})", x.name, axes));
      Emit(Kind::kFloat, fmt::format("Expand ({}, {})", mean, shape), x.dims);
      return;
    }
    case 3: {
      std::vector<int> repeats(x.dims.size(), 1);
      const int axis = Axis(x);
      repeats[static_cast<size_t>(axis)] = 2;
      std::vector<Mark> dims = x.dims;
      Mark& size = dims[static_cast<size_t>(axis)];
      size = IsSize(2 * size) ? 2 * size : New();
      const std::string by = Ints(repeats).name;
      Emit(Kind::kFloat, fmt::format("Tile ({}, {})", x.name, by), dims);
      return;
    }
    default: {  // divided by its length
      const std::string size = Hidden(fmt::format("Size ({})", x.name));
      const std::string number = Hidden(fmt::format("Cast <to = 1> ({})", size));
      Emit(Kind::kFloat, fmt::format("Div ({}, {})", x.name, number), x.dims);
    }
  }
}

// [T,F] to [T,2,F] and its transposes, by 0, -1 or the shape, and back.
void BodyMaker::Heads() {
  const Known x = Matrix();
  const int width = x.dims[1];
  const std::string both = Hidden(fmt::format("Concat <axis = 1> ({}, {})", x.name, x.name));
  std::string target;
  if (random_.OneIn(3)) {
    const std::string steps = Hidden(fmt::format("Shape <start = 0, end = 1> ({})", x.name));
    const std::string rest = Ints({2, width}).name;
    target = Hidden(fmt::format("Concat <axis = 0> ({}, {})", steps, rest));
  } else {
    target = Ints({random_.OneIn(2) ? 0 : -1, 2, width}).name;
  }
  const Known heads = Emit(Kind::kFloat, fmt::format("Reshape ({}, {})", both, target), {x.dims[0], 2, width});
  const Known turned =
      Emit(Kind::kFloat, fmt::format("Transpose <perm = [1, 0, 2]> ({})", heads.name), {2, x.dims[0], width});
  if (random_.OneIn(2)) return;
  const std::string back = Hidden(fmt::format("Transpose <perm = [1, 0, 2]> ({})", turned.name));
  if (random_.OneIn(2)) {
    const std::string flat = Ints({0, -1}).name;
    Emit(Kind::kFloat, fmt::format("Reshape ({}, {})", back, flat), {x.dims[0], 2 * width});
  } else {
    Emit(Kind::kFloat, fmt::format("Flatten <axis = {}> ({})", random_.OneIn(2) ? 1 : -2, back),
         {x.dims[0], 2 * width});
  }
}

void BodyMaker::WithoutRule() {
  const Known x = FloatOfRank(1);
  switch (random_.Int(0, 4)) {
    case 0: {
      const std::string test = Hidden(fmt::format("Greater ({}, {})", x.name, Scalar(0)));
      const std::string flat = Ints({-1}).name, row = Hidden(fmt::format("Reshape ({}, {})", test, flat));
      Emit(Kind::kFloat, fmt::format("Compress ({}, {})", x.name, row), {New()});
      return;
    }
    case 1: {
      const std::string found = Hidden(fmt::format("NonZero ({})", x.name));
      Emit(Kind::kFloat, fmt::format("Cast <to = 1> ({})", found), {static_cast<int>(x.dims.size()), New()});
      return;
    }
    case 2: {
      const std::string noise = Hidden(fmt::format("RandomNormalLike <seed = 7.0> ({})", x.name));
      Emit(Kind::kFloat, fmt::format("Add ({}, {})", x.name, noise), x.dims);
      return;
    }
    case 3: {
      const std::string best = Hidden(fmt::format("ArgMax <axis = 0> ({})", x.name));
      std::vector<Mark> dims = x.dims;
      dims[0] = 1;
      Emit(Kind::kFloat, fmt::format("GatherElements <axis = 0> ({}, {})", x.name, best), dims);
      return;
    }
    default: {
      const Known m = Matrix();
      Emit(Kind::kFloat, fmt::format("Einsum <equation = \"ij,ik->jk\"> ({}, {})", m.name, m.name),
           {m.dims[1], m.dims[1]});
    }
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
