// A hash table of what is counted, by 64 bits that are hashes already: of two keys that are alike nobody knows.
#pragma once

#include <cstdint>
#include <vector>

namespace ablate {

template <class Counted>
class CountTable {
 public:
  /// What stands there, made where nothing does. Valid until the next call.
  Counted& at(std::uint64_t key) {
    if (10 * (size_ + 1) > 7 * keys_.size()) grow();
    const auto slot = slot_of(key);
    if (keys_[slot] == 0) keys_[slot] = key | 1, ++size_;
    return values_[slot];
  }
  const Counted* find(std::uint64_t key) const {
    const auto slot = slot_of(key);
    return keys_[slot] == 0 ? nullptr : &values_[slot];
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t slot_of(std::uint64_t key) const {
    key |= 1;  // 0 is free
    auto slot = (key >> 20) & (keys_.size() - 1);
    while (keys_[slot] != 0 && keys_[slot] != key) slot = (slot + 1) & (keys_.size() - 1);
    return slot;
  }

  void grow() {
    std::vector<std::uint64_t> keys(2 * keys_.size());
    std::vector<Counted> values(keys.size());
    keys.swap(keys_), values.swap(values_);
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (keys[i] != 0) {
        const auto slot = slot_of(keys[i]);
        keys_[slot] = keys[i], values_[slot] = values[i];
      }
  }

  std::vector<std::uint64_t> keys_ = std::vector<std::uint64_t>(1 << 10);
  std::vector<Counted> values_ = std::vector<Counted>(1 << 10);
  std::size_t size_ = 0;
};

}  // namespace ablate
