// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "base/checked.h"
#include "onnxseq/errors.h"
#include "onnxseq/value.h"
#include "values/block_cache.h"
#include "values/memory_budget.h"

namespace ONNX_LIGHT_NAMESPACE {
namespace {

constexpr size_t kAlignment = 64;

// What stands before the elements in the one block that holds both: the elements begin kAlignment bytes after it, on a
// multiple of kAlignment.
struct Storage : Counted {
  Storage(const Block& block_in, int64_t bytes_in, std::shared_ptr<MemoryBudget> budget_in)
      : Counted(Destroy), block(block_in), bytes(bytes_in), budget(std::move(budget_in)) {}
  ~Storage() {
    std::destroy_n(reinterpret_cast<std::string*>(elements()), string_count);
    if (budget != nullptr) budget->Return(bytes);
  }
  static void Destroy(Counted* self) noexcept {
    auto* const storage = static_cast<Storage*>(self);
    const Block block = storage->block;
    storage->~Storage();
    BlockCache::Free(block);
  }
  void* elements() { return reinterpret_cast<std::byte*>(this) + kAlignment; }

  // Null when there is not enough memory.
  static Storage* Make(int64_t bytes, const std::shared_ptr<MemoryBudget>& budget) {
    constexpr size_t kHead = 2 * kAlignment;
    if (static_cast<size_t>(bytes) > std::numeric_limits<size_t>::max() - kHead) return nullptr;
    const Block block = BlockCache::Allocate(static_cast<size_t>(bytes) + kHead);
    if (block.memory == nullptr) return nullptr;
    void* at = block.memory;
    size_t room = kHead;
    return new (std::align(kAlignment, kAlignment, at, room)) Storage(block, bytes, budget);
  }

  Block block;
  int64_t bytes;
  int64_t string_count = 0;
  std::shared_ptr<MemoryBudget> budget;
};
static_assert(sizeof(Storage) <= kAlignment);

// Elements and bytes of a tensor, or InvalidArgument.
struct Extent {
  int64_t elements;
  int64_t bytes;
};
Extent ExtentOf(TensorType dtype, const Shape& shape) {
  if (dtype == TensorType::kUndefined) throw InvalidArgument("a tensor needs an element type");
  const auto describe = [&] { return onnx_optim::ToTypeString(dtype) + shape.ToString(); };
  for (const int64_t dim : shape)
    if (dim < 0) throw InvalidArgument(fmt::format("{} has a negative dim", describe()));
  const auto elements = CheckedProduct(shape.dims());
  if (!elements)
    throw InvalidArgument(fmt::format("{} is too large: its element count does not fit in 64 bits", describe()));
  const auto bytes = CheckedMul(*elements, static_cast<int64_t>(onnx_optim::BytesOf(dtype)));
  if (!bytes) throw InvalidArgument(fmt::format("{} is too large: its size does not fit in 64 bits", describe()));
  return {*elements, *bytes};
}

size_t AlignmentOf(TensorType dtype) {
  switch (dtype) {
    case TensorType::kComplex128:
      return alignof(std::complex<double>);
    default:
      return std::max<size_t>(1, onnx_optim::BytesOf(dtype));
  }
}

}  // namespace

Tensor::Tensor(TensorType dtype, Shape shape) : shape_(std::move(shape)), dtype_(dtype), writable_(true) {
  const Extent extent = ExtentOf(dtype_, shape_);
  num_elements_ = extent.elements;
  const std::shared_ptr<MemoryBudget>& budget = MemoryBudget::Current();
  if (budget != nullptr) budget->Take(extent.bytes);
  Storage* const storage = Storage::Make(extent.bytes, budget);
  if (storage == nullptr) {
    if (budget != nullptr) budget->Return(extent.bytes);
    throw MemoryError(fmt::format("not enough memory for {} of {} bytes", TypeString(), extent.bytes));
  }
  storage_ = Counted::Handle(storage);
  data_ = storage->elements();
  if (dtype_ == TensorType::kString) {
    std::uninitialized_value_construct_n(static_cast<std::string*>(data_), num_elements_);
    storage->string_count = num_elements_;
  }
}

Tensor Tensor::Borrow(const void* data, TensorType dtype, Shape shape, Owner owner) {
  Tensor tensor;
  tensor.num_elements_ = ExtentOf(dtype, shape).elements;
  const std::string_view type = onnx_optim::TensorTypeName(dtype);
  if (dtype == TensorType::kString) throw InvalidArgument("strings cannot be borrowed");
  if (data == nullptr && tensor.num_elements_ > 0) throw InvalidArgument("borrowed data is null");
  if (reinterpret_cast<uintptr_t>(data) % AlignmentOf(dtype) != 0)
    throw InvalidArgument(fmt::format("borrowed data is not aligned for {}", type));
  tensor.storage_ = std::move(owner.handle_);
  tensor.data_ =
      const_cast<void*>(data);  // written through mutable_data only, which refuses while writable_ is not set
  tensor.shape_ = std::move(shape);
  tensor.dtype_ = dtype;
  return tensor;
}

size_t Tensor::ByteSize() const { return defined() ? static_cast<size_t>(ExtentOf(dtype_, shape_).bytes) : 0; }

bool Tensor::IsUnique() const { return writable_ && storage_.IsOnly(); }

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
  const auto count = CheckedProduct(shape.dims());
  if (!count || first < 0 || *count > num_elements_ || first > num_elements_ - *count)
    throw InvalidArgument(fmt::format("{} has no part {} from element {} on", TypeString(), shape.ToString(), first));
  Tensor tensor;
  tensor.storage_ = storage_;
  tensor.data_ = static_cast<char*>(data_) + static_cast<size_t>(first) * onnx_optim::BytesOf(dtype_);
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
