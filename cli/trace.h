// SPDX-License-Identifier: Apache-2.0
// What `run` writes about a run beside its outputs.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "onnxseq/session.h"
#include "runtime/profiler.h"

namespace ONNX_LIGHT_NAMESPACE {

// Keeps every value that nodes compute, and passes the events on to `next` (may be null).
class Tracer : public RunObserver {
 public:
  explicit Tracer(RunObserver* next) : next_(next) {}
  bool WantsAllValues() const override { return true; }
  void OnNode(const NodeEvent& event) override;
  // Values of the main graph by name. Those of bodies by path and name: the tensors of all elements or trips as one
  // sequence "/map0/body/y"; where they are not tensors of one type, each as "/map0/body/y/0", "/map0/body/y/1", ...
  ValueMap Values() const;

 private:
  RunObserver* next_;
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<Value>> values_;
};

// In the format of the Chrome trace viewer.
std::string ProfileJson(const Profiler& profiler);

}  // namespace ONNX_LIGHT_NAMESPACE
