// SPDX-License-Identifier: Apache-2.0
// Writes random bodies of SequenceMap as ONNX text: the nodes of shape_fuzz, and those for which there are rules of
// batching. random_map.h makes models of them.
#pragma once

#include <string>
#include <vector>

#include "../shape_fuzz/graph_maker.h"

namespace ONNX_LIGHT_NAMESPACE {

// Marks below are sizes; those from here on, sizes that differ between elements.
inline constexpr Mark kFirstLength = 100;
inline bool IsSize(Mark mark) { return mark < kFirstLength; }

// What is declared around the body's nodes.
struct Surroundings {
  std::vector<std::string> inputs;        // of the main graph: "float[2,3] w0"
  std::vector<std::string> initializers;  // of the main graph: "float[2,3] w1 = {1, 2, ..}"
  std::vector<std::string> in_body;       // initializers of the body
};

// A tensor of another type than float.
struct Typed {
  std::string dtype, name;
  std::vector<Mark> dims;
};

class BodyMaker : public Maker {
 public:
  BodyMaker(Random& random, Surroundings& around, const Maker* outer)
      : Maker(random, "b", false, outer), around_(around) {}

  void AddTyped(Typed value);

 private:
  void AddNode() override;

  // pointwise.cc
  void Unary();
  void Broadcast();
  void Choose();
  void OtherTypes();
  // layers.cc
  void Products();
  void Images();
  void Pools();
  void Blocks();
  // along_axis.cc
  void Reduce();
  void AlongAxis();
  void Normalize();
  void Pick();
  void Join();
  // shape_games.cc
  void Shapes();
  void Heads();
  void WithoutRule();
  // recurrent_nodes.cc
  void Recurrent();
  void Attention();

  // Numbers of these dims: a constant of the body, of the graph around it, or an input of that. `scale` is that of the
  // largest.
  std::string Numbers(const std::vector<int>& dims, double scale = 2);
  std::string Scalar(double value) {
    return Emit(Kind::kFloat, fmt::format("Constant <value_float = {:.3f}> ()", value)).name;
  }
  // Emits a node whose result is no value for others.
  std::string Hidden(const std::string& call);
  // A float tensor whose dims `wanted` accepts, or null.
  template <class Wanted>
  const Known* Find(Wanted wanted) {
    std::vector<const Known*> found;
    Collect([&](const Known& value) { return value.kind == Kind::kFloat && wanted(value.dims); }, found);
    return found.empty() ? nullptr : random_.Of(found);
  }
  // A matrix of known width.
  Known Matrix();
  static std::vector<Mark> Broadcasted(const std::vector<Mark>& a, const std::vector<Mark>& b);

  Surroundings& around_;
  std::vector<Typed> typed_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
