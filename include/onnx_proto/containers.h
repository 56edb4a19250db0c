// SPDX-License-Identifier: Apache-2.0
// What the messages of onnx_proto/onnx.h are made of: strings, shared bytes, and containers of values and of messages.
// Everything here is a plain value: copies are deep, but for the content of Bytes, which is shared and never written in
// place.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "onnx_proto/config.h"

namespace ONNX_LIGHT_NAMESPACE {

// A std::string that also answers as_string().
class String : public std::string {
 public:
  String() = default;
  String(std::string text) noexcept
      : std::string(std::move(text)) {}                 // NOLINT(google-explicit-constructor): is a string
  String(std::string_view text) : std::string(text) {}  // NOLINT(google-explicit-constructor)
  String(const char* text) : std::string(text) {}       // NOLINT(google-explicit-constructor)
  using std::string::operator=;
  const std::string& as_string() const { return *this; }
};
// Keeps GoogleTest from printing a String as a list of characters.
inline void PrintTo(const String& text, std::ostream* out) { *out << '"' << text.as_string() << '"'; }

// The content of a `bytes` field: read as a string, held as a view into storage that copies share. The storage is a
// string of its own, or a file mapping or buffer that the owner keeps alive. Distinct objects may be used from distinct
// threads.
class Bytes {
 public:
  Bytes() = default;
  Bytes(const Bytes&) = default;
  // Leaves `other` empty.
  Bytes(Bytes&& other) noexcept : owner_(std::move(other.owner_)), view_(std::exchange(other.view_, {})) {}
  Bytes& operator=(const Bytes&) = default;
  Bytes& operator=(Bytes&& other) noexcept {
    if (this == &other) return *this;
    owner_ = std::move(other.owner_);
    view_ = std::exchange(other.view_, {});
    return *this;
  }
  ~Bytes() = default;
  Bytes(std::string text) { Own(std::move(text)); }         // NOLINT(google-explicit-constructor): is a string
  Bytes(std::string_view text) { Own(std::string(text)); }  // NOLINT(google-explicit-constructor)
  Bytes(const char* text) { Own(std::string(text)); }       // NOLINT(google-explicit-constructor)
  Bytes(const void* data, size_t size) { Own(std::string(static_cast<const char*>(data), size)); }
  // Shares: `view` must lie in memory that `owner` keeps alive and unchanged. A null owner copies.
  static Bytes Shared(std::string_view view, std::shared_ptr<const void> owner) {
    Bytes bytes;
    if (owner == nullptr) return Bytes(view);
    bytes.owner_ = std::move(owner);
    bytes.view_ = view;
    return bytes;
  }

  std::string_view view() const { return view_; }
  operator std::string_view() const { return view_; }          // NOLINT(google-explicit-constructor)
  operator std::string() const { return std::string(view_); }  // NOLINT(google-explicit-constructor)
  std::string as_string() const { return std::string(view_); }
  const char* data() const { return view_.data(); }
  size_t size() const { return view_.size(); }
  size_t length() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  char operator[](size_t i) const { return view_[i]; }
  const char* begin() const { return view_.data(); }
  const char* end() const { return view_.data() + view_.size(); }
  std::string substr(size_t pos, size_t count = std::string::npos) const {
    return std::string(view_.substr(pos, count));
  }
  size_t find(std::string_view text, size_t pos = 0) const { return view_.find(text, pos); }
  // What keeps the bytes alive; null when empty.
  const std::shared_ptr<const void>& owner() const { return owner_; }

  void assign(const void* data, size_t size) { *this = Bytes(data, size); }
  void append(std::string_view text) { *this = Bytes(std::string(view_).append(text)); }
  void clear() { *this = Bytes(); }

  friend bool operator==(const Bytes& a, const Bytes& b) { return a.view_ == b.view_; }
  friend bool operator==(const Bytes& a, std::string_view b) { return a.view_ == b; }
  friend bool operator==(const Bytes& a, const std::string& b) { return a.view_ == b; }
  friend bool operator==(const Bytes& a, const char* b) { return a.view_ == b; }
  friend auto operator<=>(const Bytes& a, const Bytes& b) { return a.view_ <=> b.view_; }
  friend std::string operator+(const Bytes& a, std::string_view b) { return std::string(a.view_).append(b); }
  friend std::string operator+(std::string_view a, const Bytes& b) { return std::string(a).append(b.view_); }
  friend std::ostream& operator<<(std::ostream& out, const Bytes& bytes) { return out << bytes.view_; }
  friend void PrintTo(const Bytes& bytes, std::ostream* out) { *out << '"' << bytes.view_ << '"'; }

