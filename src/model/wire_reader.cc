// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/wire.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr uint64_t kMaxFieldNumber = (uint64_t{1} << 29) - 1;

// "graph.node[3].attribute[0]"
std::string Spell(const WirePath* innermost) {
  std::vector<const WirePath*> frames;
  for (const WirePath* frame = innermost; frame != nullptr; frame = frame->up) frames.push_back(frame);
  std::reverse(frames.begin(), frames.end());
  // A path of hundreds of levels helps nobody: the two ends of it do.
  constexpr size_t kShown = 12;
  std::string text;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames.size() > 2 * kShown && i == kShown) {
      text += fmt::format(".<{} more>", frames.size() - 2 * kShown);
      i = frames.size() - kShown;
    }
    std::string_view name = frames[i]->field;
    if (name.ends_with('_')) name.remove_suffix(1);
    if (!text.empty()) text += '.';
    text += name;
    if (frames[i]->index >= 0) text += fmt::format("[{}]", frames[i]->index);
  }
  return text;
}

}  // namespace

void WireReader::Fail(const std::string& fact, const char* where) const {
  throw ModelParseError(fact, where - begin_, Spell(path_));
}

void WireReader::FailShort(const char* where, uint64_t needed) const {
  const auto left = static_cast<uint64_t>(end_ - where);
  if (end_ == input_end_) {
    Fail(fmt::format("the data is truncated: {} bytes needed, {} left before the end at byte {}", needed, left,
                     input_end_ - begin_),
         where);
  }
  Fail(fmt::format("{} bytes needed, {} left in the message that holds them", needed, left), where);
}

void WireReader::FailDepth() const {
  Fail(fmt::format("messages are nested more than {} deep", kMaxMessageDepth), at_);
}

uint64_t WireReader::ReadLongVarint() {
  const char* const start = at_;
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at_ == end_) FailShort(at_, 1);
    const auto byte = static_cast<unsigned char>(*at_++);
    if (shift == 63 && byte > 1) break;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  Fail("a varint has more than 64 bits", start);
}

WireReader::Tag WireReader::ReadTag() {
  const char* const start = at_;
  const uint64_t value = ReadVarint();
  const uint64_t field = value >> 3;
  const auto type = static_cast<uint32_t>(value & 7);
  if (field == 0 || field > kMaxFieldNumber) Fail(fmt::format("{} is no field number", field), start);
  if (type > 5) Fail(fmt::format("field {} has wire type {}, which does not exist", field, type), start);
  if (type == 4) Fail(fmt::format("field {} ends a group that never began", field), start);
  return {static_cast<uint32_t>(field), static_cast<WireType>(type), start};
}

std::string_view WireReader::ReadBytes() {
  const uint64_t size = ReadVarint();
  if (size > static_cast<uint64_t>(end_ - at_)) FailShort(at_, size);
  const std::string_view bytes(at_, static_cast<size_t>(size));
  at_ += size;
  return bytes;
}

std::string_view WireReader::Skip(const Tag& tag) {
  switch (tag.type) {
    case WireType::kVarint:
      ReadVarint();
      break;
    case WireType::kFixed64:
      ReadFixed<double>();
      break;
    case WireType::kFixed32:
      ReadFixed<float>();
      break;
    case WireType::kBytes:
      ReadBytes();
      break;
    case WireType::kGroup:
    case WireType::kEndGroup:  // refused by ReadTag
      SkipGroup(tag.field, depth_ + 1);
      break;
  }
  return {tag.start, static_cast<size_t>(at_ - tag.start)};
}

void WireReader::SkipGroup(uint32_t field, int depth) {
  if (depth > kMaxMessageDepth) FailDepth();
  for (;;) {
    const char* const start = at_;
    const uint64_t tag = ReadVarint();
    if ((tag & 7) == 4) {
      if (tag >> 3 != field) Fail(fmt::format("group {} is ended by field {}", field, tag >> 3), start);
      return;
    }
    at_ = start;
    const Tag inner = ReadTag();
    if (inner.type == WireType::kGroup) {
      SkipGroup(inner.field, depth + 1);
    } else {
      Skip(inner);
    }
  }
}

}  // namespace ONNX_LIGHT_NAMESPACE
