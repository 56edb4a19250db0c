// SPDX-License-Identifier: Apache-2.0
#include "runtime/profiler.h"

#include <algorithm>

namespace ONNX_LIGHT_NAMESPACE {

void Profiler::OnNode(const NodeEvent& event) {
  if (event.begin == event.end) return;  // nothing was computed
  const auto seconds = [](auto duration) { return std::chrono::duration<double>(duration).count(); };
  Entry entry{
      std::string(event.path),         event.node.op_type(), event.node.name(), 0, seconds(event.begin - origin_),
      seconds(event.end - event.begin)};
  const std::lock_guard lock(mutex_);
  const auto it = std::ranges::find(threads_, std::this_thread::get_id());
  entry.thread = static_cast<int>(it - threads_.begin());
  if (it == threads_.end()) threads_.push_back(std::this_thread::get_id());
  entries_.push_back(std::move(entry));
}

std::vector<Profiler::Entry> Profiler::Entries() const {
  const std::lock_guard lock(mutex_);
  std::vector<Entry> sorted = entries_;
  std::ranges::sort(sorted, {}, &Entry::start_seconds);
  return sorted;
}

}  // namespace ONNX_LIGHT_NAMESPACE
