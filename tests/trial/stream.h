// Task whose data are a text, read as a stream.
#pragma once

#include "tests/trial/majority.h"

namespace ablate::tests {

inline constexpr std::int64_t kSymbols = 5;

/// Part of an endless text, from position `first` on. A token's second field is its position in the endless text.
class Text : public Task {
 public:
  Text(std::int64_t size, std::int64_t length, std::int64_t first = 0) : size_(size), length_(length), first_(first) {}
  TaskInfo info() override {
    return {.fields = {{"token", kSymbols}, {"place", 1000}},
            .length = length_,
            .classes = kSymbols,
            .objective = Objective::kPositions,
            .sampling = Sampling::kStream,
            .causal = true,
            .unit = "byte"};
  }
  void load() override {}
  std::string digest() const override { return "text"; }
  std::int64_t size(Split) const override { return size_; }
  std::string describe(Split, std::int64_t) const override { return ""; }
  void read(Split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      batch.starts[i] = indices[i] == 0 ? 1 : 0;
      for (std::int64_t j = 0; j < batch.length; ++j) {
        const auto place = indices[i] + j;
        const auto at = i * static_cast<std::size_t>(batch.length) + static_cast<std::size_t>(j);
        batch.present[0][at] = place < size_ ? 1 : 0;
        if (place >= size_) continue;
        batch.ids[0][at] = symbol(first_ + place);
        batch.ids[1][at] = first_ + place;
        batch.targets[at] = symbol(first_ + place + 1);
      }
    }
  }

 private:
  static std::int64_t symbol(std::int64_t place) { return std::mt19937_64(static_cast<std::uint64_t>(place))() % kSymbols; }

  std::int64_t size_, length_, first_;
};

}  // namespace ablate::tests
