// SPDX-License-Identifier: Apache-2.0
// A SequenceMap body as one graph over all elements at once. Each value of the body becomes one of
//
//   uniform   the same for every element
//   stacked   [N, dims of an element]: N elements of one shape
//   packed    elements that differ in one dim, concatenated along its axis, with the vector of their sizes there
//   elements  a sequence: what has no such form
//
// batch_rules.h says for each operator how it works on them; a node without rule runs in a SequenceMap of its own
// inside the new graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onnx_optim/optim_tensor.h"
#include "onnx_optim/tensor_type.h"
#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

enum class BatchForm : uint8_t { kUniform, kStacked, kPacked, kElements };

// The form in which elements of this shape are batched, with the axis of a packed one; nothing when there is none.
std::optional<std::pair<BatchForm, int>> FormOf(const onnx_optim::OptimShape& element);

// An input of the body, or a value around it.
struct BatchInput {
  BatchForm form = BatchForm::kUniform;  // never kElements
  TensorType dtype = TensorType::kUndefined;
  std::vector<int64_t> dims;  // of an element; at `axis` of a packed one whatever
  int axis = 0;
  int lengths = 0;  // of a packed one: which vector of lengths; equal numbers are equal vectors
};

struct BatchRequest {
  const GraphProto* body = nullptr;
  const ModelProto* model = nullptr;  // the body's: opsets
  std::vector<BatchInput> inputs;     // one for each input of the body
  // What the body uses of the graphs around it, by name: constants, and others, which are uniform.
  std::vector<std::pair<std::string, const TensorProto*>> constants;
  std::vector<std::pair<std::string, BatchInput>> captures;
};

struct BatchOutput {
  BatchForm form = BatchForm::kUniform;
  int axis = 0;
  int lengths = -1;  // of a packed one: the model's output that holds them
};

// Inputs of the model, in this order: the body's; per vector of lengths an int64 [N]; int64 [1], N itself; the
// captures. Its outputs: the body's, then lengths.
struct BatchedBody {
  ModelProto model;
  int lengths = 0;  // how many vectors of lengths it takes
  std::vector<BatchOutput> outputs;
  // Operators that still run element by element, "NonZero node "n": why".
  std::vector<std::string> per_element;
  int64_t batched_nodes = 0;
  // Packed elements may have length 0. Reshape takes a 0 for something else.
  bool takes_empty = true;
  bool recurrent = false;  // LSTM, GRU or RNN are among the batched ones
  // Bytes of the largest values of one element, packed ones counted for one unit of their length.
  double fixed_bytes = 0, bytes_per_unit = 0;
};

// Nothing, and why, when the body cannot be said so or nothing would be gained. N is at least 1 in what comes out.
// Never throws for what is wrong with the body. Thread safe.
std::optional<BatchedBody> BatchBody(const BatchRequest& request, std::string& why_not);

}  // namespace ONNX_LIGHT_NAMESPACE
