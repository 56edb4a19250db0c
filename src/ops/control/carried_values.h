// SPDX-License-Identifier: Apache-2.0
// What shape inference finds out about values that the runs of a body hand on from one to the next.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ops/sequence/sequence_shapes.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

// Infers a body whose run number i takes carried values and gives the ones run i+1 takes. What is known at the head of
// run i is a formula in i where it can be one (a dim, length or int64 element that grows by the same amount in each
// run), else what all runs have in common, found by walking the body until nothing changes.
class CarriedValues {
 public:
  // All inputs of the body, from the carried values at the head of a run.
  using Bind = std::function<std::vector<ShapeValue>(std::span<const ShapeValue> head)>;

  // `initial`: at the head of run 0. Body outputs first_output, first_output + 1, ... are the next values. `number` is
  // the symbol of i; it and all symbols made later differ from run to run. Nothing is walked yet.
  CarriedValues(InferScope& scope, const GraphProto& body, std::vector<ShapeValue> initial, size_t first_output,
                OptimDim number);

  // Walks the body, the last time for good. Fails when a value's element type or kind changes.
  void Infer(const Bind& bind);

  // All outputs of the body in run i.
  const std::vector<ShapeValue>& outputs() const { return outputs_; }
  // The carried values after `runs` runs, of which there is at least one when `some`.
  std::vector<ShapeValue> After(const OptimDim& runs, bool some);
  // Body output `output` of all of `runs` runs, stacked along a new axis of the result (may be negative). Fails when it
  // is no tensor or has provably another shape in each of several runs; warns when there may be several.
  ShapeValue Stacked(size_t output, const OptimDim& runs, bool some, int64_t axis);
  // A formula holds for everything that is known at first.
  bool exact() const { return exact_; }

 private:
  ShapeValue Next(const ShapeValue& head, const ShapeValue& out, bool formulas);
  ShapeValue NextSequence(const SequenceInfo& head, const SequenceInfo& out);
  OptimDim NextDim(const OptimDim& head, const OptimDim& out, bool formulas);
  ShapeValue Last(const ShapeValue& head, const ShapeValue& out, const OptimDim& runs, bool some) const;
  std::optional<OptimDim> LastDim(const OptimDim& head, const OptimDim& out, const OptimDim& runs, bool some) const;
  OptimDim Widened();
  OptimDim At(const OptimDim& dim, const OptimDim& number) const;
  // The symbol of i, or one made later, is in it.
  bool Varies(const OptimDim& dim) const;
  bool IsWidened(const OptimDim& dim) const;

  InferScope& scope_;
  ShapesContext& ctx_;
  const GraphProto& body_;
  std::vector<ShapeValue> head_;
  size_t first_;
  OptimDim number_;
  int64_t mark_;
  std::vector<std::string> widened_;  // symbols that stand for any size
  std::vector<ShapeValue> outputs_;
  OtherInstance stacked_;  // scan outputs have one shape in all runs
  bool changed_ = false;
  bool exact_ = true;
};

// The kind and element type of a value, nothing of its size.
ShapeValue KindOf(ShapesContext& ctx, const ShapeValue& value);
// `known`, completed with the kind and element type the body declares for its input.
ShapeValue WithDeclared(ShapesContext& ctx, const ShapeValue& known, const ValueInfoProto& input);
// "body output 2 (\"s\")"
std::string BodyOutputSubject(const GraphProto& body, size_t i);

}  // namespace ONNX_LIGHT_NAMESPACE
