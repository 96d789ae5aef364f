#include "words.h"

#include <string>
#include <vector>

namespace ablate::formal {
namespace {

constexpr Split kSplits[] = {Split::kTrain, Split::kDev, Split::kTest};

}  // namespace

Words::Words(const Language& language, const std::array<Lengths, 3>& lengths, std::uint64_t seed)
    : language_(language), lengths_(lengths) {
  // The shortest words are the fewest. Throws if a split includes the shortest length of any split, and has no such word.
  for (const auto split : kSplits)
    for (const auto& [shortest, longest] : lengths_)
      if (has(split, shortest)) {
        auto random = generator(seed, {static_cast<std::uint64_t>(split)});
        find(split, shortest, random);
      }
}

Row Words::draw(Split split, std::mt19937_64& random) const {
  const auto [shortest, longest] = of(split);
  const auto step = language_.step();
  const auto lengths = static_cast<std::uint64_t>((longest - shortest) / step + 1);
  return find(split, shortest + step * static_cast<std::int64_t>(below(lengths, random)), random);
}

std::int64_t Words::slice_of(std::int64_t length) const {
  auto first = of(Split::kTrain).longest;
  while (first > length) first /= 2;
  while (2 * first <= length) first *= 2;
  return first;
}

bool Words::has(Split split, std::int64_t length) const { return length >= of(split).shortest && length <= of(split).longest; }

/// True if the word's digest assigns it to this split, among all splits that have words of its length.
bool Words::belongs_to(Split split, const Ids& ids) const {
  std::vector<Split> owners;
  for (const auto owner : kSplits)
    if (has(owner, std::ssize(ids))) owners.push_back(owner);
  return owners.size() == 1 || owners[short_digest(ids) % owners.size()] == split;
}

Row Words::find(Split split, std::int64_t length, std::mt19937_64& random) const {
  return draw_until([&] { return language_.draw(length, random); },
                    [&](const Row& word) { return belongs_to(split, word.ids); },
                    [&] {
                      return "shortest = " + std::to_string(length) +
                             ", expected more: the language has too few words of this length for different words in each split";
                    });
}

}  // namespace ablate::formal
