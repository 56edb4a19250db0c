// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "commands.h"
#include "onnxseq/errors.h"
#include "version.h"

namespace onnxseq = ONNX_LIGHT_NAMESPACE;

namespace {

constexpr int kUsage = 2;
constexpr int kOutputFailed = -1;  // errno says why
constexpr const char* kModelHelp = "An .onnx file, ONNX text (.onnxtxt) or an OpenVINO IR .xml";

// As `range`, with a message of its own: the parser's spells all digits of the largest double.
CLI::Validator Within(const CLI::Range& range, const char* wanted) {
  return {[range, wanted](std::string& text) {
            return range(text).empty() ? std::string() : std::string("must be ") + wanted + ", got " + text;
          },
          range.get_description()};
}

void AddFeeds(CLI::App* command, onnxseq::FeedArguments& a) {
  command->add_option("--input", a.inputs, "NAME=FILE: one input from a .npy, .npz or ONNX .pb file")
      ->allow_extra_args(false);
  command->add_option("--inputs", a.inputs_npz, "Inputs from an .npz: NAME, or NAME/0, NAME/1, ... for a sequence");
  command
      ->add_option("--random", a.random,
                   "N=4,T=100: random values for the inputs not given, with these sizes for named dims; integers "
                   "are 0 or 1: give lengths with --input")
      ->expected(0, 1);
  command->add_option("--seed", a.seed, "Of the random values, and of random operators without one")
      ->capture_default_str()
      ->check(Within(CLI::NonNegativeNumber, "0 or a positive number"));
}

void AddThreads(CLI::App* command, int& threads) {
  command->add_option("--threads", threads, "Threads that take part; 0: as many as the CPU has to give")
      ->capture_default_str()
      ->check(CLI::Range(0, 4096));
}

void AddRepeats(CLI::App* command, onnxseq::RepeatArguments& a) {
  command->add_option("--repeat", a.repeat, "Run this often and print the times")
      ->capture_default_str()
      ->check(Within(CLI::PositiveNumber, "a positive number"));
  command->add_option("--timeout", a.timeout, "Seconds after which a run is given up")
      ->check(Within(CLI::PositiveNumber, "a positive number"));
  command->add_option("--memory-limit", a.memory_limit, "MB the tensors of a run may take at once")
      ->check(CLI::Range(1e-6, 1e12));
}

void AddRun(CLI::App& app, onnxseq::RunArguments& a) {
  CLI::App* run = app.add_subcommand("run", "Run a model and print its outputs");
  run->add_option("MODEL", a.model, kModelHelp)->required();
  CLI::Option* test_data = run->add_option("TEST_DATA", a.test_data,
                                           "Folders with input_0.pb, ... and output_0.pb, ...: run each and compare");
  AddFeeds(run, a);
  run->add_option("--outputs", a.outputs_npz, "Write the outputs to this .npz");
  AddThreads(run, a.threads);
  AddRepeats(run, a);
  CLI::Option* trace = run->add_option("--trace", a.trace_npz,
                                       "Write every value the run computes to this .npz, those of bodies by their path "
                                       "as sequences; runs on one thread");
  run->add_option("--profile", a.profile_json, "Write when each node ran to this JSON file, for a trace viewer");
  run->add_flag("--explain", a.explain,
                "Say first how the model was run: what was made of it before, and of each SequenceMap");
  run->add_flag("!--no-optimize", a.optimize, "Run the nodes as they are");
  using Strategy = onnxseq::SequenceMapStrategy;
  run->add_option_function<std::string>(
         "--sequence-map",
         [&a](const std::string& name) {
           a.sequence_map = name == "elements"  ? Strategy::kElements
                            : name == "stacked" ? Strategy::kStacked
                            : name == "packed"  ? Strategy::kPacked
                                                : Strategy::kAuto;
         },
         "How SequenceMap runs its body")
      ->check(CLI::IsMember({"auto", "elements", "stacked", "packed"}));
  run->add_flag("--json", a.json, "Print JSON");
  trace->excludes(run->get_option("--repeat"));
  // Test data bring their own inputs, and each folder has outputs of its own.
  for (const char* option : {"--input", "--inputs", "--random", "--outputs", "--trace"})
    test_data->excludes(run->get_option(option));
}

void AddBench(CLI::App& app, onnxseq::BenchArguments& a) {
  CLI::App* bench = app.add_subcommand("bench", "Time loading and running a model");
  bench->add_option("MODEL", a.model, kModelHelp)->required();
  AddFeeds(bench, a);
  AddThreads(bench, a.threads);
  a.repeat = 20;
  AddRepeats(bench, a);
  bench->add_flag("--accuracy", a.accuracy,
                  "Also with the weights of recurrent operators as bf16 and int8: times, and how far outputs are off");
  bench->add_flag("--json", a.json, "Print JSON");
}

void AddShapes(CLI::App& app, onnxseq::ShapesArguments& a) {
  CLI::App* shapes = app.add_subcommand("shapes", "Infer kind, type and shape of every value");
  shapes->add_option("MODEL", a.model, kModelHelp)->required();
  shapes->add_option("--dim", a.dims, "N=4: set a symbol of the inputs")->allow_extra_args(false);
  shapes->add_option("--shape", a.shapes, "x=1,3,H,W: set the shape of an input")->allow_extra_args(false);
  shapes->add_option("-o", a.output, "Write the model with what was inferred to this .onnx or .onnxtxt");
  shapes->add_flag("--json", a.json, "Print JSON");
}

void AddConvert(CLI::App& app, onnxseq::ConvertArguments& a) {
  CLI::App* convert = app.add_subcommand("convert", "Write a model in another form, chosen by suffix");
  convert->add_option("IN", a.input, kModelHelp)->required();
  convert->add_option("OUT", a.output, "An .onnx file, ONNX text (.onnxtxt) or an OpenVINO IR .xml")->required();
  convert
      ->add_option("--external-data", a.external_bytes,
                   "Keep initializers of this many bytes and more in a file beside OUT")
      ->check(Within(CLI::NonNegativeNumber, "0 or a positive number"));
  convert->add_flag("--optimize", a.optimize, "Write what gives the same in less time, in standard operators");
  convert->add_flag("--batch-sequence-map", a.batch_sequence_map,
                    "As --optimize, and write SequenceMap as the nodes of its body over all elements at once, where "
                    "standard operators can say it; says of each what became of it");
  convert->add_flag("--lower", a.lower, "Write nodes that OUT has no words for as several others that give the same");
  convert->add_option("--ir-version", a.ir_version, "Of an OpenVINO IR: 11 unless given, or 10")
      ->check(Within(CLI::Range(10, 11), "10 or 11"));
}

int Dispatch(int argc, char** argv) {
  CLI::App app("An engine for sequence models: ONNX and OpenVINO IR on the CPU", "onnxseq");
  app.set_version_flag("--version", "onnxseq " ONNXSEQ_VERSION);
  app.require_subcommand(1);
  onnxseq::RunArguments run;
  onnxseq::BenchArguments bench;
  onnxseq::ShapesArguments shapes;
  onnxseq::ConvertArguments convert;
  std::string model;
  bool json = false, markdown = false;
  AddRun(app, run);
  AddBench(app, bench);
  AddShapes(app, shapes);
  AddConvert(app, convert);
  CLI::App* info = app.add_subcommand("info", "Say what is in a model");
  CLI::App* check = app.add_subcommand("check", "List what is wrong with a model; exit 1 if anything is");
  CLI::App* ops = app.add_subcommand("ops", "List the operators this build knows");
  for (CLI::App* command : {info, check}) command->add_option("MODEL", model, kModelHelp)->required();
  for (CLI::App* command : {info, check, ops}) command->add_flag("--json", json, "Print JSON");
  ops->add_flag("--markdown", markdown, "Print a page of documentation")->excludes(ops->get_option("--json"));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // What follows an unknown option may have been taken for something else, of which the parser would complain first.
    for (const std::string& text : app.remaining(true)) {
      if (!text.starts_with("-")) continue;
      std::fprintf(stderr, "onnxseq: there is no option %s\n", text.c_str());
      return kUsage;
    }
    const std::vector<std::string> rest = app.remaining();
    if (error.get_exit_code() != 0 && app.get_subcommands().empty() && !rest.empty()) {
      std::fprintf(stderr, "onnxseq: there is no command %s\n", rest.front().c_str());
      return kUsage;
    }
    return app.exit(error, std::cout, std::cerr) == 0 ? 0 : kUsage;
  }
  try {
    if (app.got_subcommand("run")) return onnxseq::RunCommand(run);
    if (app.got_subcommand("bench")) return onnxseq::BenchCommand(bench);
    if (app.got_subcommand("shapes")) return onnxseq::ShapesCommand(shapes);
    if (app.got_subcommand("convert")) return onnxseq::ConvertCommand(convert);
    if (app.got_subcommand(info)) return onnxseq::InfoCommand(model, json);
    if (app.got_subcommand(check)) return onnxseq::CheckCommand(model, json);
    return onnxseq::OpsCommand(json       ? onnxseq::OpsFormat::kJson
                               : markdown ? onnxseq::OpsFormat::kMarkdown
                                          : onnxseq::OpsFormat::kText);
  } catch (const onnxseq::UsageError& error) {
    std::fprintf(stderr, "onnxseq: %s\n", error.what());
    return kUsage;
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return kOutputFailed;
    std::fprintf(stderr, "onnxseq: %s\n", error.what());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an output that cannot be written, like a full disk
  const int code = Dispatch(argc, argv);
  const int why = code == kOutputFailed || std::fflush(stdout) != 0 ? errno : 0;
  if (code != kOutputFailed && why == 0 && std::ferror(stdout) == 0) return code;
  std::fprintf(stderr, "onnxseq: the output cannot be written%s%s\n", why == 0 ? "" : ": ",
               why == 0 ? "" : std::strerror(why));
  return 1;
}
