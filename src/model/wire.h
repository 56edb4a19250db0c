// SPDX-License-Identifier: Apache-2.0
// The wire format: reading a message from bytes and writing it. The bytes may be anybody's: every length is checked
// against what is left, depth is bounded, and nothing is allocated that the bytes read do not justify.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "onnx_proto/onnx.h"
#include "onnxseq/errors.h"

namespace ONNX_LIGHT_NAMESPACE {

// Messages inside messages deeper than this are refused. A subgraph costs three (attribute, graph, node): 99 nested
// bodies.
inline constexpr int kMaxMessageDepth = 300;

// Reads one message M (any class of onnx.h). With an owner, `bytes` fields are views into `bytes`, which the owner must
// keep alive and unchanged; without one they are copied. Known fields with a foreign wire type are kept as unknown
// ones. A singular message field that comes several times is merged, as the format says. Throws ModelParseError with
// byte offset and field path.
template <class M>
ONNXSEQ_API M ParseWire(std::string_view bytes, std::shared_ptr<const void> owner);

// The bytes of a message: fields by number, unknown ones last; equal messages give equal bytes.
template <class M>
ONNXSEQ_API std::string SerializeWire(const M& message);
// How many they are.
template <class M>
ONNXSEQ_API uint64_t WireSize(const M& message);

enum class WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kGroup = 3, kEndGroup = 4, kFixed32 = 5 };

// Where the reader stands: a chain of frames on the stack, read only when an error is composed.
struct WirePath {
  const WirePath* up;
  const char* field;
  int64_t index;  // -1 for a singular field
};

// A cursor over the bytes of one message and, while it is read, of each message inside.
class WireReader {
 public:
  WireReader(std::string_view bytes, std::shared_ptr<const void> owner)
      : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()), input_end_(end_), owner_(std::move(owner)) {}

  bool AtEnd() const { return at_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  int64_t offset() const { return at_ - begin_; }

  struct Tag {
    uint32_t field;
    WireType type;
    const char* start;  // of the tag itself
  };
  Tag ReadTag();
  uint64_t ReadVarint() {
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 0x80) return static_cast<unsigned char>(*at_++);
    return ReadLongVarint();
  }
  template <class T>  // float, double
  T ReadFixed() {
    if (static_cast<size_t>(end_ - at_) < sizeof(T)) FailShort(at_, sizeof(T));
    T value;
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  // A length and as many bytes.
  std::string_view ReadBytes();
  // The content of a bytes field, shared with the owner when there is one.
  Bytes ReadSharedBytes() { return Bytes::Shared(ReadBytes(), owner_); }
  // Passes over the field behind `tag` and returns all of it, tag included.
  std::string_view Skip(const Tag& tag);

  // Reads a length and calls body() with the cursor confined to that many bytes, one level deeper.
  template <class Body>
  void Inside(const char* field, int64_t index, Body body) {
    const WirePath frame{path_, field, index};
    const WirePath* const outer_path = path_;
    path_ = &frame;
    const std::string_view bytes = ReadBytes();
    if (++depth_ > kMaxMessageDepth) FailDepth();
    const char* const outer_end = end_;
    at_ = bytes.data();
    end_ = at_ + bytes.size();
    body();
    end_ = outer_end;
    --depth_;
    path_ = outer_path;
  }
  // Names the scalar field being read, for errors only.
  class Naming {
   public:
    Naming(WireReader& reader, const char* field, int64_t index) : reader_(reader), frame_{reader.path_, field, index} {
      reader_.path_ = &frame_;
    }
    ~Naming() { reader_.path_ = frame_.up; }
    Naming(const Naming&) = delete;
    Naming& operator=(const Naming&) = delete;

   private:
    WireReader& reader_;
    WirePath frame_;
  };

 private:
  uint64_t ReadLongVarint();
  void SkipGroup(uint32_t field, int depth);
  [[noreturn]] void Fail(const std::string& fact, const char* where) const;
  [[noreturn]] void FailShort(const char* where, uint64_t needed) const;
  [[noreturn]] void FailDepth() const;

  const char* begin_;
  const char* at_;
  const char* end_;        // of the message being read
  const char* input_end_;  // of everything
  std::shared_ptr<const void> owner_;
  const WirePath* path_ = nullptr;
  int depth_ = 0;
};

}  // namespace ONNX_LIGHT_NAMESPACE
