// SPDX-License-Identifier: Apache-2.0
// Nodes with bodies.
#include "graph_maker.h"

namespace ONNX_LIGHT_NAMESPACE {

void Maker::Control() {
  switch (random_.Int(0, 3)) {
    case 0:
      return If();
    case 1:
      return Loop();
    case 2:
      return Scan();
    default:
      return Map();
  }
}

void Maker::If() {
  static const std::vector<Kind> kKinds{Kind::kFloat, Kind::kFloat, Kind::kIndex, Kind::kDims, Kind::kSequence};
  const Kind kind = random_.Of(kKinds);
  const std::string condition = Any(Kind::kBool).name, name = NewName();
  std::vector<std::string> branches;
  std::vector<Mark> dims;
  for (const char* branch : {"t", "e"}) {
    Maker inner(random_, name + branch, in_function_, this);
    inner.AddNodes(random_.Int(1, 3));
    const std::string result = inner.Result(kind);
    for (const Known& value : inner.values_)
      if (value.name == result) dims = value.dims;
    branches.push_back(fmt::format("g{}{} () => ({}) {{\n{}}}", name, branch, result, inner.text()));
  }
  for (Mark& dim : dims) dim = New();
  Emit(kind, fmt::format("If <then_branch = {}, else_branch = {}> ({})", branches[0], branches[1], condition), dims);
}

void Maker::Loop() {
  const Kind kind = random_.OneIn(3) ? Kind::kSequence : Kind::kFloat;
  const Known start = Any(kind);
  const std::string limit = Index(4).name, raw = Any(Kind::kIndex).name, name = NewName();
  const std::string trips = random_.OneIn(3) ? Index(random_.Int(0, 3)).name
                                             : Emit(Kind::kIndex, fmt::format("Min ({}, {})", raw, limit)).name;
  Maker inner(random_, name + "b", in_function_, this);
  inner.Add({Kind::kIndex, name + "i", {}});
  inner.Add({kind, name + "v", start.dims});
  inner.AddNodes(random_.Int(1, 4));
  // A run does not know the dims of a stack of nothing where they change from iteration to iteration.
  const bool has_stacks =
      inner.text().find("Scan <") != std::string::npos || inner.text().find("Loop <") != std::string::npos;
  const std::string carried = has_stacks ? inner.Copy(kind, name + "v") : inner.Result(kind);
  const std::string scanned = inner.Result(random_.OneIn(2) ? Kind::kIndex : Kind::kFloat);
  const std::string condition = random_.OneIn(3) ? inner.Result(Kind::kBool) : std::string();
  const std::string go_on = condition.empty() ? fmt::format("  {}d = Identity ({}c)\n", name, name) : "";
  const Known out{kind, NewName(), start.dims};
  text_ +=
      fmt::format("  {}, {}s = Loop <body = g{} (int64 {}i, bool {}c, {}v) => ({}, {}, {}) {{\n{}{}}}> ({}, , {})\n",
                  out.name, out.name, name, name, name, name, condition.empty() ? name + "d" : condition, carried,
                  scanned, inner.text(), go_on, trips, start.name);
  made_[out.name] = true;
  Add(out);
}

void Maker::Scan() {
  const Known x = FloatOfRank(1);
  const std::string name = NewName();
  Maker inner(random_, name + "b", in_function_, this);
  inner.Add({Kind::kFloat, name + "x", {x.dims.begin() + 1, x.dims.end()}});
  inner.AddNodes(random_.Int(1, 3));
  const std::string result = inner.Result(Kind::kFloat);
  std::vector<Mark> dims{x.dims[0]};
  for (const Known& value : inner.values_)
    if (value.name == result) dims.insert(dims.end(), value.dims.size(), New());
  Emit(Kind::kFloat,
       fmt::format("Scan <num_scan_inputs = 1, body = g{} ({}x) => ({}) {{\n{}}}> ({})", name, name, result,
                   inner.text(), x.name),
       dims);
}

void Maker::Map() {
  const Known s = Any(Kind::kSequence);
  const bool has_extra = random_.OneIn(3);
  const Known extra = has_extra ? Float() : Known{};
  const std::string name = NewName();
  Maker inner(random_, name + "b", in_function_, this);
  inner.Add({Kind::kFloat, name + "x", s.dims});
  if (has_extra) inner.Add({Kind::kFloat, name + "y", extra.dims});
  inner.AddNodes(random_.Int(1, 4));
  const std::string result = inner.Result(Kind::kFloat);
  std::vector<Mark> dims;
  for (const Known& value : inner.values_)
    if (value.name == result) dims.assign(value.dims.size(), New());
  Emit(
      Kind::kSequence,
      fmt::format("SequenceMap <body = g{} ({}x{}) => ({}) {{\n{}}}> ({}{})", name, name,
                  has_extra ? ", " + name + "y" : "", result, inner.text(), s.name, has_extra ? ", " + extra.name : ""),
      dims);
}

}  // namespace ONNX_LIGHT_NAMESPACE
