// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "onnxseq/custom_op.h"
#include "ops/op_def.h"

namespace ONNX_LIGHT_NAMESPACE {

// The operators a session was given, as definitions like those of the table.
class CustomOps {
 public:
  struct Entry {
    OpDef def;
    std::shared_ptr<const OpState> state;  // of every node of it
  };

  // Throws InvalidArgument: `custom operator Twice of my.domain: has no run function`.
  explicit CustomOps(std::span<const CustomOp> ops);
  // Null when there is none. `domain` is "" for ai.onnx.
  [[nodiscard]] const Entry* Find(std::string_view domain, std::string_view type) const;
  // Sets their shape functions in the context.
  void AddShapeFunctions(onnx_optim::shapes::ShapesContext& context) const;

 private:
  std::span<const CustomOp> ops_;
  std::unordered_map<std::string, Entry> entries_;  // by "domain.type"
};

}  // namespace ONNX_LIGHT_NAMESPACE
