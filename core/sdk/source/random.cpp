#include "ablate/random.h"

#include <numeric>
#include <stdexcept>
#include <string>

namespace ablate {

std::mt19937_64 generator(std::uint64_t seed, std::initializer_list<std::uint64_t> words) {
  std::vector<std::uint64_t> all = {seed, seed >> 32};
  all.insert(all.end(), words);
  std::seed_seq mixed(all.begin(), all.end());
  return std::mt19937_64(mixed);
}

std::array<Places, 3> split_by_seed(std::size_t count, std::size_t dev, std::size_t test, std::uint64_t seed) {
  if (dev >= count || test >= count - dev)
    throw std::invalid_argument("dev = " + std::to_string(dev) +
                                (test > 0 ? " and test = " + std::to_string(test) + " leave" : " leaves") + " none of " +
                                std::to_string(count) + " examples for training, expected fewer than " + std::to_string(count) +
                                (test > 0 ? " together" : ""));
  std::array<Places, 3> splits;
  auto& train = splits[0];
  train.resize(count);
  std::iota(train.begin(), train.end(), 0u);
  std::mt19937_64 random(seed);
  shuffle(train, random);
  for (const auto& [split, size] : {std::pair{1, dev}, std::pair{2, test}}) {
    splits[static_cast<std::size_t>(split)].assign(train.end() - static_cast<std::ptrdiff_t>(size), train.end());
    train.resize(train.size() - size);
  }
  return splits;
}

}  // namespace ablate
