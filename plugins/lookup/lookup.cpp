// Looks up values by keys. Some positions have a key and its value. As many have only a key, whose value is the target. The
// rest are blank. One attention layer can solve the task, so the result depends only on the contents of a memory of few slots.
#include <algorithm>

#include "ablate/examples.h"
#include "ablate/task.h"

namespace {

using ablate::Ids;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("length", "64", {4, 65536}, "every sequence has this length", "tokens"),
    ablate::integer("pairs", "8", {1, 32768}, "pairs of key and value, each queried once; at most length / 2"),
    ablate::integer("keys", "32", {2, 65536}, "different keys; at least as many as pairs"),
    ablate::integer("values", "16", {2, 65536}, "different values; at least as many as pairs"),
    ablate::integer("train", "100000", {1, 1e9}, "examples of the training split", "examples"),
    ablate::integer("dev", "3000", {1, 1e9}, "examples of the dev split", "examples"),
    ablate::integer("test", "3000", {1, 1e9}, "examples of the test split", "examples"),
    ablate::integer("data_seed", "0", {0, 9007199254740992}, "seed of the data set"),
};

constexpr double kFewestLists = 100;  // with fewer possible lists of pairs, a split might get none

struct Pair {
  std::int64_t key, value;
  std::size_t pair_at, query_at;  ///< positions
};

/// Returns `count` different numbers of [0, end), in random order.
Ids draw_different(std::int64_t count, std::int64_t end, std::mt19937_64& random) {
  Ids numbers(static_cast<std::size_t>(end));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    std::swap(numbers[i], numbers[i + ablate::below(numbers.size() - i, random)]);
  numbers.resize(static_cast<std::size_t>(count));
  return numbers;
}

class Lookup final : public ablate::GeneratedTask {
 public:
  explicit Lookup(const ablate::TaskContext& context)
      : GeneratedTask(context.parameters),
        length_(context.parameters.integer("length")),
        pairs_(context.parameters.integer("pairs")),
        keys_(context.parameters.integer("keys")),
        values_(context.parameters.integer("values")) {
    const auto pairs = std::to_string(pairs_);
    ablate::expect(pairs_ <= length_ / 2, "pairs", pairs_, "at most length / 2 = " + std::to_string(length_ / 2));
    ablate::expect(keys_ >= pairs_, "keys", keys_, "at least pairs = " + pairs);
    ablate::expect(values_ >= pairs_, "values", values_, "at least pairs = " + pairs);
    double lists = 1;
    for (std::int64_t i = 0; i < pairs_; ++i) lists *= static_cast<double>((keys_ - i) * (values_ - i));
    ablate::expect(lists >= kFewestLists, "pairs", pairs_, "more pairs, keys or values: at least 100 different lists");
  }

  ablate::TaskInfo info() override {
    return {.fields = {{.name = "key", .vocabulary = keys_ + 1}, {.name = "value", .vocabulary = values_ + 1}},
            .length = length_,
            .classes = values_,
            .objective = ablate::Objective::kPositions};
  }
  std::string digest() const override { return ablate::in_words("lookup 1", length_, pairs_, keys_, values_, seed(), sizes()); }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto first = row * static_cast<std::size_t>(length_);
      for (const auto& [key, value, pair_at, query_at] : make(split, indices[row])) {
        batch.ids[0][first + pair_at] = key + 1;  // 0: a blank
        batch.ids[1][first + pair_at] = value + 1;
        batch.ids[0][first + query_at] = key + 1;
        batch.targets[first + query_at] = value;
      }
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    std::string pairs, queries;
    for (const auto& pair : make(split, index)) {
      const auto key = " " + std::to_string(pair.key);
      pairs += key + ">" + std::to_string(pair.value) + "@" + std::to_string(pair.pair_at);
      queries += key + "@" + std::to_string(pair.query_at);
    }
    return "pairs" + pairs + ", queries" + queries;
  }

 private:
  std::vector<Pair> make(ablate::Split split, std::int64_t index) const {
    auto random = random_of(split, index);
    const auto draw = [&] {  // sorted by key: positions are random, so another order would be the same list
      auto list = draw_different(pairs_, keys_, random);
      std::sort(list.begin(), list.end());
      const auto values = draw_different(pairs_, values_, random);
      list.insert(list.end(), values.begin(), values.end());
      return list;
    };
    const auto list = ablate::draw_until(
        draw, [&](const Ids& ids) { return belongs_to(split, ablate::short_digest(ids)); },
        [&] { return ablate::too_few_rows(length_, keys_ + values_); });
    const auto positions = draw_different(2 * pairs_, length_, random);
    const auto count = static_cast<std::size_t>(pairs_);
    std::vector<Pair> pairs(count);
    for (std::size_t i = 0; i < count; ++i)
      pairs[i] = {list[i], list[count + i], static_cast<std::size_t>(positions[i]),
                  static_cast<std::size_t>(positions[count + i])};
    return pairs;
  }

  std::int64_t length_, pairs_, keys_, values_;
};

}  // namespace

ABLATE_TASK(Lookup, {.id = "lookup",
                     .version = "1.0.0",
                     .summary = "values by their keys, in both directions: measures a memory of few slots",
                     .parameters = parameters})
