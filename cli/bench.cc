// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "deviation.h"
#include "json_text.h"
#include "onnxseq/session.h"
#include "repeated_runs.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

struct Variant {
  std::string_view name;
  WeightStorage weights;
};
constexpr std::array<Variant, 3> kVariants{
    {{"f32", WeightStorage::kFull}, {"bf16", WeightStorage::kBf16}, {"int8", WeightStorage::kInt8}}};

struct OutputError {
  std::string name;
  Deviation error;
};

struct Report {
  std::string_view weights;
  double load_seconds = 0, first_seconds = 0;
  Timed timed;
  std::vector<OutputError> errors;  // of float outputs
};

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

Report Measure(const BenchArguments& arguments, const Variant& variant, const ValueMap* exact) {
  Report report;
  report.weights = variant.name;
  SessionOptions options;
  options.threads = arguments.threads;
  options.seed = arguments.seed;
  options.weights = variant.weights;
  if (exact == nullptr) options.on_warning = PrintWarning;  // once for all variants
  auto start = std::chrono::steady_clock::now();
  const Session session = Session::Load(arguments.model, options);
  report.load_seconds = Seconds(start);
  const ValueMap feeds = ReadFeeds(session, arguments);
  start = std::chrono::steady_clock::now();
  static_cast<void>(session.Run(feeds));
  report.first_seconds = Seconds(start);
  report.timed = RunRepeatedly(session, feeds, arguments);
  for (const ValueDescription& output : session.outputs()) {
    const auto found = report.timed.outputs.find(output.name);
    if (exact == nullptr || found == report.timed.outputs.end()) continue;
    report.errors.push_back({output.name, DeviationOf(found->second, exact->at(output.name))});
  }
  return report;
}

void PrintJson(const BenchArguments& arguments, const std::vector<Report>& reports) {
  JsonText json;
  json.Object();
  json.Key("model");
  json.String(arguments.model);
  json.Key("runs");
  json.Int(arguments.repeat);
  json.Key("weights");
  json.Object();
  for (const Report& report : reports) {
    json.Key(report.weights);
    json.Object();
    const auto put = [&](std::string_view key, double number) {
      json.Key(key);
      json.Float(number);
    };
    put("load_seconds", report.load_seconds);
    put("first_seconds", report.first_seconds);
    put("median_seconds", Median(report.timed.seconds));
    put("fastest_seconds", report.timed.seconds.front());
    json.Key("errors");
    json.Object();
    for (const auto& [name, error] : report.errors) {
      json.Key(name);
      json.Object();
      put("largest", error.largest);
      put("relative", error.relative);
      json.EndObject();
    }
    json.EndObject();
    json.EndObject();
  }
  json.EndObject();
  json.EndObject();
  fmt::print("{}\n", json.text());
}

}  // namespace

int BenchCommand(const BenchArguments& arguments) {
  std::vector<Report> reports;
  std::optional<ValueMap> exact;
  for (const Variant& variant : kVariants) {
    if (!reports.empty() && !arguments.accuracy) break;
    reports.push_back(Measure(arguments, variant, exact ? &*exact : nullptr));
    if (!exact) exact = reports.front().timed.outputs;
  }
  if (arguments.json) {
    PrintJson(arguments, reports);
    return 0;
  }
  const double full = Median(reports.front().timed.seconds);
  for (const Report& report : reports) {
    const double median = Median(report.timed.seconds);
    if (arguments.accuracy) fmt::print("weights {}: ", report.weights);
    fmt::print("load {:.3f} ms, first run {:.3f} ms, {} more: median {:.3f} ms, fastest {:.3f} ms",
               report.load_seconds * 1e3, report.first_seconds * 1e3, arguments.repeat, median * 1e3,
               report.timed.seconds.front() * 1e3);
    if (&report != &reports.front()) fmt::print(", {:.2f} times as fast as f32", full / median);
    fmt::print("\n");
    for (const auto& [name, error] : report.errors)
      fmt::print("  {}: largest error {:.3g}, {:.3g} of the largest value\n", name, error.largest, error.relative);
  }
  return 0;
}

}  // namespace ONNX_LIGHT_NAMESPACE