 private:
  void Own(std::string text) {
    auto storage = std::make_shared<const std::string>(std::move(text));
    view_ = *storage;
    owner_ = std::move(storage);
  }
  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

// Bit patterns are compared, so that a message holding NaN equals its copy.
template <class T>
bool SameValue(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  } else {
    return a == b;
  }
}

// A repeated field of numbers, strings or bytes: a vector. References are good until it grows.
template <class T>
class Repeated : public std::vector<T> {
 public:
  using Base = std::vector<T>;
  using Base::Base;
  Repeated() = default;
  Repeated(Base values) noexcept : Base(std::move(values)) {}  // NOLINT(google-explicit-constructor): is a vector
  using Base::operator=;

  T& add() { return this->emplace_back(); }
  void add(T value) { this->push_back(std::move(value)); }
  template <class Range>
  void extend(const Range& values) {
    this->insert(this->end(), values.begin(), values.end());
  }
  friend bool operator==(const Repeated& a, const Repeated& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!SameValue(a[i], b[i])) return false;
    return true;
  }
};

// What a container must know of a message type; defined for the messages of onnx.h and for nothing else.
template <class M>
struct ONNXSEQ_API MessageOps {
  static M* New();
  static M* New(const M& other);
  static M* New(M&& other);
  static void Assign(M& to, const M& from);
  static void Delete(M* message) noexcept;
  static bool Equal(const M& a, const M& b);
  static const M& Default();
};

// A singular message field: absent, or one message of its own.
template <class M>
class Box {
 public:
  Box() = default;
  Box(const Box& other) : message_(other.message_ ? MessageOps<M>::New(*other.message_) : nullptr) {}
  Box(Box&& other) noexcept : message_(std::exchange(other.message_, nullptr)) {}
  Box& operator=(const Box& other) {
    Box copy(other);
    std::swap(message_, copy.message_);
    return *this;
  }
  Box& operator=(Box&& other) noexcept {
    Box taken(std::move(other));
    std::swap(message_, taken.message_);
    return *this;
  }
  ~Box() { reset(); }

  bool has() const { return message_ != nullptr; }
  const M& get() const { return message_ ? *message_ : MessageOps<M>::Default(); }
  M& ensure() {
    if (!message_) message_ = MessageOps<M>::New();
    return *message_;
  }
  void reset() noexcept {
    if (message_) MessageOps<M>::Delete(std::exchange(message_, nullptr));
  }
  friend bool operator==(const Box& a, const Box& b) {
    return a.message_ && b.message_ ? MessageOps<M>::Equal(*a.message_, *b.message_) : a.message_ == b.message_;
  }

 private:
  M* message_ = nullptr;
};

// A repeated field of messages. Each message keeps its address until it is removed, whatever is added.
template <class M>
class RepeatedMessages {
  template <bool kConst>
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = M;
    using difference_type = std::ptrdiff_t;
    using reference = std::conditional_t<kConst, const M&, M&>;
    using pointer = std::conditional_t<kConst, const M*, M*>;

    Iterator() = default;
    explicit Iterator(M* const* at) : at_(at) {}
    operator Iterator<true>() const { return Iterator<true>(at_); }  // NOLINT(google-explicit-constructor)

    reference operator*() const { return **at_; }
    pointer operator->() const { return *at_; }
    reference operator[](difference_type n) const { return *at_[n]; }
    Iterator& operator++() { return ++at_, *this; }
    Iterator& operator--() { return --at_, *this; }
    Iterator operator++(int) { return Iterator(at_++); }
    Iterator operator--(int) { return Iterator(at_--); }
    Iterator& operator+=(difference_type n) { return at_ += n, *this; }
    Iterator& operator-=(difference_type n) { return at_ -= n, *this; }
    friend Iterator operator+(Iterator it, difference_type n) { return Iterator(it.at_ + n); }
    friend Iterator operator+(difference_type n, Iterator it) { return Iterator(it.at_ + n); }
    friend Iterator operator-(Iterator it, difference_type n) { return Iterator(it.at_ - n); }
    friend difference_type operator-(Iterator a, Iterator b) { return a.at_ - b.at_; }
    friend bool operator==(Iterator a, Iterator b) = default;
    friend auto operator<=>(Iterator a, Iterator b) = default;

