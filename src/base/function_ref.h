// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

template <class Signature>
class FunctionRef;

// A non-owning reference to a callable: two words, no allocation. Lives no longer than what it refers to.
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class Fn>
    requires(!std::is_same_v<std::remove_cvref_t<Fn>, FunctionRef> && std::is_invocable_r_v<R, Fn&, Args...>)
  FunctionRef(Fn&& fn)  // NOLINT(google-explicit-constructor): stands in for the callable itself
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(fn)))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<Fn>*>(object))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace ONNX_LIGHT_NAMESPACE
