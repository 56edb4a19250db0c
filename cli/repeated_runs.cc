// SPDX-License-Identifier: Apache-2.0
#include "repeated_runs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "base/visible_text.h"
#include "feeds.h"
#include "npz.h"
#include "onnxseq/errors.h"
#include "random_feeds.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

using Clock = std::chrono::steady_clock;

const ValueDescription& InputNamed(const Session& session, const std::string& name) {
  std::string names;
  for (const ValueDescription& input : session.inputs()) {
    if (input.name == name) return input;
    names += (names.empty() ? "" : ", ") + input.name;
  }
  throw InvalidArgument(fmt::format("the model has no input '{}'; its inputs are: {}", name, names));
}

RandomChoices ChoicesFrom(const std::string& text) {
  try {
    return ParseRandomChoices(text);
  } catch (const InvalidArgument& error) {
    throw UsageError(fmt::format("--random: {}", error.what()));
  }
}

}  // namespace

ValueMap ReadFeeds(const Session& session, const FeedArguments& arguments) {
  ValueMap feeds;
  if (!arguments.inputs_npz.empty()) feeds = ValuesFromArrays(ReadNpz(arguments.inputs_npz), session.inputs());
  for (const std::string& text : arguments.inputs) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) throw UsageError(fmt::format("--input {}: expected NAME=FILE", text));
    const ValueDescription& input = InputNamed(session, text.substr(0, equals));
    feeds.insert_or_assign(input.name, ReadFeedFile(text.substr(equals + 1), input));
  }
  if (arguments.random) AddRandomFeeds(session.model(), ChoicesFrom(*arguments.random), arguments.seed, feeds);
  std::erase_if(feeds, [](const auto& feed) { return feed.second.IsNone(); });
  return feeds;
}

Timed RunRepeatedly(const Session& session, const ValueMap& feeds, const RepeatArguments& arguments,
                    RunObserver* observer) {
  RunOptions options;
  options.observer = observer;
  // A deadline past what the clock can count is none.
  if (arguments.timeout && *arguments.timeout < 1e9)
    options.timeout = std::chrono::nanoseconds(static_cast<int64_t>(*arguments.timeout * 1e9));
  options.memory_limit = static_cast<int64_t>(arguments.memory_limit * 1e6);
  const bool show_progress = isatty(STDERR_FILENO) != 0;
  const auto start = Clock::now();
  auto shown = start;
  Timed timed;
  for (int i = 0; i < arguments.repeat; ++i) {
    const auto before = Clock::now();
    if (show_progress && before - shown > std::chrono::seconds(1)) {
      std::fprintf(stderr, "\rrun %d of %d", i + 1, arguments.repeat);
      shown = before;
    }
    timed.outputs = session.Run(feeds, {}, options);
    timed.seconds.push_back(std::chrono::duration<double>(Clock::now() - before).count());
  }
  if (shown != start) std::fprintf(stderr, "\r\033[K");
  std::sort(timed.seconds.begin(), timed.seconds.end());
  return timed;
}

void PrintWarning(const std::string& text) { fmt::print(stderr, "warning: {}\n", VisibleText(text)); }

double Median(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }

}  // namespace ONNX_LIGHT_NAMESPACE
