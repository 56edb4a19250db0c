// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "base/checked.h"
#include "onnxseq/errors.h"
#include "onnxseq/value.h"
#include "values/memory_budget.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr size_t kAlignment = 64;

// What stands before the elements in the one allocation that holds them.
struct Storage {
  std::string* strings = nullptr;
  int64_t string_count = 0;
  std::shared_ptr<MemoryBudget> budget;
  int64_t bytes = 0;

  Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage() {
    std::destroy_n(strings, string_count);
    if (budget != nullptr) budget->Return(bytes);
  }
};

// Lets allocate_shared make room behind what it allocates: `*data` is set to `bytes` aligned bytes there.
// malloc and not aligned_alloc: only the former keeps small blocks in a per-thread cache.
template <class T>
struct TrailingAllocator {
  using value_type = T;
  size_t bytes;
  void** data;

  TrailingAllocator(size_t bytes_in, void** data_in) : bytes(bytes_in), data(data_in) {}
  template <class U>
  TrailingAllocator(const TrailingAllocator<U>& other)  // NOLINT(google-explicit-constructor): the allocator concept
      : bytes(other.bytes), data(other.data) {}

  T* allocate(size_t n) {
    const size_t head = n * sizeof(T) + kAlignment;
    if (bytes > std::numeric_limits<size_t>::max() - head) throw std::bad_alloc();
    void* block = std::malloc(head + bytes);
    if (block == nullptr) throw std::bad_alloc();
    void* at = static_cast<char*>(block) + n * sizeof(T);
    size_t room = bytes + kAlignment;
    *data = std::align(kAlignment, bytes, at, room);
    return static_cast<T*>(block);
  }
  void deallocate(T* block, size_t) noexcept { std::free(block); }
  template <class U>
  bool operator==(const TrailingAllocator<U>&) const {
    return true;
  }
};

// Elements and bytes of a tensor, or InvalidArgument.
struct Extent {
  int64_t elements;
  int64_t bytes;
};
Extent ExtentOf(TensorType dtype, const Shape& shape) {
  if (dtype == TensorType::kUndefined) throw InvalidArgument("a tensor needs an element type");
  const int64_t bits =
      dtype == TensorType::kString ? 8 * static_cast<int64_t>(sizeof(std::string)) : onnx_optim::BitsOf(dtype);
  const auto describe = [&] { return onnx_optim::ToTypeString(dtype) + shape.ToString(); };
  for (const int64_t dim : shape)
    if (dim < 0) throw InvalidArgument(fmt::format("{} has a negative dim", describe()));
  const auto elements = CheckedProduct(shape.dims());
  if (!elements)
    throw InvalidArgument(fmt::format("{} is too large: its element count does not fit in 64 bits", describe()));
  if (bits >= 8) {
    const auto bytes = CheckedMul(*elements, bits / 8);
    if (!bytes) throw InvalidArgument(fmt::format("{} is too large: its size does not fit in 64 bits", describe()));
    return {*elements, *bytes};
  }
  const int64_t per_byte = 8 / bits;
  return {*elements, *elements / per_byte + (*elements % per_byte != 0)};
}

size_t AlignmentOf(TensorType dtype) {
  switch (dtype) {
    case TensorType::kComplex128:
      return alignof(std::complex<double>);
    default:
      return std::max<size_t>(1, static_cast<size_t>(onnx_optim::BitsOf(dtype)) / 8);
  }
}

}  // namespace

Tensor::Tensor(TensorType dtype, Shape shape) : shape_(std::move(shape)), dtype_(dtype), writable_(true) {
  const Extent extent = ExtentOf(dtype_, shape_);
  num_elements_ = extent.elements;
  const std::shared_ptr<MemoryBudget>& budget = MemoryBudget::Current();
  if (budget != nullptr) budget->Take(extent.bytes);
  std::shared_ptr<Storage> storage;
  try {
    storage = std::allocate_shared<Storage>(TrailingAllocator<Storage>(static_cast<size_t>(extent.bytes), &data_));
  } catch (const std::bad_alloc&) {
    if (budget != nullptr) budget->Return(extent.bytes);
    throw MemoryError(fmt::format("not enough memory for {} of {} bytes", TypeString(), extent.bytes));
  }
  storage->budget = budget;
  storage->bytes = extent.bytes;
  if (dtype_ == TensorType::kString) {
    storage->strings = static_cast<std::string*>(data_);
    std::uninitialized_value_construct_n(storage->strings, num_elements_);
    storage->string_count = num_elements_;
  }
  owner_ = std::move(storage);
}

