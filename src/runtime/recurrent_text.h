// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "onnx_optim/optim_tensor.h"
#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

// Of operators with Scan and Where.
inline constexpr int64_t kLeastRecurrentOpset = 9;

struct RecurrentTextOptions {
  int64_t opset;  // what the function is written in, kLeastRecurrentOpset or more
  TensorType type;
  int64_t hidden_size;            // where the node has no such attribute; -1: not known
  std::string_view domain, name;  // of the function
};

// What an LSTM, GRU or RNN of ai.onnx with three inputs or more computes, as the text of a function: a Scan over the
// arithmetic of its gates for each direction. Its inputs and outputs are those of the node that are there. Nothing for
// a node that a sequence of OpenVINO says, or whose hidden size or functions are not known. Thread safe.
[[nodiscard]] std::optional<std::string> RecurrentText(const NodeProto& node, const RecurrentTextOptions& options);

}  // namespace ONNX_LIGHT_NAMESPACE
