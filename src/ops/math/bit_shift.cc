// SPDX-License-Identifier: Apache-2.0
// BitShift: bits moved to the left or right, with broadcasting. Of signed integers (version 28) the right shift keeps
// the sign. A shift below 0 or by the width and more leaves only what the sign fills in.
// https://onnx.ai/onnx/operators/onnx__BitShift.html
#include <fmt/format.h>

#include <type_traits>

#include "ops/math/elementwise_op.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

template <bool kLeft>
struct BitShiftFn {
  template <class T>
  T operator()(T x, T by) const {
    constexpr T kWidth = static_cast<T>(sizeof(T) * 8);
    bool outside = by >= kWidth;
    if constexpr (std::is_signed_v<T>) outside = outside || by < 0;
    using U = std::make_unsigned_t<T>;
    if constexpr (kLeft) {
      return outside ? T(0) : static_cast<T>(static_cast<uint64_t>(static_cast<U>(x)) << by);
    } else {
      if (outside) return static_cast<T>(x < T(0) ? -1 : 0);
      return static_cast<T>(x >> by);
    }
  }
};
bool IsLeft(const RunContext& ctx) {
  const std::string direction = ctx.attrs().String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    ctx.Fail("attribute 'direction'", fmt::format("is \"{}\", must be \"LEFT\" or \"RIGHT\"", direction));
  return direction == "LEFT";
}
void Run(RunContext& ctx) {
  if (IsLeft(ctx)) {
    RunBinary<BitShiftFn<true>, IntList>(ctx);
  } else {
    RunBinary<BitShiftFn<false>, IntList>(ctx);
  }
}

OpDef VersionOf(int since, TypeSet types) {
  return {.domain = "",
          .type = "BitShift",
          .since_version = since,
          .inputs = {{"X", types, "T"}, {"Y", types, "T"}},
          .outputs = {{"Z", types, "T"}},
          .attributes = {{"direction", AttrKind::kString, true}},
          .shape = PlainBroadcastShape,
          .run = Run};
}

}  // namespace

std::span<const OpDef> bit_shift_ops() {
  static const OpDef ops[] = {
      VersionOf(11, kUnsignedIntTypes),
      VersionOf(28, kIntTypes),
  };
  return ops;
}

}  // namespace ONNX_LIGHT_NAMESPACE
