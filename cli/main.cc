// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

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

// As `check`, with a message of its own: the parser's spell all digits of the largest double, and types of C++.
CLI::Validator Must(const CLI::Validator& check, const char* be) {
  return {[check, be](std::string& text) {
            return check(text).empty() ? std::string() : std::string("must be ") + be + ", got " + text;
          },
          ""};
}

void AddFeeds(CLI::App* command, onnxseq::FeedArguments& a) {
  command->add_option("--input", a.inputs, "One input from a .npy, .npz or ONNX .pb file")
      ->allow_extra_args(false)
      ->option_text("NAME=FILE ...");
  command->add_option("--inputs", a.inputs_npz, "Inputs from an .npz: NAME, or NAME/0, NAME/1, ... for a sequence")
      ->option_text("FILE");
  command
      ->add_option("--random", a.random,
                   "Random values for the inputs not given. N=4,T=100 are sizes of named dims, those that follow from "
                   "others may be left out; ids=0..999 is the range of an input of integers, which else are 0 to 9 and "
                   "less than each size")
      ->expected(0, 1)
      ->option_text("[N=4,T=100,ids=0..999]");
  command->add_option("--seed", a.seed, "Of the random values, and of random operators without one; 0 unless given")
      ->check(Must(CLI::NonNegativeNumber, "0 or a positive number"))
      ->option_text("NUMBER");
}

void AddThreads(CLI::App* command, int& threads) {
  command->add_option("--threads", threads, "How many take part; 0, or not given: as many as the CPU has to give")
      ->check(Must(CLI::Range(0, 4096), "0 to 4096"))
      ->option_text("NUMBER");
}

void AddRepeats(CLI::App* command, onnxseq::RepeatArguments& a) {
  command->add_option("--repeat", a.repeat, "Run this often and print the times")
      ->check(Must(CLI::PositiveNumber, "a positive number"))
      ->option_text(fmt::format("NUMBER={}", a.repeat));
  command->add_option("--timeout", a.timeout, "After these a run is given up")
      ->check(Must(CLI::PositiveNumber, "a positive number"))
      ->option_text("SECONDS");
  command->add_option("--memory-limit", a.memory_limit, "What the tensors of a run may take at once")
      ->check(Must(CLI::Range(1e-6, 1e12), "a positive number"))
      ->option_text("MB");
}

void AddModel(CLI::App* command, std::string& model) {
  command->add_option("MODEL", model, kModelHelp)->required()->option_text(" ");
}

void AddJson(CLI::App* command, bool& json) { command->add_flag("--json", json, "Print JSON")->option_text(" "); }

void AddRun(CLI::App& app, onnxseq::RunArguments& a) {
  CLI::App* run = app.add_subcommand("run", "Run a model and print its outputs");
  AddModel(run, a.model);
  CLI::Option* test_data = run->add_option("TEST_DATA", a.test_data,
                                           "Folders with input_0.pb, ... and output_0.pb, ...: run each and compare");
  test_data->option_text("...");
  AddFeeds(run, a);
  run->add_option("--outputs", a.outputs_npz, "Write the outputs to this .npz")->option_text("FILE");
  AddThreads(run, a.threads);
  AddRepeats(run, a);
  CLI::Option* trace = run->add_option("--trace", a.trace_npz,
                                       "Write every value the run computes to this .npz, those of bodies by their path "
                                       "as sequences; runs on one thread");
  trace->option_text("FILE");
  run->add_option("--profile", a.profile_json, "Write when each node ran to this JSON file, for a trace viewer")
      ->option_text("FILE");
  run->add_flag("--explain", a.explain,
                "Say first how the model was run: what was made of it before, and of each SequenceMap");
  run->add_flag_callback("--no-optimize", [&a] { a.optimize = false; }, "Run the nodes as they are");
  using Strategy = onnxseq::SequenceMapStrategy;
  run->add_option_function<std::string>(
         "--sequence-map",
         [&a](const std::string& name) {
           a.sequence_map = name == "elements"  ? Strategy::kElements
                            : name == "stacked" ? Strategy::kStacked
                            : name == "packed"  ? Strategy::kPacked
                                                : Strategy::kAuto;
         },
         "How SequenceMap runs its body: auto, elements, stacked or packed")
      ->check(Must(CLI::IsMember({"auto", "elements", "stacked", "packed"}), "auto, elements, stacked or packed"))
      ->option_text("HOW");
  AddJson(run, a.json);
  trace->excludes(run->get_option("--repeat"));
  // Test data bring their own inputs, and each folder has outputs of its own.
  for (const char* option : {"--input", "--inputs", "--random", "--outputs", "--trace"})
    test_data->excludes(run->get_option(option));
}

