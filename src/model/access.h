// SPDX-License-Identifier: Apache-2.0
// MessageAccess: what the wire code knows of a message's inside. The definitions come from fields.inc, one of each per
// message.
#pragma once

#include <cstdint>
#include <vector>

#include "model/wire.h"
#include "onnx_proto/onnx.h"

namespace ONNX_LIGHT_NAMESPACE {

class WireReader;
class WireWriter;

struct MessageAccess {
  // The serialised sizes of the messages below one message, in the order the writer meets them.
  using Sizes = std::vector<uint64_t>;

#define ONNXSEQ_MESSAGE_BEGIN(M)                        \
  static void Read(M& message, WireReader& in);         \
  static uint64_t Size(const M& message, Sizes& sizes); \
  static void Write(const M& message, WireWriter& out); \
  static bool Equal(const M& a, const M& b);
#include "onnx_proto/model/fields.inc"
};

}  // namespace ONNX_LIGHT_NAMESPACE
