// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "json_text.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

bool AreTensorsOfOneType(const std::vector<Value>& values) {
  return std::ranges::all_of(values, [&](const Value& value) {
    return value.IsTensor() && value.tensor().dtype() == values.front().tensor().dtype();
  });
}

}  // namespace

void Tracer::OnNode(const NodeEvent& event) {
  {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < event.outputs.size(); ++i) {
      if (event.outputs[i] == nullptr) continue;
      const std::string name = event.node.output(i);
      values_[event.path.empty() ? name : fmt::format("{}/{}", event.path, name)].push_back(*event.outputs[i]);
    }
  }
  if (next_ != nullptr) next_->OnNode(event);
}

ValueMap Tracer::Values() const {
  const std::lock_guard lock(mutex_);
  ValueMap all;
  for (const auto& [name, values] : values_) {
    if (!name.starts_with("/")) {
      all.emplace(name, values.front());
    } else if (AreTensorsOfOneType(values)) {
      std::vector<Tensor> tensors;
      for (const Value& value : values) tensors.push_back(value.tensor());
      all.emplace(name, Sequence(std::move(tensors)));
    } else {
      for (size_t i = 0; i < values.size(); ++i) all.emplace(fmt::format("{}/{}", name, i), values[i]);
    }
  }
  return all;
}

std::string ProfileJson(const Profiler& profiler) {
  JsonText json;
  json.Object();
  json.Key("traceEvents");
  json.Array();
  for (const Profiler::Entry& entry : profiler.Entries()) {
    json.Object();
    json.Key("name");
    json.String(entry.node_name.empty() ? entry.op_type : entry.op_type + " " + entry.node_name);
    json.Key("cat");
    json.String(entry.op_type);
    json.Key("ph");
    json.String("X");
    json.Key("ts");  // microseconds, as dur
    json.Float(entry.start_seconds * 1e6);
    json.Key("dur");
    json.Float(entry.seconds * 1e6);
    json.Key("pid");
    json.Int(1);
    json.Key("tid");
    json.Int(entry.thread);
    json.Key("args");
    json.Object();
    json.Key("path");
    json.String(entry.path);
    json.EndObject();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.text() + "\n";
}

}  // namespace ONNX_LIGHT_NAMESPACE
