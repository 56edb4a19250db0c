// SPDX-License-Identifier: Apache-2.0
// Writes random graphs as ONNX text; random_graph.h makes models of them.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "random.h"

namespace ONNX_LIGHT_NAMESPACE {

// What the maker of a graph remembers of a dim: a number, or one of those that are the same wherever the mark is. Only
// a hint that keeps most graphs runnable; inference knows nothing of it.
using Mark = int;
inline constexpr Mark kFirstUnknown = 1000;

struct Known {
  enum class Kind { kFloat, kIndex, kDims, kBool, kSequence };  // tensor, int64 scalar, int64 vector, bool scalar
  Kind kind;
  std::string name;
  std::vector<Mark> dims;  // of a tensor, of a sequence's elements
};
using Kind = Known::Kind;

// Writes the nodes of one graph, and of its bodies.
class Maker {
 public:
  Maker(Random& random, std::string prefix, bool in_function, const Maker* outer = nullptr)
      : random_(random),
        prefix_(std::move(prefix)),
        in_function_(in_function),
        outer_(outer),
        next_mark_(outer == nullptr ? kFirstUnknown : 2 * outer->next_mark_) {}
  virtual ~Maker() = default;

  void Add(Known value) { values_.push_back(std::move(value)); }
  void AddNodes(int count) {
    for (int i = 0; i < count; ++i) AddNode();
  }
  const std::string& text() const { return text_; }
  const std::vector<Known>& values() const { return values_; }
  // A value of the kind, one of this graph's own if possible; made if there is none.
  Known Any(Kind kind);
  // The last value of the kind that this graph has computed, else a copy of any.
  std::string Result(Kind kind);
  std::string Copy(Kind kind, const std::string& name) { return Emit(kind, fmt::format("Identity ({})", name)).name; }

 protected:
  Mark New() { return next_mark_++; }
  std::string NewName() { return fmt::format("{}{}", prefix_, count_++); }
  template <class Wanted>
  void Collect(Wanted wanted, std::vector<const Known*>& found) const {
    for (const Known& value : values_)
      if (wanted(value)) found.push_back(&value);
    if (outer_ != nullptr && (found.empty() || random_.OneIn(4))) outer_->Collect(wanted, found);
  }
  Known Emit(Kind kind, const std::string& call, std::vector<Mark> dims = {});
  Known Ints(const std::vector<int>& ints) {
    if (ints.empty()) return Emit(Kind::kDims, "Constant <value = int64[0] {}> ()");
    return Emit(Kind::kDims, fmt::format("Constant <value_ints = [{}]> ()", fmt::join(ints, ", ")));
  }
  Known Index(int value) { return Emit(Kind::kIndex, fmt::format("Constant <value_int = {}> ()", value)); }
  Known Float() { return Any(Kind::kFloat); }
  int Axis(const Known& value) { return random_.Int(0, static_cast<int>(value.dims.size()) - 1); }
  int Signed(const Known& value, int axis) {
    return random_.OneIn(3) ? axis - static_cast<int>(value.dims.size()) : axis;
  }
  Known FloatOfRank(int low, int high = 5);
  // One that most likely broadcasts with the value.
  Known Partner(const Known& value);

  virtual void AddNode();
  int depth() const { return outer_ == nullptr ? 0 : outer_->depth() + 1; }

  void Elementwise();
  void Movement();
  void Selection();
  void Arithmetic();
  void FromArithmetic();
  void Sequences();
  void Control();
  void If();
  void Loop();
  void Scan();
  void Map();

  Random& random_;
  std::string prefix_;
  bool in_function_;
  const Maker* outer_;
  std::string text_;
  std::vector<Known> values_;
  std::map<std::string, bool> made_;
  int count_ = 0;
  Mark next_mark_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
