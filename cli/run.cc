// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>

#include "commands.h"
#include "feeds.h"
#include "npz.h"
#include "onnxseq/errors.h"
#include "onnxseq/session.h"
#include "print_value.h"
#include "repeated_runs.h"
#include "runtime/profiler.h"
#include "trace.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

void Print(const Session& session, const Timed& timed, const RunArguments& arguments) {
  if (!arguments.json) {
    if (arguments.explain) fmt::print("{}", session.Explain());
    for (const ValueDescription& output : session.outputs()) {
      const auto found = timed.outputs.find(output.name);
      if (found != timed.outputs.end()) fmt::print("{}", DescribeValue(output.name, found->second));
    }
    if (arguments.repeat > 1) {
      fmt::print("{} runs: median {:.3f} ms, fastest {:.3f} ms\n", arguments.repeat, Median(timed.seconds) * 1e3,
                 timed.seconds.front() * 1e3);
    }
    return;
  }
  JsonText json;
  json.Object();
  json.Key("model");
  json.String(arguments.model);
  if (arguments.explain) {
    json.Key("explain");
    json.String(session.Explain());
  }
  json.Key("outputs");
  json.Object();
  for (const ValueDescription& output : session.outputs()) {
    const auto found = timed.outputs.find(output.name);
    if (found == timed.outputs.end()) continue;
    json.Key(output.name);
    EmitValue(json, found->second);
  }
  json.EndObject();
  json.Key("runs");
  json.Int(arguments.repeat);
  json.Key("median_seconds");
  json.Float(Median(timed.seconds));
  json.Key("fastest_seconds");
  json.Float(timed.seconds.front());
  json.EndObject();
  fmt::print("{}\n", json.text());
}

// Runs each folder and says whether the outputs are the expected ones.
int CompareTestData(const Session& session, const RunArguments& arguments, RunObserver* observer) {
  bool all_match = true;
  JsonText json;
  json.Array();
  for (const std::string& folder : arguments.test_data) {
    const TestData data = ReadTestData(folder, session.inputs(), session.outputs());
    const Timed timed = RunRepeatedly(session, data.inputs, arguments, observer);
    if (!arguments.json) Print(session, timed, arguments);
    for (const auto& [name, expected] : data.outputs) {
      const auto found = timed.outputs.find(name);
      const std::string difference =
          found == timed.outputs.end() ? "there is no such output" : Difference(found->second, expected);
      all_match = all_match && difference.empty();
      if (!arguments.json) {
        fmt::print("{}: {} {}\n", folder, name, difference.empty() ? "matches" : "differs: " + difference);
        continue;
      }
      json.Object();
      json.Key("test_data");
      json.String(folder);
      json.Key("output");
      json.String(name);
      json.Key("difference");
      difference.empty() ? json.Null() : json.String(difference);
      json.EndObject();
    }
  }
  json.EndArray();
  if (arguments.json) fmt::print("{}\n", json.text());
  return all_match ? 0 : 1;
}

}  // namespace

int RunCommand(const RunArguments& arguments) {
  SessionOptions options;
  // The values of bodies are traced in the order of their elements.
  options.threads = arguments.trace_npz.empty() ? arguments.threads : 1;
  options.seed = arguments.seed;
  options.on_warning = PrintWarning;
  options.optimize = arguments.optimize;
  options.sequence_map = arguments.sequence_map;
  const Session session = Session::Load(arguments.model, options);
  Profiler profiler;
  RunObserver* const profiling = arguments.profile_json.empty() ? nullptr : &profiler;
  const auto write_profile = [&] {
    if (profiling != nullptr) WriteFileBytes(arguments.profile_json, ProfileJson(profiler));
  };
  if (!arguments.test_data.empty()) {
    const int code = CompareTestData(session, arguments, profiling);
    write_profile();
    return code;
  }
  const ValueMap feeds = ReadFeeds(session, arguments);
  Tracer tracer(profiling);
  RunObserver* const observer = arguments.trace_npz.empty() ? profiling : &tracer;
  const Timed timed = RunRepeatedly(session, feeds, arguments, observer);
  write_profile();
  if (observer == &tracer) WriteNpz(arguments.trace_npz, ArraysFromValues(tracer.Values()));
  Print(session, timed, arguments);
  if (!arguments.outputs_npz.empty()) WriteNpz(arguments.outputs_npz, ArraysFromValues(timed.outputs));
  return 0;
}

}  // namespace ONNX_LIGHT_NAMESPACE
