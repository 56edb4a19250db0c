// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace dnn_module {

// The values used last, by key; thread safe. A value that is dropped lives on with who holds it.
template <class Value>
class Lru {
 public:
  explicit Lru(size_t limit) : limit_(limit) {}

  // The value of `key`, made when it is not there. Two threads may make the same one; the first to end is kept.
  template <class Make>
  std::shared_ptr<const Value> Get(std::string_view key, const Make& make) {
    if (auto found = Find(key)) return found;
    auto made = std::make_shared<const Value>(make());
    const std::lock_guard lock(mutex_);
    if (const auto at = index_.find(key); at != index_.end()) return at->second->second;
    entries_.emplace_front(std::string(key), std::move(made));
    index_.emplace(entries_.front().first, entries_.begin());
    if (entries_.size() > limit_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return entries_.front().second;
  }

 private:
  std::shared_ptr<const Value> Find(std::string_view key) {
    const std::lock_guard lock(mutex_);
    const auto at = index_.find(key);
    if (at == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, at->second);
    return at->second->second;
  }

  using Entries = std::list<std::pair<std::string, std::shared_ptr<const Value>>>;
  size_t limit_;
  std::mutex mutex_;
  Entries entries_;
  std::unordered_map<std::string_view, typename Entries::iterator> index_;  // keys live in the entries
};

}  // namespace dnn_module
