// SPDX-License-Identifier: Apache-2.0
// What shape rules need whose inputs share sizes: the rank of an input, and a size that several inputs name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ops/run_context.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

// InvalidArgument unless input i, which is there, has this rank.
void CheckRank(const RunContext& ctx, int i, int rank);
// The shape of input i; null when it is absent or its rank is not known. Fails for another rank.
const OptimShape* RankedInput(const InferScope& scope, int i, int rank);
// "dim 1 of input 0 'query' (\"q\")"
std::string DimSubject(const InferScope& scope, int i, int axis);

// One size of an operator, unified as its inputs say it.
class UnifiedSize {
 public:
  // Fails where it cannot be what the others said. `subject` is what says so, as messages call it.
  void Add(InferScope& scope, const OptimDim& dim, std::string subject);
  void Add(InferScope& scope, const OptimShape& shape, int i, int axis) {
    Add(scope, shape[static_cast<size_t>(axis)], DimSubject(scope, i, axis));
  }
  // Null where nobody has said it.
  const OptimDim* Find() const { return dim_ ? &*dim_ : nullptr; }
  // Who said it first.
  const std::string& subject() const { return subject_; }
  // A fresh symbol where no input said it, always the same one.
  const OptimDim& Get(InferScope& scope, std::string_view hint);

 private:
  std::optional<OptimDim> dim_;
  std::string subject_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
