// SPDX-License-Identifier: Apache-2.0
#include "random_map.h"

#include <map>

namespace ONNX_LIGHT_NAMESPACE {
namespace {

std::string DimsText(const std::vector<Mark>& dims) {
  std::vector<std::string> texts;
  for (const Mark mark : dims) texts.push_back(IsSize(mark) ? std::to_string(mark) : fmt::format("L{}", mark));
  return fmt::format("[{}]", fmt::join(texts, ","));
}

// Dims of the elements of a sequence: all known, one or two that differ.
std::vector<Mark> ElementDims(Random& random, Mark length) {
  std::vector<Mark> dims(static_cast<size_t>(random.OneIn(8) ? 0 : random.Int(1, 3)));
  for (Mark& mark : dims) mark = random.Int(1, 4);
  if (dims.empty() || random.OneIn(4)) return dims;
  const int last = static_cast<int>(dims.size()) - 1;
  dims[static_cast<size_t>(random.OneIn(2) ? 0 : random.Int(0, last))] = length;
  if (random.OneIn(10)) dims[static_cast<size_t>(random.Int(0, last))] = length + 10;
  return dims;
}

void Fill(Tensor& tensor, Random& random) {
  switch (tensor.dtype()) {
    case TensorType::kFloat:
      for (float& x : tensor.MutableView<float>()) x = static_cast<float>(random.Int(-8, 8)) / 4;
      break;
    case TensorType::kDouble:
      for (double& x : tensor.MutableView<double>()) x = random.Int(-8, 8) / 4.0;
      break;
    case TensorType::kInt64:
      for (int64_t& x : tensor.MutableView<int64_t>()) x = random.Int(0, 2);
      break;
    case TensorType::kInt32:
      for (int32_t& x : tensor.MutableView<int32_t>()) x = random.Int(0, 2);
      break;
    default:
      for (bool& x : tensor.MutableView<bool>()) x = random.OneIn(2);
  }
}

TensorType TypeNamed(const std::string& dtype) {
  static const std::map<std::string, TensorType> kTypes{{"float", TensorType::kFloat},
                                                        {"double", TensorType::kDouble},
                                                        {"int64", TensorType::kInt64},
                                                        {"int32", TensorType::kInt32},
                                                        {"bool", TensorType::kBool}};
  return kTypes.at(dtype);
}

}  // namespace

RandomMap MakeRandomMap(uint64_t seed) {
  Random random(seed);
  RandomMap map;
  Surroundings around;
  Maker main(random, "m", false);
  BodyMaker body(random, around, &main);
  std::vector<std::string> body_inputs, map_inputs;
  const bool declared = random.OneIn(3);
  const auto take = [&](const std::string& type, const std::string& name) {
    body_inputs.push_back(declared ? type + " " + name : name);
  };

  // What is captured by its name.
  for (int i = random.Int(0, 2); i > 0; --i) {
    std::vector<Mark> dims(static_cast<size_t>(random.Int(0, 2)));
    for (Mark& mark : dims) mark = random.Int(1, 4);
    const std::string name = fmt::format("c{}", i);
    around.inputs.push_back(fmt::format("float{} {}", dims.empty() ? "" : DimsText(dims), name));
    main.Add({Kind::kFloat, name, dims});
  }
  if (random.OneIn(3)) {
    around.inputs.emplace_back("int64 ci");
    main.Add({Kind::kIndex, "ci", {}});
  }
  if (random.OneIn(3)) {
    around.inputs.emplace_back("bool cb");
    main.Add({Kind::kBool, "cb", {}});
  }

  const int walked = random.Int(1, 3);
  for (int i = 0; i < walked; ++i) {
    static const std::vector<std::string> kTypes{"float", "float", "double", "int64", "int32", "bool"};
    Typed typed{i == 0 ? "float" : random.Of(kTypes), fmt::format("s{}", i), {}};
    if (i > 0 && random.OneIn(2)) {
      typed.dims = map.sequences[0].dims;
    } else {
      typed.dims = ElementDims(random, kFirstLength + random.Int(0, i));
    }
    const std::string element = fmt::format("e{}", i);
    take(typed.dtype + (typed.dims.empty() ? "" : DimsText(typed.dims)), element);
    map_inputs.push_back(typed.name);
    if (typed.dtype == "float") {
      body.Add({Kind::kFloat, element, typed.dims});
    } else {
      body.AddTyped({typed.dtype, element, typed.dims});
    }
    map.sequences.push_back(std::move(typed));
  }
  if (random.OneIn(3)) {
    const std::vector<Mark> dims{random.Int(1, 4), random.Int(1, 4)};
    around.inputs.push_back(fmt::format("float{} whole", DimsText(dims)));
    take("float" + DimsText(dims), "e_whole");
    map_inputs.emplace_back("whole");
    body.Add({Kind::kFloat, "e_whole", dims});
  }

  body.AddNodes(random.Int(2, 10));
  std::vector<std::string> results{body.Result(Kind::kFloat)}, outputs{"o0"};
  for (int i = random.Int(0, 2); i > 0; --i) {
    const Known value = random.Of(body.values());
    if (value.kind == Kind::kSequence || std::ranges::find(results, value.name) != results.end()) continue;
    outputs.push_back(fmt::format("o{}", results.size()));
    results.push_back(value.name);
  }

  const auto initializers = [](const std::vector<std::string>& all) {
    return all.empty() ? std::string() : fmt::format("<{}> ", fmt::join(all, ", "));
  };
  std::vector<std::string> inputs;
  for (const Typed& typed : map.sequences) inputs.push_back(fmt::format("seq({}[]) {}", typed.dtype, typed.name));
  inputs.insert(inputs.end(), around.inputs.begin(), around.inputs.end());
  map.text = fmt::format(
      "<ir_version: 11, opset_import: [\"\" : 26, \"my\" : 1]>\n"
      "g ({}) => ({}) {}{{\n"
      "[map] {} = SequenceMap <body = b ({}) => ({}) {}{{\n{}}}> ({})\n}}\n"
      "<domain: \"my\", opset_import: [\"\" : 26]>\n"
      "f (a) => (b) {{ p = Neg (a)  b = Concat <axis = -1> (a, p) }}\n",
      fmt::join(inputs, ", "), fmt::join(outputs, ", "), initializers(around.initializers), fmt::join(outputs, ", "),
      fmt::join(body_inputs, ", "), fmt::join(results, ", "), initializers(around.in_body), body.text(),
      fmt::join(map_inputs, ", "));
  return map;
}

ValueMap RandomElements(const RandomMap& map, const ModelProto& model, uint64_t seed) {
  Random random(seed);
  static const std::vector<int> kCounts{0, 1, 2, 2, 5, 5, 5, 40}, kSizes{1, 1, 2, 3, 4, 5, 7, 8};
  const int count = random.Of(kCounts);
  const bool equal = random.OneIn(4), some_empty = random.OneIn(5), mixed = random.OneIn(16);
  std::map<Mark, std::vector<int64_t>> sizes;
  const auto size = [&](Mark mark, int element) {
    std::vector<int64_t>& all = sizes[mark];
    while (static_cast<int>(all.size()) < count)
      all.push_back(equal && !all.empty() ? all[0] : some_empty && random.OneIn(4) ? 0 : random.Of(kSizes));
    return all[static_cast<size_t>(element)];
  };
  ValueMap feeds;
  for (const Typed& typed : map.sequences) {
    std::vector<Tensor> elements;
    for (int e = 0; e < count; ++e) {
      Shape shape;
      if (mixed && random.OneIn(3)) shape.push_back(1);
      for (const Mark mark : typed.dims) shape.push_back(IsSize(mark) ? mark : size(mark, e));
      Fill(elements.emplace_back(TypeNamed(typed.dtype), shape), random);
    }
    feeds.emplace(typed.name, Sequence(TypeNamed(typed.dtype), std::move(elements)));
  }
  for (const ValueInfoProto& input : model.graph().input()) {
    const std::string name(input.name());
    if (feeds.contains(name)) continue;
    Shape shape;
    for (const auto& dim : input.type().tensor_type().shape().dim()) shape.push_back(dim.dim_value());
    Tensor tensor(onnx_optim::DataTypeToTensorType(input.type().tensor_type().elem_type()), shape);
    Fill(tensor, random);
    feeds.emplace(name, std::move(tensor));
  }
  return feeds;
}

ValueMap Shaken(const ValueMap& feeds, uint64_t seed) {
  Random random(seed);
  const auto shake = [&](const Tensor& tensor) {
    if (tensor.dtype() != TensorType::kFloat) return tensor;
    Tensor shaken(TensorType::kFloat, tensor.shape());
    for (int64_t i = 0; i < tensor.NumElements(); ++i) {
      const auto at = static_cast<size_t>(i);
      const float by = static_cast<float>(random.Int(-4, 4)) * 0x1p-23f;
      shaken.MutableView<float>()[at] = tensor.View<float>()[at] * (1 + by) + by / 4;
    }
    return shaken;
  };
  ValueMap all;
  for (const auto& [name, value] : feeds) {
    if (value.IsTensor()) {
      all.emplace(name, shake(value.tensor()));
      continue;
    }
    std::vector<Tensor> elements;
    for (const Tensor& element : value.sequence().elements()) elements.push_back(shake(element));
    all.emplace(name, Sequence(value.sequence().dtype(), std::move(elements)));
  }
  return all;
}

}  // namespace ONNX_LIGHT_NAMESPACE
