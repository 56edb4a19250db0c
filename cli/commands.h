// SPDX-License-Identifier: Apache-2.0
// cli: the program `onnxseq`. It stands at the end of the pipeline: it loads models, runs them, and says what it finds
// as text or JSON. Each command is one file; main.cc reads the command line into these structs.
//
// A command returns the exit code: 0 fine, 1 a problem with the model or the data. What is thrown is printed by main
// and is 1, or 2 for a UsageError.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "onnxseq/errors.h"
#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {

// Arguments that are not what they should be, whatever the model.
class UsageError : public InvalidArgument {
  using InvalidArgument::InvalidArgument;
};

// Where the inputs of a run come from.
struct FeedArguments {
  std::vector<std::string> inputs;  // NAME=FILE
  std::string inputs_npz;
  std::optional<std::string> random;  // sizes and ranges, may be empty
  uint64_t seed = 0;
};

// How often to run, and within what.
struct RepeatArguments {
  int repeat = 1;
  std::optional<double> timeout;  // seconds
  double memory_limit = 0;        // MB, 0: none
};

struct RunArguments : FeedArguments, RepeatArguments {
  std::string model;
  std::vector<std::string> test_data;  // folders test_data_set_0, ...
  std::string outputs_npz;
  int threads = 0;
  std::string trace_npz;
  std::string profile_json;
  bool explain = false;
  bool optimize = true;
  SequenceMapStrategy sequence_map = SequenceMapStrategy::kAuto;
  bool json = false;
};
int RunCommand(const RunArguments& arguments);

struct BenchArguments : FeedArguments, RepeatArguments {
  std::string model;
  int threads = 0;
  bool accuracy = false;
  bool json = false;
};
int BenchCommand(const BenchArguments& arguments);

struct ShapesArguments {
  std::string model;
  std::vector<std::string> dims;    // N=4
  std::vector<std::string> shapes;  // x=1,3,H,W
  std::string output;
  bool json = false;
};
int ShapesCommand(const ShapesArguments& arguments);

struct ConvertArguments {
  std::string input, output;
  std::optional<int64_t> external_bytes;
  bool optimize = false;
  bool batch_sequence_map = false;
  bool lower = false;
  int ir_version = 11;
};
int ConvertCommand(const ConvertArguments& arguments);

int InfoCommand(const std::string& model, bool json);
int CheckCommand(const std::string& model, bool json);

enum class OpsFormat { kText, kJson, kMarkdown };
int OpsCommand(OpsFormat format);

}  // namespace ONNX_LIGHT_NAMESPACE