void AddBench(CLI::App& app, onnxseq::BenchArguments& a) {
  CLI::App* bench = app.add_subcommand("bench", "Time loading and running a model");
  AddModel(bench, a.model);
  AddFeeds(bench, a);
  AddThreads(bench, a.threads);
  a.repeat = 20;
  AddRepeats(bench, a);
  bench->add_flag("--accuracy", a.accuracy,
                  "Also with the weights of recurrent operators as bf16 and int8: times, and how far outputs are off");
  AddJson(bench, a.json);
}

void AddShapes(CLI::App& app, onnxseq::ShapesArguments& a) {
  CLI::App* shapes = app.add_subcommand("shapes", "Infer kind, type and shape of every value");
  AddModel(shapes, a.model);
  shapes->add_option("--dim", a.dims, "Set a symbol of the inputs")->allow_extra_args(false)->option_text("N=4 ...");
  shapes->add_option("--shape", a.shapes, "Set the shape of an input")
      ->allow_extra_args(false)
      ->option_text("x=1,3,H,W ...");
  shapes->add_option("-o", a.output, "Write the model with what was inferred, as convert does")->option_text("FILE");
  AddJson(shapes, a.json);
}

void AddConvert(CLI::App& app, onnxseq::ConvertArguments& a) {
  CLI::App* convert = app.add_subcommand("convert", "Write a model in another form, chosen by suffix");
  convert->add_option("IN", a.input, kModelHelp)->required()->option_text(" ");
  convert
      ->add_option("OUT", a.output,
                   "The same, by its suffix; any other is an .onnx file. An .xml has its .bin beside it")
      ->required()
      ->option_text(" ");
  convert
      ->add_option("--external-data", a.external_bytes,
                   "Keep initializers of this many bytes and more in a file beside OUT")
      ->check(Must(CLI::NonNegativeNumber, "0 or a positive number"))
      ->option_text("BYTES");
  convert->add_flag("--optimize", a.optimize, "Write what gives the same in less time, in standard operators");
  convert->add_flag("--batch-sequence-map", a.batch_sequence_map,
                    "As --optimize, and write SequenceMap as the nodes of its body over all elements at once, where "
                    "standard operators can say it; says of each what became of it");
  convert->add_flag("--lower", a.lower, "Write nodes that OUT has no words for as several others that give the same");
  convert->add_option("--ir-version", a.ir_version, "Of an OpenVINO IR: 11 unless given, or 10")
      ->check(Must(CLI::Range(10, 11), "10 or 11"))
      ->option_text("NUMBER");
}

std::string WrongUsage(const CLI::App& app, const CLI::ParseError& error) {
  // What follows an unknown option may have been taken for something else, of which the parser would complain first.
  for (const std::string& text : app.remaining(true))
    if (text.starts_with("-")) return "there is no option " + text;
  if (!app.get_subcommands().empty())
    return fmt::format("{} (see onnxseq {} --help)", error.what(), app.get_subcommands().front()->get_name());
  std::string commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands += (commands.empty() ? "" : ", ") + command->get_name();
  const std::vector<std::string> rest = app.remaining();
  return fmt::format("{}: {} (see onnxseq --help)",
                     rest.empty() ? "a command is needed" : "there is no command " + rest.front(), commands);
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
  for (CLI::App* command : {info, check}) AddModel(command, model);
  for (CLI::App* command : {info, check, ops}) AddJson(command, json);
  ops->add_flag("--markdown", markdown, "Print a page of documentation")
      ->excludes(ops->get_option("--json"))
      ->option_text(" ");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error, std::cout, std::cerr);  // help, version
    std::fprintf(stderr, "onnxseq: %s\n", WrongUsage(app, error).c_str());
    return kUsage;
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
