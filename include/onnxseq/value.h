// SPDX-License-Identifier: Apache-2.0
// Values: what runs take and give. A Value is a Tensor, a Sequence, a Map, or nothing (an absent optional).
//
// All are handles with shared, reference-counted storage: copying is cheap and copies no elements. Reading one object
// from many threads is safe; an object being written belongs to one thread.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "onnx_optim/tensor_type.h"
#include "onnxseq/counted.h"
#include "onnxseq/float16.h"

namespace ONNX_LIGHT_NAMESPACE {

// The dims of a tensor in memory, each >= 0. Up to kInline dims without allocation.
class ONNXSEQ_API Shape {
 public:
  static constexpr int kInline = 6;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims);
  Shape(const Shape& other) : Shape(other.dims()) {}
  Shape(Shape&& other) noexcept;
  Shape& operator=(const Shape& other);
  Shape& operator=(Shape&& other) noexcept;
  ~Shape() { Free(); }

  int rank() const { return rank_; }
  int64_t operator[](int i) const { return data()[i]; }
  int64_t& operator[](int i) { return data()[i]; }
  std::span<const int64_t> dims() const { return {data(), static_cast<size_t>(rank_)}; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + rank_; }
  void push_back(int64_t dim);
  void insert(int axis, int64_t dim);
  void erase(int axis);
  // Product of the dims, 1 for rank 0. The product fits: a Tensor's constructor checks it.
  int64_t NumElements() const;
  bool operator==(const Shape& other) const;
  // "[2,3]"
  std::string ToString() const;

 private:
  const int64_t* data() const { return rank_ <= kInline ? inline_ : heap_; }
  int64_t* data() { return rank_ <= kInline ? inline_ : heap_; }
  void Free();
  int rank_ = 0;
  int capacity_ = kInline;  // of heap_ when rank_ > kInline
  union {
    int64_t inline_[kInline] = {};
    int64_t* heap_;
  };
};

// The C++ type of an element. bool is one byte. Floats of 8 bits and fewer and whole numbers of 4 and 2 bits have none
// and are reached through data(): each is a byte with its code in the low bits, as the ml_dtypes of numpy are; what is
// above them counts for nothing and is zero where the library writes. Files pack several into a byte.
template <class T>
inline constexpr TensorType kTensorTypeOf = TensorType::kUndefined;
template <>
inline constexpr TensorType kTensorTypeOf<float> = TensorType::kFloat;
template <>
inline constexpr TensorType kTensorTypeOf<double> = TensorType::kDouble;
template <>
inline constexpr TensorType kTensorTypeOf<Float16> = TensorType::kFloat16;
template <>
inline constexpr TensorType kTensorTypeOf<BFloat16> = TensorType::kBfloat16;
template <>
inline constexpr TensorType kTensorTypeOf<int8_t> = TensorType::kInt8;
template <>
inline constexpr TensorType kTensorTypeOf<int16_t> = TensorType::kInt16;
template <>
inline constexpr TensorType kTensorTypeOf<int32_t> = TensorType::kInt32;
template <>
inline constexpr TensorType kTensorTypeOf<int64_t> = TensorType::kInt64;
template <>
inline constexpr TensorType kTensorTypeOf<uint8_t> = TensorType::kUint8;
template <>
inline constexpr TensorType kTensorTypeOf<uint16_t> = TensorType::kUint16;
template <>
inline constexpr TensorType kTensorTypeOf<uint32_t> = TensorType::kUint32;
template <>
inline constexpr TensorType kTensorTypeOf<uint64_t> = TensorType::kUint64;
template <>
inline constexpr TensorType kTensorTypeOf<bool> = TensorType::kBool;
template <>
inline constexpr TensorType kTensorTypeOf<std::string> = TensorType::kString;
template <>
inline constexpr TensorType kTensorTypeOf<std::complex<float>> = TensorType::kComplex64;
template <>
inline constexpr TensorType kTensorTypeOf<std::complex<double>> = TensorType::kComplex128;

// Keeps memory alive that lies elsewhere, until its last copy is gone, which may happen on any thread. One owner may
// serve many tensors.
class ONNXSEQ_API Owner {
 public:
  // What `owner` points to; null for memory that is always there.
  template <class T>
  Owner(std::shared_ptr<T> owner)  // NOLINT(google-explicit-constructor): the usual way to own something
      : Owner(owner == nullptr ? Counted::Handle() : Hold([kept = std::move(owner)] {})) {}
  // Calls `deleter`, which must not throw, at the end.
  template <class Fn>
    requires std::is_invocable_v<Fn&>
  Owner(Fn deleter)  // NOLINT(google-explicit-constructor): as above
      : Owner(Hold(std::move(deleter))) {}

