// Multi-query associative recall (Arora et al. 2023, section 4): pairs of a key and its value, then the keys again, each of
// which asks for its value. What is remembered is all that counts: no key means anything beyond its example.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <random>
#include <stdexcept>

#include "ablate/task.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::integer("length", "64", {4, 65536}, "every sequence has this length", "tokens"),
    ablate::text("pairs", "\"4\"", "", "pairs of key and value in an example; several numbers, \"2,4,8\", take turns"),
    ablate::integer("vocabulary", "8192", {4, 1048576}, "ids: 0 fills, the rest of the lower half are keys, the upper values"),
    ablate::integer("train", "100000", {1, 1e9}, "examples of the training split", "examples"),
    ablate::integer("dev", "3000", {1, 1e9}, "examples of the dev split", "examples"),
    ablate::integer("test", "3000", {1, 1e9}, "examples of the test split", "examples"),
    ablate::integer("data_seed", "0", {0, 9007199254740992}, "another seed, another data set"),
};

constexpr std::int64_t kSplits = 3;
constexpr double kPower = 0.01;       // of the published data: near places are the more likely ones, by gap^(power - 1)
constexpr double kFewestLists = 100;  // below that a split may be left with none

/// "2,4,8"; throws std::invalid_argument. @param most places for a query of each
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

class Recall final : public ablate::Task {
 public:
  explicit Recall(const ablate::TaskContext& context)
      : length_(context.parameters.integer("length")),
        vocabulary_(context.parameters.integer("vocabulary")),
        sizes_{context.parameters.integer("train"), context.parameters.integer("dev"), context.parameters.integer("test")},
        seed_(static_cast<std::uint64_t>(context.parameters.integer("data_seed"))),
        pairs_(numbers_of(context.parameters.text("pairs"), length_ / 4)) {
    const auto keys = vocabulary_ / 2 - 1, values = vocabulary_ - vocabulary_ / 2;
    double lists = 1;
    for (std::int64_t i = 0; i < pairs_.front(); ++i) lists *= static_cast<double>((keys - i) * (values - i));
    if (keys < pairs_.back() || lists < kFewestLists)
      throw std::invalid_argument("recall: vocabulary = " + std::to_string(vocabulary_) + " has " + std::to_string(keys) +
                                  " keys, expected at least one for each of " + std::to_string(pairs_.back()) +
                                  " pairs, and 100 different lists of " + std::to_string(pairs_.front()) + "; make it greater");
    for (std::int64_t gap = 0; gap < length_ / 2; ++gap) likely_.push_back(std::pow(static_cast<double>(gap + 1), kPower - 1));
  }

  ablate::TaskInfo info() override {
    return {.fields = {{.name = "token", .vocabulary = vocabulary_}},
            .length = length_,
            .classes = vocabulary_,
            .objective = ablate::Objective::kPositions,
            .causal = true,
            .slices = {"pairs"}};
  }
  void load() override {}  // an example is a function of its index
  std::string digest() const override {
    auto text = "recall 1 " + std::to_string(length_) + " " + std::to_string(vocabulary_) + " " + std::to_string(seed_);
    for (const auto size : sizes_) text += " " + std::to_string(size);
    for (const auto pairs : pairs_) text += "," + std::to_string(pairs);
    return text;
  }
  std::int64_t size(ablate::Split split) const override { return sizes_[static_cast<std::size_t>(split)]; }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto example = make(split, indices[row]);
      const auto pairs = example.size(), first = row * static_cast<std::size_t>(length_);
      batch.slices[row] = static_cast<std::int64_t>(pairs);
      for (std::size_t i = 0; i < pairs; ++i) {
        const auto& [key, value, place] = example[i];
        batch.ids[0][first + 2 * i] = key;
        batch.ids[0][first + 2 * i + 1] = value;
        batch.ids[0][first + place] = key;
        batch.targets[first + place] = value;
      }
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    std::string told, asked;
    for (const auto& [key, value, place] : make(split, index)) {
      told += " " + std::to_string(key) + ">" + std::to_string(value);
      asked += " " + std::to_string(key) + "@" + std::to_string(place);
    }
    return "told" + told + ", asked at" + asked;
  }

 private:
  struct Pair {
    std::int64_t key, value;
    std::size_t place;  ///< of the query
  };

  /// An example of an index. A list of keys and values belongs to one split, which its hash says: lists are drawn until one is
  /// this split's. Throws std::out_of_range.
  std::vector<Pair> make(ablate::Split split, std::int64_t index) const {
    if (index < 0 || index >= size(split))
      throw std::out_of_range("recall: found the index " + std::to_string(index) + ", expected one in [0, " +
                              std::to_string(size(split)) + ")");
    const auto number = static_cast<std::uint64_t>(index);
    const auto own = static_cast<std::uint64_t>(split);
    std::seed_seq mixed{seed_, seed_ >> 32, number, number >> 32, own};
    std::mt19937_64 random(mixed);
    std::vector<Pair> example(static_cast<std::size_t>(pairs_[number % pairs_.size()]));
    do {
      draw(example, &Pair::key, 1, vocabulary_ / 2, random);
      draw(example, &Pair::value, vocabulary_ / 2, vocabulary_, random);
    } while (hash(example) % kSplits != own);
    place(example, random);
    return example;
  }

  /// Different ids in [first, end).
  static void draw(std::vector<Pair>& example, std::int64_t Pair::*what, std::int64_t first, std::int64_t end,
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

  static std::uint64_t hash(const std::vector<Pair>& example) {
    std::uint64_t sum = 0;
    for (const auto& [key, value, place] : example)
      for (const auto id : {key, value}) {
        sum = (sum ^ static_cast<std::uint64_t>(id)) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
      }
    return sum;
  }

  /// Behind the pairs every second place may hold a query; one that is taken is not drawn again.
  void place(std::vector<Pair>& example, std::mt19937_64& random) const {
    const auto told = 2 * example.size();
    std::vector<double> weights(likely_.begin(),
                                likely_.begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(length_) - told) / 2));
    for (auto& pair : example) {
      double sum = 0;
      for (const auto weight : weights) sum += weight;
      double left = std::ldexp(static_cast<double>(random() >> 11), -53) * sum;
      std::size_t gap = 0;
      for (std::size_t i = 0; i < weights.size() && left >= 0; ++i) {
        if (weights[i] == 0) continue;
        gap = i;  // the last that is free, where rounding leaves something
        left -= weights[i];
      }
      weights[gap] = 0;
      pair.place = told + 2 * gap;
    }
  }

  std::int64_t length_, vocabulary_;
  std::int64_t sizes_[kSplits];
  std::uint64_t seed_;
  std::vector<std::int64_t> pairs_;
  std::vector<double> likely_;  ///< by gap between the pairs and a query
};

}  // namespace

ABLATE_TASK(Recall, {.id = "recall",
                     .version = "1.0.0",
                     .summary = "multi-query associative recall (MQAR): each key asks for its value",
                     .paper = "Arora et al. 2023, Zoology, arXiv 2312.04927, section 4",
                     .parameters = parameters})
