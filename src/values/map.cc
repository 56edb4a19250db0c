// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "onnxseq/errors.h"
#include "onnxseq/value.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

[[noreturn]] void FailCount(const Tensor& keys, const Sequence& values) {
  throw InvalidArgument(fmt::format("a map has {} keys for {} values", keys.NumElements(), values.size()));
}

// Sorts both by key.
template <class T>
void Sort(Tensor& keys, Sequence& values) {
  const std::span<const T> before = keys.View<T>();
  const auto twice = [&](const T& key) {
    if constexpr (std::is_same_v<T, std::string>) {
      throw InvalidArgument(fmt::format("a map has the key \"{}\" twice", key));
    } else {
      throw InvalidArgument(fmt::format("a map has the key {} twice", key));
    }
  };
  if (std::ranges::is_sorted(before)) {
    const auto equal = std::ranges::adjacent_find(before);
    if (equal != before.end()) twice(*equal);
    return;
  }
  std::vector<int64_t> order(before.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int64_t i) -> const T& { return before[static_cast<size_t>(i)]; });
  Tensor sorted(keys.dtype(), keys.shape());
  std::vector<Value> moved;
  T* out = sorted.MutableView<T>().data();
  for (const int64_t i : order) {
    *out++ = before[static_cast<size_t>(i)];
    moved.push_back(values.ValueAt(i));
  }
  const std::span<const T> after = std::as_const(sorted).View<T>();
  const auto equal = std::ranges::adjacent_find(after);
  if (equal != after.end()) twice(*equal);
  keys = std::move(sorted);
  values = Sequence::OfValues(std::move(moved));
}

void SortByKey(Tensor& keys, Sequence& values) {
  switch (keys.dtype()) {
    case TensorType::kInt8:
      return Sort<int8_t>(keys, values);
    case TensorType::kInt16:
      return Sort<int16_t>(keys, values);
    case TensorType::kInt32:
      return Sort<int32_t>(keys, values);
    case TensorType::kInt64:
      return Sort<int64_t>(keys, values);
    case TensorType::kUint8:
      return Sort<uint8_t>(keys, values);
    case TensorType::kUint16:
      return Sort<uint16_t>(keys, values);
    case TensorType::kUint32:
      return Sort<uint32_t>(keys, values);
    case TensorType::kUint64:
      return Sort<uint64_t>(keys, values);
    case TensorType::kString:
      return Sort<std::string>(keys, values);
    default:
      break;
  }
  throw InvalidArgument(fmt::format("keys of a map are integers or strings, not {}", keys.TypeString()));
}

}  // namespace

struct Map::Entries : Counted {
  Entries(Tensor keys_in, Sequence values_in)
      : Counted(Destroy), keys(std::move(keys_in)), values(std::move(values_in)) {}
  static void Destroy(Counted* self) noexcept { delete static_cast<Entries*>(self); }
  Tensor keys;
  Sequence values;
};

Map::Map(Tensor keys, Sequence values) {
  if (keys.rank() != 1) throw InvalidArgument(fmt::format("keys of a map are a vector, not {}", keys.TypeString()));
  if (keys.NumElements() != values.size()) FailCount(keys, values);
  SortByKey(keys, values);
  entries_ = Counted::Handle(new Entries(std::move(keys), std::move(values)));
}

Map Map::WithValues(Sequence values) const {
  if (size() != values.size()) FailCount(keys(), values);
  return Map(Counted::Handle(new Entries(keys(), std::move(values))));
}

const Tensor& Map::keys() const { return static_cast<const Entries*>(entries_.get())->keys; }
const Sequence& Map::values() const { return static_cast<const Entries*>(entries_.get())->values; }

std::string Map::TypeName() const {
  const Sequence& held = values();
  return fmt::format("map({},{})", onnx_optim::TensorTypeName(key_type()),
                     held.HoldsTensors() ? onnx_optim::ToTypeString(held.dtype()) : held.ValueAt(0).TypeName());
}

std::string Map::TypeString() const {
  return fmt::format("{}, {} entr{}", TypeName(), size(), size() == 1 ? "y" : "ies");
}

}  // namespace ONNX_LIGHT_NAMESPACE
