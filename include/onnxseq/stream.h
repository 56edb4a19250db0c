// SPDX-License-Identifier: Apache-2.0
// Streams: a model that is run a piece at a time, its states kept from one piece to the next.
//
//   onnxseq::StreamGroup group(session, {.states = {{"h0", "hn"}, {"c0", "cn"}}, .batch = "N"});
//   onnxseq::Stream caller = group.Open(), callee = group.Open();
//   auto y = caller.Run({{"x", piece}}).at("y");                          // one of them
//   auto both = group.Run({{&caller, {{"x", a}}}, {&callee, {{"x", b}}}});  // together
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {

// What a model takes as one input and gives back as an output, to be fed again. Pairs are named, never guessed.
struct StreamState {
  std::string input;
  std::string output;
  // What a stream begins with; without it zeros of the declared shape (open dims other than the batch need it).
  Value initial = {};
};

struct StreamOptions {
  std::vector<StreamState> states;
  // The symbol of the batch dim in the shapes of inputs and outputs. With it streams that run together become rows of
  // one batch, which is for models whose rows do not depend on each other; each stream is one row. Without it every
  // stream is a run of its own.
  std::string batch;
};

class StreamGroup;

// One stream: owns its states. Belongs to one thread at a time, with its group. Outlives the group if need be.
class ONNXSEQ_API Stream {
 public:
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  // Runs one piece: the inputs that are no states, as Session::Run takes them, and the outputs that are none. After an
  // error the states are as before.
  ValueMap Run(const ValueMap& inputs, const RunOptions& options = {});
  // The state as the next piece will find it. InvalidArgument when the group has no such state.
  Value State(std::string_view input) const;
  // Back to how it began.
  void Reset();

 private:
  friend class StreamGroup;
  struct Impl;
  explicit Stream(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The streams of one model. A group and its streams belong to one thread at a time; any number of groups may share a
// session.
class ONNXSEQ_API StreamGroup {
 public:
  // One piece of one stream.
  struct Step {
    Stream* stream;
    ValueMap inputs;
  };

  // Throws InvalidArgument when a name is not an input or output, is named twice, or a state has neither an initial
  // value nor a shape to make one of; when no state has the batch dim, or a value has it twice; and for an output that
  // has no dim by that name, whose rows could not be told apart.
  explicit StreamGroup(const Session& session, StreamOptions options);

  Stream Open() const;
  // Runs a piece of each of these streams, which are this group's and each there once (InvalidArgument otherwise), and
  // gives the outputs in the same order. With a batch symbol those whose inputs are alike run as one batch: of the same
  // sizes but for the batch dim, which is 1 in each, and with equal values of inputs that have no batch dim. Streams
  // that are not among them keep their states. After an error all states are as before.
  std::vector<ValueMap> Run(std::span<const Step> steps, const RunOptions& options = {});
  std::vector<ValueMap> Run(std::initializer_list<Step> steps, const RunOptions& options = {}) {
    return Run(std::span(steps.begin(), steps.size()), options);
  }
  // The runs of the model that the last call of Run took.
  size_t last_batches() const;

 private:
  friend class Stream;
  struct Impl;
  static std::vector<ValueMap> RunSteps(Impl& group, std::span<const Step> steps, const RunOptions& options);
  std::shared_ptr<Impl> impl_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
