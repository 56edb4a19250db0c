// SPDX-License-Identifier: Apache-2.0
// What `run` and `bench` share: feeds from the command line, and runs that are timed.
#pragma once

#include <string>
#include <vector>

#include "commands.h"
#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {

// Throws InvalidArgument, UsageError, IoError.
ValueMap ReadFeeds(const Session& session, const FeedArguments& arguments);

struct Timed {
  ValueMap outputs;             // of the last run
  std::vector<double> seconds;  // of each, ascending
};

// Shows its progress on a terminal.
Timed RunRepeatedly(const Session& session, const ValueMap& feeds, const RepeatArguments& arguments,
                    RunObserver* observer = nullptr);

// For SessionOptions::on_warning: a line on stderr.
void PrintWarning(const std::string& text);

// Of numbers in ascending order.
double Median(const std::vector<double>& sorted);

}  // namespace ONNX_LIGHT_NAMESPACE