   private:
    friend class RepeatedMessages;
    M* const* at_ = nullptr;
  };

 public:
  using value_type = M;
  using size_type = size_t;
  using reference = M&;
  using const_reference = const M&;
  using iterator = Iterator<false>;
  using const_iterator = Iterator<true>;

  RepeatedMessages() = default;
  RepeatedMessages(const RepeatedMessages& other) { CopyAll(other); }
  RepeatedMessages(RepeatedMessages&& other) noexcept : messages_(std::exchange(other.messages_, {})) {}
  RepeatedMessages& operator=(const RepeatedMessages& other) {
    RepeatedMessages copy(other);
    messages_.swap(copy.messages_);
    return *this;
  }
  RepeatedMessages& operator=(RepeatedMessages&& other) noexcept {
    RepeatedMessages taken(std::move(other));
    messages_.swap(taken.messages_);
    return *this;
  }
  ~RepeatedMessages() { clear(); }

  size_t size() const { return messages_.size(); }
  bool empty() const { return messages_.empty(); }
  const M& operator[](size_t i) const { return *messages_[i]; }
  M& operator[](size_t i) { return *messages_[i]; }
  const M& front() const { return *messages_.front(); }
  M& front() { return *messages_.front(); }
  const M& back() const { return *messages_.back(); }
  M& back() { return *messages_.back(); }
  iterator begin() { return iterator(messages_.data()); }
  iterator end() { return iterator(messages_.data() + messages_.size()); }
  const_iterator begin() const { return const_iterator(messages_.data()); }
  const_iterator end() const { return const_iterator(messages_.data() + messages_.size()); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }

  M& add() {
    return Append([] { return MessageOps<M>::New(); });
  }
  M& emplace_back() { return add(); }
  void push_back(const M& message) {
    Append([&] { return MessageOps<M>::New(message); });
  }
  void push_back(M&& message) {
    Append([&] { return MessageOps<M>::New(std::move(message)); });
  }
  void pop_back() {
    MessageOps<M>::Delete(messages_.back());
    messages_.pop_back();
  }
  // Inserts before `where`; returns the place of the new message.
  iterator insert(const_iterator where, M message) {
    const auto index = where - begin();
    push_back(std::move(message));
    for (size_t i = messages_.size() - 1; i > static_cast<size_t>(index); --i)
      std::swap(messages_[i], messages_[i - 1]);
    return begin() + index;
  }
  iterator erase(const_iterator where) { return erase(where, where + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    const auto index = first - begin();
    const auto count = last - first;
    for (auto i = index; i < index + count; ++i) MessageOps<M>::Delete(messages_[static_cast<size_t>(i)]);
    messages_.erase(messages_.begin() + index, messages_.begin() + index + count);
    return begin() + index;
  }
  // Exchanges two messages without copying them; their addresses go along.
  void SwapElements(size_t i, size_t j) { std::swap(messages_[i], messages_[j]); }
  // Rearranges: the message that was at order[i] comes to i. `order` must be a permutation of the indices.
  void Permute(const std::vector<size_t>& order) {
    std::vector<M*> moved;
    moved.reserve(order.size());
    for (const size_t from : order) moved.push_back(messages_[from]);
    messages_.swap(moved);
  }
  void clear() noexcept {
    for (M* message : messages_) MessageOps<M>::Delete(message);
    messages_.clear();
  }
  void reserve(size_t count) { messages_.reserve(count); }
  void swap(RepeatedMessages& other) noexcept { messages_.swap(other.messages_); }
  template <class Range>
  void extend(const Range& messages) {
    for (const M& message : messages) push_back(message);
  }

  friend bool operator==(const RepeatedMessages& a, const RepeatedMessages& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (!MessageOps<M>::Equal(a[i], b[i])) return false;
    return true;
  }

 private:
  // The slot is there before the message is, so that no failure loses a message.
  template <class Make>
  M& Append(Make make) {
    messages_.push_back(nullptr);
    try {
      messages_.back() = make();
    } catch (...) {
      messages_.pop_back();
      throw;
    }
    return *messages_.back();
  }
  void CopyAll(const RepeatedMessages& other) {
    messages_.reserve(other.size());
    try {
      for (const M& message : other) push_back(message);
    } catch (...) {
      clear();
      throw;
    }
  }
  std::vector<M*> messages_;
};

}  // namespace ONNX_LIGHT_NAMESPACE
