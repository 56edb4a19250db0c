// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/cpu_features.h"
#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {

// Calls fn under each instruction set this CPU has, and checks that it was the one in use.
template <class Fn>
void ForEachIsa(const Fn& fn) {
  for (int i = 0; i <= static_cast<int>(BestIsa()); ++i) {
    const auto isa = static_cast<Isa>(i);
    SCOPED_TRACE("isa " + std::string(IsaName(isa)));
    SetIsa(isa);
    ASSERT_EQ(ActiveIsa(), isa);
    fn();
  }
  SetIsa(std::nullopt);
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
