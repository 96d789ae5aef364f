#include "lists.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "ablate/examples.h"

namespace ablate::recall {
namespace {

constexpr double kPower = 0.01;       // published value: nearer places are more likely, by gap^(power - 1)
constexpr double kFewestLists = 100;  // with fewer possible lists of pairs, a split might get none

/// Parses a list like "2,4,8". Throws std::invalid_argument unless the numbers are rising and in [1, most].
std::vector<std::int64_t> numbers_of(const std::string& text, std::int64_t most) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (bool more = true; more;) {
    while (at != end && *at == ' ') ++at;
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    more = stop != end && *stop == ',';
    if (error != std::errc() || (!more && stop != end) || number < 1 || number > most ||
        (!numbers.empty() && number <= numbers.back()))
      throw std::invalid_argument("recall: pairs = \"" + text + "\": expected rising numbers from 1 to length / 4 = " +
                                  std::to_string(most) + ", separated by commas");
    numbers.push_back(number);
    at = stop + (more ? 1 : 0);
  }
  return numbers;
}

/// Draws different ids in [first, end) for the member `what` of each pair.
void draw_ids(std::vector<Pair>& example, std::int64_t Pair::*what, std::int64_t first, std::int64_t end,
              std::mt19937_64& random) {
  for (auto at = example.begin(); at != example.end(); ++at) {
    const auto taken = [&](std::int64_t id) {
      return std::any_of(example.begin(), at, [&](const Pair& pair) { return pair.*what == id; });
    };
    do {
      (*at).*what = first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end - first));
    } while (taken((*at).*what));
  }
}

Ids ids_of(const std::vector<Pair>& example) {
  Ids ids;
  for (const auto& [key, value, place] : example) ids.insert(ids.end(), {key, value});
  return ids;
}

}  // namespace

Lists::Lists(std::int64_t length, std::int64_t vocabulary, const std::string& pairs)
    : length_(length), vocabulary_(vocabulary), pairs_(numbers_of(pairs, length / 4)) {
  const auto keys = vocabulary_ / 2 - 1, values = vocabulary_ - vocabulary_ / 2;
  double lists = 1;
  for (std::int64_t i = 0; i < pairs_.front(); ++i) lists *= static_cast<double>((keys - i) * (values - i));
  if (keys < pairs_.back() || lists < kFewestLists)
    throw std::invalid_argument("recall: vocabulary = " + std::to_string(vocabulary_) + " has " + std::to_string(keys) +
                                " keys, expected at least one for each of " + std::to_string(pairs_.back()) +
                                " pairs, and 100 different lists of " + std::to_string(pairs_.front()) + "; raise vocabulary");
  for (std::int64_t gap = 0; gap < length_ / 2; ++gap) likely_.push_back(std::pow(static_cast<double>(gap + 1), kPower - 1));
}

std::vector<Pair> Lists::draw(Split split, std::size_t turn, std::mt19937_64& random) const {
  const auto drawn = [&] {
    std::vector<Pair> pairs(static_cast<std::size_t>(pairs_[turn % pairs_.size()]));
    draw_ids(pairs, &Pair::key, 1, vocabulary_ / 2, random);
    draw_ids(pairs, &Pair::value, vocabulary_ / 2, vocabulary_, random);
    return pairs;
  };
  auto example = draw_until(
      drawn, [&](const auto& pairs) { return belongs_to(split, short_hash(ids_of(pairs))); },
      [&] { return too_few_rows(length_, vocabulary_); });
  place(example, random);
  return example;
}

/// Places the queries. Every second position after the pairs may hold a query, and no position is drawn twice.
void Lists::place(std::vector<Pair>& example, std::mt19937_64& random) const {
  const auto pairs_end = 2 * example.size();
  std::vector<double> weights(
      likely_.begin(), likely_.begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(length_) - pairs_end) / 2));
  for (auto& pair : example) {
    double sum = 0;
    for (const auto weight : weights) sum += weight;
    double left = std::ldexp(static_cast<double>(random() >> 11), -53) * sum;
    std::size_t gap = 0;
    for (std::size_t i = 0; i < weights.size() && left >= 0; ++i) {
      if (weights[i] == 0) continue;
      gap = i;  // if rounding errors prevent a choice, the last free position is left
      left -= weights[i];
    }
    weights[gap] = 0;
    pair.place = pairs_end + 2 * gap;
  }
}

}  // namespace ablate::recall
