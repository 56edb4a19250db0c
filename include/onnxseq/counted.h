// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// An object that counts its handles. Unlike std::shared_ptr's, the count can be asked whether this handle is the only
// one in a way that orders what was done through the others before what is done next: storage may then be written.
struct Counted {
  class Handle;
  explicit Counted(void (*destroy_in)(Counted*) noexcept) : destroy(destroy_in) {}
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  std::atomic<int64_t> handles{1};
  void (*destroy)(Counted*) noexcept;
};

// Copies may be made and dropped on any thread; one handle belongs to one thread at a time.
class Counted::Handle {
 public:
  Handle() = default;
  // Takes over the count a new object begins with.
  explicit Handle(Counted* object) noexcept : object_(object) {}
  Handle(const Handle& other) noexcept : object_(other.object_) {
    if (object_ != nullptr) object_->handles.fetch_add(1, std::memory_order_relaxed);
  }
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    // The only handle needs no atomic write to find that out.
    if (object_ != nullptr && (IsOnly() || object_->handles.fetch_sub(1, std::memory_order_acq_rel) == 1))
      object_->destroy(object_);
  }

  Counted* get() const noexcept { return object_; }
  // False for a handle to nothing.
  bool IsOnly() const noexcept { return object_ != nullptr && object_->handles.load(std::memory_order_acquire) == 1; }

 private:
  Counted* object_ = nullptr;
};

}  // namespace ONNX_LIGHT_NAMESPACE
