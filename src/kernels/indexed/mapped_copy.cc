// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "base/stop_token.h"
#include "kernels/indexed/indexed.h"
#include "kernels/indexed/storage_type.h"

namespace ONNX_LIGHT_NAMESPACE::kernels {
namespace {

constexpr int64_t kStretch = 1 << 16;  // elements between two looks at the stop token

// Neighbours of an output axis that come from its map in one way.
struct Run {
  enum Kind : uint8_t { kFill, kRepeat, kMapped };
  Kind kind;
  int64_t to, count;  // where in the output axis, and how many
  int64_t from = 0;   // kRepeat: the source of the first
  int64_t times = 1;  // kRepeat: how many come from each source, of which one follows the other
};

// How many of map[0..n) are map[0], map[0] + 1, ... one after the other.
int64_t Ascending(const int64_t* map, int64_t n) {
  constexpr int64_t kAtOnce = 16;
  int64_t i = 0;
  for (; i + kAtOnce <= n; i += kAtOnce) {
    int64_t differ = 0;
    for (int64_t k = 0; k < kAtOnce; ++k) differ |= map[i + k] ^ (map[0] + i + k);
    if (differ != 0) break;
  }
  while (i < n && map[i] == map[0] + i) ++i;
  return i;
}

// The map of an axis as runs, none longer than `longest`.
std::vector<Run> RunsOf(std::span<const int64_t> map, int64_t longest) {
  constexpr int64_t kLeast = 8;  // shorter runs stay with their neighbours
  std::vector<Run> runs;
  const auto n = static_cast<int64_t>(map.size());
  for (int64_t i = 0; i < n;) {
    const int64_t* at = map.data() + i;
    const int64_t limit = std::min(n - i, longest);
    const int64_t times = std::find_if(at, at + limit, [&](int64_t v) { return v != at[0]; }) - at;
    int64_t count = times;
    if (at[0] < 0) {
      runs.push_back({Run::kFill, i, count});
      i += count;
      continue;
    }
    if (times == 1) {
      count = Ascending(at, limit);
    } else {
      for (int64_t source = at[0] + 1; count + times <= limit; ++source, count += times)
        if (std::any_of(at + count, at + count + times, [source](int64_t v) { return v != source; })) break;
    }
    if (count == n || count >= kLeast) {
      runs.push_back({Run::kRepeat, i, count, at[0], times});
    } else if (!runs.empty() && runs.back().kind == Run::kMapped && i + count - runs.back().to <= longest) {
      runs.back().count += count;
    } else {
      runs.push_back({Run::kMapped, i, count});
    }
    i += count;
  }
  return runs;
}

// to[i] = from[i / times] for i < n, a multiple of times.
template <int64_t kTimes, class E>
void RepeatBy(const E* from, int64_t n, E* to) {
  for (int64_t i = 0; i < n / kTimes; ++i)
    for (int64_t k = 0; k < kTimes; ++k) to[i * kTimes + k] = from[i];
}
template <class E>
void Repeat(const E* from, int64_t times, int64_t n, E* to) {
  switch (times) {
    case 1:
      std::copy_n(from, n, to);
      return;
    case 2:
      return RepeatBy<2>(from, n, to);
    case 3:
      return RepeatBy<3>(from, n, to);
    case 4:
      return RepeatBy<4>(from, n, to);
    default:
      for (; n > 0; n -= times) to = std::fill_n(to, times, *from++);
  }
}

bool IsIdentity(std::span<const int64_t> map, int64_t dim) {
  if (static_cast<int64_t>(map.size()) != dim) return false;
  for (size_t i = 0; i < map.size(); ++i)
    if (map[i] != static_cast<int64_t>(i)) return false;
  return true;
}

template <class E>
class Mapping {
 public:
  Mapping(std::span<const int64_t> dims, std::span<const std::vector<int64_t>> maps, const E* fill, E* to)
      : fill_(fill), to_(to) {
    // Inner dims that stay as they are move in blocks.
    while (maps.size() > 1 && block_ * dims.back() <= kStretch && IsIdentity(maps.back(), dims.back())) {
      block_ *= dims.back();
      dims = dims.first(dims.size() - 1);
      maps = maps.first(maps.size() - 1);
    }
    maps_ = maps;
    runs_ = RunsOf(maps.back(), std::max<int64_t>(1, kStretch / block_));
    in_.assign(maps.size(), block_);
    out_.assign(maps.size(), block_);
    for (size_t d = maps.size() - 1; d-- > 0;) {
      in_[d] = in_[d + 1] * dims[d + 1];
      out_[d] = out_[d + 1] * static_cast<int64_t>(maps[d + 1].size());
    }
  }

  // Writes what dim d and those inside it make of the source at `from`, all fill when that is null. False once the run
  // is to end.
  bool Write(size_t d, const E* from) {
    const std::vector<int64_t>& map = maps_[d];
    if (d + 1 == maps_.size()) return WriteRow(map, from);
    for (size_t i = 0; i < map.size(); ++i) {
      if (i > 0 && map[i] == map[i - 1] && out_[d] <= kStretch) {
        if (IsStopped(out_[d])) return false;
        to_ = std::copy_n(to_ - out_[d], out_[d], to_);
      } else if (!Write(d + 1, from == nullptr || map[i] < 0 ? nullptr : from + map[i] * in_[d])) {
        return false;
      }
    }
    return true;
  }

 private:
  bool WriteRow(std::span<const int64_t> map, const E* from) {
    for (const Run& run : runs_) {
      const int64_t n = run.count * block_;
      if (IsStopped(n)) return false;
      if (from == nullptr || run.kind == Run::kFill) {
        std::fill_n(to_, n, *fill_);
      } else if (run.kind == Run::kRepeat && run.times == 1) {
        std::copy_n(from + run.from * block_, n, to_);
      } else if (block_ > 1) {
        for (int64_t i = 0; i < run.count; ++i)
          std::copy_n(from + map[static_cast<size_t>(run.to + i)] * block_, block_, to_ + i * block_);
      } else if (run.kind == Run::kRepeat) {
        Repeat(from + run.from, run.times, n, to_);
      } else {
        const int64_t* const at = map.data() + run.to;
        for (int64_t i = 0; i < n; ++i) to_[i] = from[at[i]];
      }
      to_ += n;
    }
    return true;
  }

  bool IsStopped(int64_t elements) {
    since_look_ += elements;
    if (since_look_ < kStretch) return false;
    since_look_ = 0;
    return StopRequested();
  }

  const E* fill_;
  E* to_;
  std::span<const std::vector<int64_t>> maps_;  // without those of the block
  std::vector<Run> runs_;                       // of the last of them
  std::vector<int64_t> in_, out_;               // elements for each step of an axis
  int64_t block_ = 1;
  int64_t since_look_ = kStretch;
};

}  // namespace

void MappedCopy(TensorType type, const void* from, std::span<const int64_t> dims,
                std::span<const std::vector<int64_t>> maps, const void* fill, void* to) {
  DispatchStorage(type, [&]<class E>(std::type_identity<E>) {
    const auto* source = static_cast<const E*>(from);
    auto* out = static_cast<E*>(to);
    if (maps.empty()) {
      *out = *source;
    } else if (std::ranges::none_of(maps, &std::vector<int64_t>::empty)) {
      Mapping<E>(dims, maps, static_cast<const E*>(fill), out).Write(0, source);
    }
  });
}

}  // namespace ONNX_LIGHT_NAMESPACE::kernels