 private:
  friend class Tensor;
  explicit Owner(Counted::Handle handle) : handle_(std::move(handle)) {}
  template <class Fn>
  static Counted::Handle Hold(Fn deleter) {
    struct Lent : Counted {
      explicit Lent(Fn fn) : Counted(Destroy), release(std::move(fn)) {}
      static void Destroy(Counted* self) noexcept {
        const std::unique_ptr<Lent> lent(static_cast<Lent*>(self));
        if constexpr (std::is_constructible_v<Fn, std::nullptr_t>) {
          if (lent->release == nullptr) return;  // an empty std::function
        }
        lent->release();
      }
      Fn release;
    };
    return Counted::Handle(new Lent(std::move(deleter)));
  }
  Counted::Handle handle_;
};

// A dense row-major array of any rank.
class ONNXSEQ_API Tensor {
 public:
  // Undefined: no type, no data.
  Tensor() = default;
  Tensor(const Tensor&) = default;
  // Leaves `other` undefined.
  Tensor(Tensor&& other) noexcept
      : storage_(std::move(other.storage_)),
        data_(std::exchange(other.data_, nullptr)),
        num_elements_(std::exchange(other.num_elements_, 0)),
        shape_(std::move(other.shape_)),
        dtype_(std::exchange(other.dtype_, TensorType::kUndefined)),
        writable_(std::exchange(other.writable_, false)) {}
  Tensor& operator=(const Tensor&) = default;
  Tensor& operator=(Tensor&& other) noexcept {
    if (this == &other) return *this;
    storage_ = std::move(other.storage_);
    data_ = std::exchange(other.data_, nullptr);
    num_elements_ = std::exchange(other.num_elements_, 0);
    shape_ = std::move(other.shape_);
    dtype_ = std::exchange(other.dtype_, TensorType::kUndefined);
    writable_ = std::exchange(other.writable_, false);
    return *this;
  }
  ~Tensor() = default;
  // New 64-byte aligned storage, elements uninitialised (strings empty). Throws InvalidArgument for kUndefined or a
  // size over 2^63 - 1 bytes, MemoryError when there is not enough memory.
  Tensor(TensorType dtype, Shape shape);
  // Elements that live elsewhere, kept alive by `owner` until the last handle is gone; may be read-only memory. Strings
  // cannot be borrowed. `data` must be aligned for the element type.
  static Tensor Borrow(const void* data, TensorType dtype, Shape shape, Owner owner);
  // A copy of `values`, which must be shape.NumElements() many (InvalidArgument otherwise).
  template <class T>
  static Tensor Of(Shape shape, std::span<const T> values);
  template <class T>
  static Tensor Of(Shape shape, std::initializer_list<T> values) {
    return Of<T>(std::move(shape), std::span<const T>(values.begin(), values.size()));
  }
  template <class T>
  static Tensor Scalar(const T& value) {
    return Of<T>(Shape{}, std::span<const T>(&value, 1));
  }

  bool defined() const { return dtype_ != TensorType::kUndefined; }
  TensorType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(int i) const { return shape_[i]; }
  int64_t NumElements() const { return num_elements_; }
  // Bytes of the elements: BytesOf(dtype()) each.
  size_t ByteSize() const;

  const void* data() const { return data_; }
  // T is the element type (InvalidArgument otherwise).
  template <class T>
  std::span<const T> View() const {
    CheckType(kTensorTypeOf<T>);
    return {static_cast<const T*>(data_), static_cast<size_t>(num_elements_)};
  }
  // For writing: only while this handle is the only one to storage of its own, as right after construction or
  // Unshare().
  void* mutable_data();
  template <class T>
  std::span<T> MutableView() {
    CheckType(kTensorTypeOf<T>);
    return {static_cast<T*>(mutable_data()), static_cast<size_t>(num_elements_)};
  }
  // This handle is the only one, and the storage is our own: it may be written or given away.
  bool IsUnique() const;
  // Makes it so, copying when needed.
  void Unshare();
  // The elements lie in memory that was lent: Borrow made this tensor, or one it shares storage with.
  bool IsBorrowed() const { return defined() && !writable_; }

  // The same elements under another shape of the same count (InvalidArgument otherwise).
  Tensor WithShape(Shape shape) const;
  // shape.NumElements() consecutive elements from `first` on, sharing storage. first and the end must lie inside.
  Tensor Part(int64_t first, Shape shape) const;

  // "tensor(float)[2,3]"
  std::string TypeString() const;

 private:
  void CheckType(TensorType type) const;
  void CheckCount(int64_t count) const;
  Counted::Handle storage_;  // of the elements: our own, or what keeps the lender's alive
  void* data_ = nullptr;
  int64_t num_elements_ = 0;
  Shape shape_;
  TensorType dtype_ = TensorType::kUndefined;
  bool writable_ = false;
};

class Value;

