// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "onnxseq/session.h"

namespace ONNX_LIGHT_NAMESPACE {

// Notes when each node of a run began and how long it took, bodies included.
class Profiler : public RunObserver {
 public:
  struct Entry {
    std::string path, op_type, node_name;
    int thread = 0;                         // numbered as they appear
    double start_seconds = 0, seconds = 0;  // from the making of the profiler on
  };
  void OnNode(const NodeEvent& event) override;
  // By start.
  std::vector<Entry> Entries() const;

 private:
  const std::chrono::steady_clock::time_point origin_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  std::vector<std::thread::id> threads_;
  std::vector<Entry> entries_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
