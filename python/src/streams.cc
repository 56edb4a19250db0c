// SPDX-License-Identifier: Apache-2.0
#include "streams.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inference_session.h"
#include "objects.h"
#include "onnxseq/errors.h"
#include "onnxseq/stream.h"

namespace nb = nanobind;

namespace ONNX_LIGHT_NAMESPACE {
namespace {

class PyStream;

class PyStreamGroup {
 public:
  PyStreamGroup(nb::object session, const nb::dict& states, const std::string& batch, const nb::dict& initial)
      : session_(std::move(session)), group_(Make(inference(), states, batch, initial)) {
    for (const ValueDescription& output : inference().session().outputs()) {
      bool is_state = false;
      for (const auto& [name, state] : states) is_state = is_state || NameFrom(state, "an output name") == output.name;
      if (!is_state) outputs_.push_back(output.name);
    }
  }

  const InferenceSession& inference() const { return *nb::inst_ptr<InferenceSession>(session_); }
  const StreamGroup& group() const { return group_; }
  // The GIL is not held while streams run, so other threads could come in between.
  void CheckIdle() const {
    if (running_) throw InvalidArgument("the streams of a group run in one thread at a time");
  }
  nb::list Run(nb::handle steps, std::optional<double> timeout);
  nb::list RunOne(Stream& stream, const nb::dict& feeds, std::optional<double> timeout) {
    std::vector<StreamGroup::Step> steps;
    steps.push_back({&stream, inference().ReadFeeds(feeds)});
    return nb::borrow<nb::list>(RunAll(steps, timeout)[0]);
  }

 private:
  static StreamGroup Make(const InferenceSession& inference, const nb::dict& states, const std::string& batch,
                          const nb::dict& initial) {
    StreamOptions options;
    options.batch = batch;
    ValueMap values = inference.ReadFeeds(initial);
    for (const auto& [input, output] : states) {
      StreamState& state = options.states.emplace_back();
      state.input = NameFrom(input, "an input name");
      state.output = NameFrom(output, "an output name");
      const auto it = values.find(state.input);
      if (it == values.end()) continue;
      state.initial = std::move(it->second);
      values.erase(it);
    }
    if (!values.empty())
      throw InvalidArgument(fmt::format("\"{}\" has an initial value, but is no state", values.begin()->first));
    return StreamGroup(inference.session(), std::move(options));
  }
  nb::list RunAll(const std::vector<StreamGroup::Step>& steps, std::optional<double> timeout) {
    CheckIdle();
    struct Guard {
      explicit Guard(bool& flag) : flag_(flag) { flag_ = true; }
      ~Guard() { flag_ = false; }
      bool& flag_;
    };
    const RunOptions options = RunOptionsFrom(timeout);
    std::vector<ValueMap> results;
    {
      const Guard guard(running_);
      WithoutGil([&] { results = group_.Run(steps, options); });
    }
    nb::list all;
    for (const ValueMap& result : results) {
      nb::list one;
      for (const std::string& name : outputs_) one.append(OutputObject(result.at(name), name));
      all.append(one);
    }
    return all;
  }

  nb::object session_;
  StreamGroup group_;
  std::vector<std::string> outputs_;  // those that are no states
  bool running_ = false;
};

class PyStream {
 public:
  explicit PyStream(nb::object group) : group_(std::move(group)), stream_(owner().group().Open()) {}
  PyStreamGroup& owner() const { return *nb::inst_ptr<PyStreamGroup>(group_); }
  Stream& stream() { return stream_; }
  nb::list Run(const nb::dict& feeds, std::optional<double> timeout) { return owner().RunOne(stream_, feeds, timeout); }
  nb::object State(nb::handle input) const {
    const std::string name = NameFrom(input, "an input name");
    owner().CheckIdle();
    return OutputObject(stream_.State(name), name);
  }
  void Reset() {
    owner().CheckIdle();
    stream_.Reset();
  }

 private:
  nb::object group_;
  Stream stream_;
};

nb::list PyStreamGroup::Run(nb::handle steps, std::optional<double> timeout) {
  std::vector<StreamGroup::Step> read;
  nb::list held;  // a generator's streams may have no other owner
  for (nb::handle step : steps) {
    PyStream* stream = nullptr;
    nb::dict feeds;
    if (!PyTuple_Check(step.ptr()) || PyTuple_GET_SIZE(step.ptr()) != 2 || !nb::try_cast(step[0], stream) ||
        !nb::try_cast(step[1], feeds))
      FailExpected(step, "a pair of a Stream and its feeds");
    held.append(step);
    read.push_back({&stream->stream(), inference().ReadFeeds(feeds)});
  }
  return RunAll(read, timeout);
}

}  // namespace

void BindStreams(nb::module_& m) {
  nb::class_<PyStream>(m, "Stream", "One stream of a StreamGroup: owns its states.")
      .def("run", &PyStream::Run,
           nb::sig("def run(self, feeds: _Feeds, *, timeout: float | None = None) -> list[typing.Any]"),
           nb::arg("feeds"), nb::kw_only(), nb::arg("timeout") = nb::none(),
           "Runs one piece: the outputs that are no states, as a list. After an error the states are as before.")
      .def("state", &PyStream::State, nb::sig("def state(self, input: str) -> typing.Any"), nb::arg("input"),
           "The state as the next piece will find it.")
      .def("reset", &PyStream::Reset, "Back to how it began.");
  nb::class_<PyStreamGroup>(
      m, "StreamGroup",
      "A model run a piece at a time for many streams, which keep their states in between. states: {input: output} of "
      "the model. batch: the symbol of the batch dim; with it streams that run together become rows of one batch, "
      "which is for models whose rows do not depend on each other. initial: what states begin with by input name, else "
      "zeros. A "
      "group and its streams belong to one thread at a time.")
      .def(
          "__init__",
          [](PyStreamGroup* self, nb::object session, const nb::dict& states, const std::string& batch,
             const nb::dict& initial) {
            if (!nb::isinstance<InferenceSession>(session) || !nb::inst_ready(session))
              FailExpected(session, "an InferenceSession");
            new (self) PyStreamGroup(std::move(session), states, batch, initial);
          },
          nb::sig("def __init__(self, session: InferenceSession, states: dict[str, str], *, batch: str = '', "
                  "initial: _Feeds = {}) -> None"),
          nb::arg("session"), nb::arg("states"), nb::kw_only(), nb::arg("batch") = "", nb::arg("initial") = nb::dict())
      .def(
          "open",
          [](nb::object self) {
            if (!nb::inst_ready(self)) FailExpected(self, "a StreamGroup");
            return new PyStream(std::move(self));
          },
          nb::sig("def open(self) -> Stream"), "A new stream.")
      .def("run", &PyStreamGroup::Run,
           nb::sig("def run(self, steps: collections.abc.Iterable[tuple[Stream, _Feeds]], *, "
                   "timeout: float | None = None) -> list[list[typing.Any]]"),
           nb::arg("steps"), nb::kw_only(), nb::arg("timeout") = nb::none(),
           "Runs a piece of each (stream, feeds) of the list, in as few runs of the model as their shapes permit, and "
           "gives a list of outputs for each. Streams that are not among them keep their states.")
      .def_prop_ro("last_batches", [](const PyStreamGroup& self) { return self.group().last_batches(); });
}

}  // namespace ONNX_LIGHT_NAMESPACE
