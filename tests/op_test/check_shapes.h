// SPDX-License-Identifier: Apache-2.0
// Inferred shapes against what a run gave: nothing inferred may be contradicted.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "onnx_optim/shapes/shape_value.h"
#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {

using FindShape = std::function<const onnx_optim::shapes::ShapeValue*(const std::string&)>;

// Every contradiction between `values` (inputs and all values of the main graph) and what `find` says was inferred for
// each (null: nothing): kind, element type, rank, dims, length, presence, known elements. A symbol stands for one
// number throughout; what it is, dims that are that symbol alone say first. `inputs` are those of the values that were
// fed.
std::vector<std::string> Contradictions(const ValueMap& values, const ValueMap& inputs, const FindShape& find);

// A value inside a body, one for each time it was computed.
struct BodyValue {
  std::string path;  // "/loop0/body"
  std::string name;
  Value value;
};
// The same of values inside bodies: kind, element type, rank, and those dims that are numbers. A name may stand for
// another number in each run of a body.
std::vector<std::string> BodyContradictions(
    const std::vector<BodyValue>& values,
    const std::function<const onnx_optim::shapes::ShapeValue*(const std::string& path, const std::string& name)>& find);

}  // namespace ONNX_LIGHT_NAMESPACE
