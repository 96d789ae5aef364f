// Content of a position as one symbol, whatever the field: an id, or the range that a number is in.
#pragma once

#include <cstdint>
#include <vector>

#include "core/trial/conformance/task/examples.h"

namespace ablate {

class Symbols {
 public:
  /// Cuts reals into `ranges` ranges that hold equally many of these examples' numbers.
  /// @param info must outlive this object
  Symbols(const TaskInfo& info, const std::vector<Example>& examples, std::size_t ranges);

  /// @param part a sequence's field: sequence * fields + field
  std::uint64_t operator()(const Example& example, std::size_t part, std::size_t position) const;
  std::size_t parts() const { return static_cast<std::size_t>(info_.sequences) * info_.fields.size(); }
  /// True if something is present at a position of a part's sequence.
  bool present(const Example& example, std::size_t part, std::size_t position) const {
    return example.present[part / info_.fields.size()][position] != 0;
  }
  /// Returns the number of positions up to the last position with content.
  static std::size_t end(const std::vector<std::uint8_t>& present);

 private:
  const TaskInfo& info_;
  std::vector<std::vector<std::vector<double>>> edges_;  ///< by field, then number
};

/// Returns the edges of `ranges` ranges with equally many values each.
std::vector<double> quantiles(std::vector<double> values, std::size_t ranges);

/// Mixes two numbers into one that looks random.
constexpr std::uint64_t mixed(std::uint64_t seed, std::uint64_t number) {
  auto hash = (((seed + 1) * 0xBF58476D1CE4E5B9U) ^ number) * 0x9E3779B97F4A7C15U;
  hash ^= hash >> 32;
  hash *= 0xD6E8FEB86659FD93U;
  return hash ^ (hash >> 32);
}

}  // namespace ablate