// A list of values of one type: tensors of one element type, or maps, or sequences. Copies share the list until one is
// changed; a change made through the only handle is made in place (Append is amortised constant). Sequences of maps or
// sequences are not changed: what operators do to sequences is for tensors.
class ONNXSEQ_API Sequence {
 public:
  // Empty, of tensors with elements of `dtype` (kUndefined: not known yet).
  explicit Sequence(TensorType dtype = TensorType::kUndefined);
  // Throws InvalidArgument when an element's type differs.
  Sequence(TensorType dtype, std::vector<Tensor> elements);
  explicit Sequence(std::vector<Tensor> elements);
  // Of any values. Throws InvalidArgument when one is nothing or its type differs from the first's. None at all gives a
  // sequence of nobody knows what.
  static Sequence OfValues(std::vector<Value> elements);

  // The element type of a sequence of tensors; kUndefined for others, and when not known.
  TensorType dtype() const { return dtype_; }
  // The elements are tensors, or there are none.
  bool HoldsTensors() const;
  int64_t size() const;
  bool empty() const { return size() == 0; }
  // 0 <= i < size(). The first two are for sequences of tensors (InvalidArgument otherwise), the last for any.
  const Tensor& operator[](int64_t i) const;
  std::span<const Tensor> elements() const;
  Value ValueAt(int64_t i) const;

  // For sequences of tensors (InvalidArgument otherwise).
  // 0 <= position <= size(). Throws InvalidArgument when the element type differs.
  void Insert(int64_t position, Tensor element);
  void Append(Tensor element) { Insert(size(), std::move(element)); }
  // 0 <= position < size().
  void Erase(int64_t position);

  // "seq(tensor(float))"
  std::string TypeName() const;
  // "seq(tensor(float)), 3 elements"
  std::string TypeString() const;

 private:
  struct List;
  const List* list() const;
  std::vector<Tensor>& Unshared();
  Counted::Handle elements_;  // a List; none while empty
  TensorType dtype_;
};

// What each key stands for. Keys are integers or strings, each there once, values are of one type. Immutable; copies
// share the entries, which are kept in ascending order of their keys (strings by their bytes).
class ONNXSEQ_API Map {
 public:
  // keys: a vector of integers or strings; values: one for each key, in any order. Throws InvalidArgument when there
  // are not as many, or a key is there twice.
  Map(Tensor keys, Sequence values);
  // The same keys with other values, as many and in the order of keys() (InvalidArgument otherwise): shares the keys.
  Map WithValues(Sequence values) const;

  TensorType key_type() const { return keys().dtype(); }
  int64_t size() const { return keys().NumElements(); }
  // [size()], ascending.
  const Tensor& keys() const;
  // Value i belongs to key i.
  const Sequence& values() const;

  // "map(int64,tensor(float))"
  std::string TypeName() const;
  // "map(int64,tensor(float)), 3 entries"
  std::string TypeString() const;

 private:
  struct Entries;
  explicit Map(Counted::Handle entries) : entries_(std::move(entries)) {}
  Counted::Handle entries_;  // an Entries
};

// A tensor, a sequence, a map, or nothing. An optional that holds something is what it holds.
class ONNXSEQ_API Value {
 public:
  Value() = default;                                        // nothing: an absent optional
  Value(Tensor tensor) : held_(std::move(tensor)) {}        // NOLINT(google-explicit-constructor)
  Value(Sequence sequence) : held_(std::move(sequence)) {}  // NOLINT(google-explicit-constructor)
  Value(Map map) : held_(std::move(map)) {}                 // NOLINT(google-explicit-constructor)

  bool IsNone() const { return held_.index() == 0; }
  bool IsTensor() const { return held_.index() == 1; }
  bool IsSequence() const { return held_.index() == 2; }
  bool IsMap() const { return held_.index() == 3; }
  // The tensor, sequence or map; InvalidArgument when it is not one.
  const Tensor& tensor() const;
  const Sequence& sequence() const;
  const Map& map() const;
  Tensor& mutable_tensor();
  Sequence& mutable_sequence();
  // Copies each tensor in it whose memory was lent.
  void CopyBorrowed();
  // Without dims and counts: "tensor(float)", "seq(map(int64,tensor(float)))", "nothing"
  std::string TypeName() const;
  // "tensor(float)[2,3]", "seq(tensor(float)), 3 elements", "nothing"
  std::string TypeString() const;

 private:
  std::variant<std::monostate, Tensor, Sequence, Map> held_;
};

template <class T>
Tensor Tensor::Of(Shape shape, std::span<const T> values) {
  Tensor t(kTensorTypeOf<T>, std::move(shape));
  t.CheckCount(static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), static_cast<T*>(t.mutable_data()));
  return t;
}

}  // namespace ONNX_LIGHT_NAMESPACE
