// SPDX-License-Identifier: Apache-2.0
#include "random_graph.h"

#include "graph_maker.h"

namespace ONNX_LIGHT_NAMESPACE {

Known Maker::Any(Kind kind) {
  std::vector<const Known*> found;
  Collect([&](const Known& value) { return value.kind == kind; }, found);
  if (!found.empty()) return *random_.Of(found);
  switch (kind) {
    case Kind::kFloat:
      return Emit(kind, "Constant <value = float[2,3] {1, 2, 3, 4, 5, 6}> ()", {2, 3});
    case Kind::kIndex:
      return Index(random_.Int(0, 4));
    case Kind::kDims:
      return Ints({random_.Int(0, 3), random_.Int(1, 3)});
    case Kind::kBool:
      return Emit(kind, fmt::format("Constant <value = bool {{{}}}> ()", random_.Int(0, 1)));
    case Kind::kSequence:
      return Emit(kind, "SequenceEmpty ()", {});
  }
  return {};
}

std::string Maker::Result(Kind kind) {
  for (auto it = values_.rbegin(); it != values_.rend(); ++it)
    if (it->kind == kind && made_.contains(it->name)) return it->name;
  const Known any = Any(kind);
  return Emit(kind, fmt::format("Identity ({})", any.name), any.dims).name;
}

Known Maker::Emit(Kind kind, const std::string& call, std::vector<Mark> dims) {
  Known value{kind, NewName(), std::move(dims)};
  text_ += fmt::format("  {} = {}\n", value.name, call);
  made_[value.name] = true;
  values_.push_back(value);
  return value;
}

Known Maker::FloatOfRank(int low, int high) {
  std::vector<const Known*> found;
  Collect(
      [&](const Known& value) {
        const int rank = static_cast<int>(value.dims.size());
        return value.kind == Kind::kFloat && rank >= low && rank <= high;
      },
      found);
  if (!found.empty()) return *random_.Of(found);
  const Known scalar = Emit(Kind::kFloat, "Constant <value_float = 1.5> ()");
  std::vector<int> dims;
  for (int i = 0; i < low; ++i) dims.push_back(random_.Int(1, 4));
  const std::string target = Ints(dims).name;
  return Emit(Kind::kFloat, fmt::format("Expand ({}, {})", scalar.name, target), {dims.begin(), dims.end()});
}

Known Maker::Partner(const Known& value) {
  std::vector<const Known*> found;
  Collect(
      [&](const Known& other) {
        if (other.kind != Kind::kFloat) return false;
        const size_t common = std::min(other.dims.size(), value.dims.size());
        for (size_t i = 1; i <= common; ++i) {
          const Mark a = value.dims[value.dims.size() - i], b = other.dims[other.dims.size() - i];
          if (a != b && a != 1 && b != 1) return false;
        }
        return true;
      },
      found);
  return found.empty() || random_.OneIn(25) ? Float() : *random_.Of(found);
}

void Maker::AddNode() {
  const int deep = depth();
  switch (random_.Int(0, 9)) {
    case 0:
    case 1:
      return Elementwise();
    case 2:
    case 3:
      return Movement();
    case 4:
      return Selection();
    case 5:
    case 6:
      return Arithmetic();
    case 7:
      return FromArithmetic();
    case 8:
      return Sequences();
    default:
      return deep < 2 ? Control() : Elementwise();
  }
}

namespace {

int64_t RandomSize(Random& random) {
  static const std::vector<int> kSizes{0, 1, 1, 2, 3, 4, 5, 7, 8};
  return random.Of(kSizes);
}

Value RandomValue(const TypeProto& type, std::map<std::string, int64_t>& sizes, Random& random) {
  if (type.has_sequence_type()) {
    std::vector<Tensor> elements;
    for (int i = random.Int(0, 3); i > 0; --i)
      elements.push_back(RandomValue(type.sequence_type().elem_type(), sizes, random).tensor());
    return Sequence(std::move(elements));
  }
  Shape shape;
  for (const auto& dim : type.tensor_type().shape().dim()) {
    if (dim.has_dim_value()) {
      shape.push_back(dim.dim_value());
    } else if (dim.dim_param().empty()) {
      shape.push_back(RandomSize(random));
    } else {
      shape.push_back(sizes.try_emplace(dim.dim_param(), RandomSize(random)).first->second);
    }
  }
  const auto dtype = onnx_optim::DataTypeToTensorType(type.tensor_type().elem_type());
  Tensor tensor(dtype, shape);
  if (dtype == TensorType::kInt64) {
    for (int64_t& x : tensor.MutableView<int64_t>()) x = random.Int(0, 4);
  } else if (dtype == TensorType::kBool) {
    for (bool& x : tensor.MutableView<bool>()) x = random.OneIn(2);
  } else {
    for (float& x : tensor.MutableView<float>()) x = static_cast<float>(random.Int(-2, 3));
  }
  return tensor;
}

}  // namespace

std::string RandomModelText(uint64_t seed, int nodes) {
  Random random(seed);
  Maker maker(random, "v", false);
  const std::vector<std::string> names{"N", "M", "K"};
  std::vector<std::string> inputs;
  const int count = random.Int(1, 3);
  for (int i = 0; i < count; ++i) {
    std::vector<std::string> dims;
    std::vector<Mark> marks;
    for (int rank = random.Int(i == 0 ? 1 : 0, 4); rank > 0; --rank) {
      const int choice = random.Int(0, 6);
      marks.push_back(choice < 4 ? 100 + std::min(choice, 2) : choice - 3);
      dims.push_back(choice < 4 ? names[static_cast<size_t>(std::min(choice, 2))] : std::to_string(marks.back()));
    }
    inputs.push_back(fmt::format("float[{}] x{}", fmt::join(dims, ","), i));
    maker.Add({Kind::kFloat, fmt::format("x{}", i), marks});
  }
  if (random.OneIn(3)) {
    inputs.emplace_back("seq(float[?,3]) s");
    maker.Add({Kind::kSequence, "s", {900, 3}});
  }
  if (random.OneIn(2)) {
    inputs.emplace_back("int64 n");
    maker.Add({Kind::kIndex, "n", {}});
  }
  if (random.OneIn(2)) {
    inputs.emplace_back("bool c");
    maker.Add({Kind::kBool, "c", {}});
  }
  maker.AddNodes(nodes);
  Maker function(random, "f", true);
  function.Add({Kind::kFloat, "a", {100, 101}});
  function.AddNodes(2);
  return fmt::format(
      "<ir_version: 10, opset_import: [\"\" : 21, \"my\" : 1]>\n"
      "g ({}) => ({}) {{\n{}}}\n"
      "<domain: \"my\", opset_import: [\"\" : 21]>\n"
      "f (a) => (b) {{\n{}  p = Neg (a)  b = Concat <axis = -1> (a, p)\n}}\n",
      fmt::join(inputs, ", "), maker.values().back().name, maker.text(), function.text());
}

ValueMap RandomFeeds(const ModelProto& model, uint64_t seed) {
  Random random(seed);
  std::map<std::string, int64_t> sizes;
  ValueMap feeds;
  for (const ValueInfoProto& input : model.graph().input())
    feeds.emplace(input.name().as_string(), RandomValue(input.type(), sizes, random));
  return feeds;
}

}  // namespace ONNX_LIGHT_NAMESPACE