Tensor Tensor::Borrow(const void* data, TensorType dtype, Shape shape, std::shared_ptr<const void> owner) {
  Tensor tensor;
  tensor.num_elements_ = ExtentOf(dtype, shape).elements;
  const std::string_view type = onnx_optim::TensorTypeName(dtype);
  if (dtype == TensorType::kString) throw InvalidArgument("strings cannot be borrowed");
  if (data == nullptr && tensor.num_elements_ > 0) throw InvalidArgument("borrowed data is null");
  if (reinterpret_cast<uintptr_t>(data) % AlignmentOf(dtype) != 0)
    throw InvalidArgument(fmt::format("borrowed data is not aligned for {}", type));
  tensor.owner_ = std::move(owner);
  tensor.data_ =
      const_cast<void*>(data);  // written through mutable_data only, which refuses while writable_ is not set
  tensor.shape_ = std::move(shape);
  tensor.dtype_ = dtype;
  return tensor;
}

Tensor Tensor::Borrow(const void* data, TensorType dtype, Shape shape, std::function<void()> deleter) {
  std::shared_ptr<const void> owner(data, [release = std::move(deleter)](const void*) {
    if (release) release();
  });
  return Borrow(data, dtype, std::move(shape), std::move(owner));
}

size_t Tensor::ByteSize() const { return defined() ? static_cast<size_t>(ExtentOf(dtype_, shape_).bytes) : 0; }

bool Tensor::IsUnique() const {
  if (!writable_ || owner_.use_count() != 1) return false;
  // The count is read relaxed: this makes the last reads through other handles happen before our writes.
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

void* Tensor::mutable_data() {
  if (!IsUnique()) throw InvalidArgument(fmt::format("{} is shared and may not be written", TypeString()));
  return data_;
}

void Tensor::Unshare() {
  if (!defined() || IsUnique()) return;
  Tensor copy(dtype_, shape_);
  if (dtype_ == TensorType::kString) {
    std::copy_n(static_cast<const std::string*>(data_), num_elements_, static_cast<std::string*>(copy.data_));
  } else if (const size_t bytes = ByteSize(); bytes > 0) {
    std::memcpy(copy.data_, data_, bytes);
  }
  *this = std::move(copy);
}

Tensor Tensor::WithShape(Shape shape) const {
  if (CheckedProduct(shape.dims()) != num_elements_)
    throw InvalidArgument(
        fmt::format("{} cannot take shape {}: the element counts differ", TypeString(), shape.ToString()));
  Tensor tensor = *this;
  tensor.shape_ = std::move(shape);
  return tensor;
}

Tensor Tensor::Part(int64_t first, Shape shape) const {
  const int bits = onnx_optim::BitsOf(dtype_);
  if (dtype_ != TensorType::kString && bits < 8)
    throw InvalidArgument(fmt::format("{} has no parts: its elements share bytes", TypeString()));
  const auto count = CheckedProduct(shape.dims());
  if (!count || first < 0 || *count > num_elements_ || first > num_elements_ - *count)
    throw InvalidArgument(fmt::format("{} has no part {} from element {} on", TypeString(), shape.ToString(), first));
  const size_t width = dtype_ == TensorType::kString ? sizeof(std::string) : static_cast<size_t>(bits) / 8;
  Tensor tensor;
  tensor.owner_ = owner_;
  tensor.data_ = static_cast<char*>(data_) + static_cast<size_t>(first) * width;
  tensor.num_elements_ = *count;
  tensor.shape_ = std::move(shape);
  tensor.dtype_ = dtype_;
  tensor.writable_ = writable_;
  return tensor;
}

std::string Tensor::TypeString() const {
  return onnx_optim::ToTypeString(dtype_) + (defined() ? shape_.ToString() : std::string());
}

void Tensor::CheckType(TensorType type) const {
  if (dtype_ == type) return;
  throw InvalidArgument(fmt::format("{} is read as {}", TypeString(), onnx_optim::TensorTypeName(type)));
}

void Tensor::CheckCount(int64_t count) const {
  if (num_elements_ == count) return;
  throw InvalidArgument(fmt::format("{} needs {} elements, got {}", TypeString(), num_elements_, count));
}

}  // namespace ONNX_LIGHT_NAMESPACE
