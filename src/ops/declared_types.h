// SPDX-License-Identifier: Apache-2.0
// Types that a file declares, against what is inferred.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "onnxseq/errors.h"
#include "shapes/infer_scope.h"

namespace ONNX_LIGHT_NAMESPACE {

// "tensor(float)[2,N,?]", "seq(tensor(int64))": the type as it is written.
std::string DescribeType(const TypeProto& type);

// Throws InvalidArgument for a negative dim anywhere in the type.
void CheckDims(const TypeProto& type);

// How far a declaration and what is inferred go together.
enum class Agreement { kAgree, kDoubtful, kContradict };
// kContradict: no run has both. kDoubtful: two expressions over the model's symbols that are equal for some sizes only.
Agreement CompareTypes(const ShapeValue& inferred, const TypeProto& declared, const ShapesContext& ctx);
inline bool Contradiction(const ShapeValue& inferred, const TypeProto& declared, const ShapesContext& ctx) {
  return CompareTypes(inferred, declared, ctx) == Agreement::kContradict;
}

// Compares the value `name` of the context with its declaration and adds a problem that names both when they do not go
// together. A declared name no input uses becomes the spelling of a fresh dim; nothing else declared is taken for a
// fact.
void CompareWithDeclared(ShapesContext& ctx, const std::string& name, const TypeProto& declared, ErrorWhere where);

}  // namespace ONNX_LIGHT_NAMESPACE
