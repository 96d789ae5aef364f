// Expressions with their answers, stored compactly: four bits per symbol.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "expression.h"

namespace ablate::listops {

class Examples {
 public:
  Examples() = default;
  /// Takes the three columns, as stored. Throws std::invalid_argument if they do not fit together.
  Examples(std::vector<std::uint32_t> lengths, std::vector<std::uint8_t> labels, std::vector<std::uint8_t> packed);

  void add(std::span<const Symbol> symbols, int label);
  /// Appends the examples [first, last) of `other`.
  void append(const Examples& other, std::size_t first, std::size_t last);

  std::size_t size() const { return labels_.size(); }
  int label(std::size_t i) const { return labels_[i]; }
  std::size_t length(std::size_t i) const { return lengths_[i]; }
  /// Returns the symbol of example i at a position below its length.
  Symbol symbol(std::size_t i, std::size_t position) const {
    return static_cast<Symbol>(packed_[starts_[i] + position / 2] >> (position % 2 * 4) & 15);
  }
  std::vector<Symbol> symbols(std::size_t i) const;

  const std::vector<std::uint32_t>& lengths() const { return lengths_; }
  const std::vector<std::uint8_t>& labels() const { return labels_; }
  /// Each example begins at a new byte. The symbol at an even position is in the low half of its byte.
  const std::vector<std::uint8_t>& packed() const { return packed_; }

 private:
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint8_t> labels_;
  std::vector<std::uint8_t> packed_;
  std::vector<std::uint64_t> starts_;  ///< start of each example in packed_
};

}  // namespace ablate::listops
