#include "examples.h"

#include <stdexcept>

namespace ablate::listops {

Examples::Examples(std::vector<std::uint32_t> lengths, std::vector<std::uint8_t> labels, std::vector<std::uint8_t> packed)
    : lengths_(std::move(lengths)), labels_(std::move(labels)), packed_(std::move(packed)) {
  if (lengths_.size() != labels_.size()) throw std::invalid_argument("as many lengths as labels were expected");
  starts_.reserve(lengths_.size());
  std::uint64_t start = 0;
  for (const auto length : lengths_) {
    starts_.push_back(start);
    start += (std::uint64_t{length} + 1) / 2;
  }
  if (start != packed_.size()) throw std::invalid_argument("the lengths do not add up to the symbols that are there");
}

void Examples::add(std::span<const Symbol> symbols, int label) {
  starts_.push_back(packed_.size());
  lengths_.push_back(static_cast<std::uint32_t>(symbols.size()));
  labels_.push_back(static_cast<std::uint8_t>(label));
  for (std::size_t i = 0; i < symbols.size(); i += 2)
    packed_.push_back(static_cast<std::uint8_t>(symbols[i] | (i + 1 < symbols.size() ? symbols[i + 1] << 4 : 0)));
}

void Examples::append(const Examples& other, std::size_t first, std::size_t last) {
  if (first == last) return;
  const auto from = other.starts_[first], to = last < other.size() ? other.starts_[last] : other.packed_.size();
  for (std::size_t i = first; i < last; ++i) starts_.push_back(packed_.size() + other.starts_[i] - from);
  lengths_.insert(lengths_.end(), other.lengths_.begin() + first, other.lengths_.begin() + last);
  labels_.insert(labels_.end(), other.labels_.begin() + first, other.labels_.begin() + last);
  packed_.insert(packed_.end(), other.packed_.begin() + from, other.packed_.begin() + to);
}

std::vector<Symbol> Examples::symbols(std::size_t i) const {
  std::vector<Symbol> result(length(i));
  for (std::size_t position = 0; position < result.size(); ++position) result[position] = symbol(i, position);
  return result;
}

}  // namespace ablate::listops
