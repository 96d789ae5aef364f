// Sorting by frequency (Martins, Marinho and Martins 2022, infinity-former, section 4.1): a long sequence, a separator, and
// then its symbols by decreasing frequency. Frequencies drift along the sequence, so neither its beginning nor its end reveals
// the order. A model that reads the sequence in segments must remember all segments.
#include <algorithm>
#include <numeric>

#include "ablate/examples.h"
#include "ablate/task.h"

namespace {

using ablate::Ids;
using Weights = std::vector<std::uint64_t>;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("length", "512", {32, 65536}, "positions: the sequence, and one per symbol for the answer", "tokens"),
    ablate::integer("symbols", "20", {2, 1000}, "symbols to sort; the separator is one more id"),
    ablate::text("shares", "\"uniform\"", "published|uniform",
                 "shares of the symbols at the beginning and at the end; uniform: all equally likely; published: from integer "
                 "weights 1 to 9"),
    ablate::integer("train", "20000", {1, 1e9}, "examples of the training split", "examples"),
    ablate::integer("dev", "500", {1, 1e9}, "examples of the dev split", "examples"),
    ablate::integer("test", "500", {1, 1e9}, "examples of the test split", "examples"),
    ablate::integer("data_seed", "0", {0, 9007199254740992}, "seed of the data set"),
};

/// Shares of the symbols at the beginning and at the end, in integers, which are the same on every machine.
struct Shares {
  Weights early, late;  ///< [symbols], with sum `whole`
  std::uint64_t whole;
};

/// Shares with sum 2^32, drawn uniformly: the gaps between sorted random numbers.
Weights draw_uniform(std::size_t symbols, std::mt19937_64& random) {
  Weights ends(symbols);
  for (auto& end : ends) end = random() >> 32;
  ends.back() = std::uint64_t{1} << 32;
  std::sort(ends.begin(), ends.end());
  std::adjacent_difference(ends.begin(), ends.end(), ends.begin());
  return ends;
}

Weights draw_weights(std::size_t symbols, std::mt19937_64& random) {
  Weights weights(symbols);
  for (auto& weight : weights) weight = 1 + ablate::below(9, random);
  return weights;
}

Shares draw_shares(bool published, std::size_t symbols, std::mt19937_64& random) {
  if (!published) return {draw_uniform(symbols, random), draw_uniform(symbols, random), std::uint64_t{1} << 32};
  Shares shares{draw_weights(symbols, random), draw_weights(symbols, random), 0};
  const auto of_early = std::reduce(shares.early.begin(), shares.early.end()),
             of_late = std::reduce(shares.late.begin(), shares.late.end());
  for (auto& weight : shares.early) weight *= of_late;
  for (auto& weight : shares.late) weight *= of_early;
  shares.whole = of_early * of_late;
  return shares;
}

/// Sorts by decreasing frequency, ties by first occurrence. Symbols that do not occur come last, by number.
Ids sorted(const Ids& sequence, std::size_t symbols) {
  std::vector<std::size_t> count(symbols, 0), first(symbols, sequence.size());
  for (std::size_t at = sequence.size(); at-- > 0;)
    ++count[static_cast<std::size_t>(sequence[at])], first[static_cast<std::size_t>(sequence[at])] = at;
  Ids order(symbols);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t one, std::int64_t other) {
    const auto a = static_cast<std::size_t>(one), b = static_cast<std::size_t>(other);
    return count[a] != count[b] ? count[a] > count[b] : first[a] < first[b];
  });
  return order;
}

class Sort final : public ablate::GeneratedTask {
 public:
  explicit Sort(const ablate::TaskContext& context)
      : GeneratedTask(context.parameters),
        length_(static_cast<std::size_t>(context.parameters.integer("length"))),
        symbols_(static_cast<std::size_t>(context.parameters.integer("symbols"))),
        published_(context.parameters.text("shares") == "published") {
    ablate::expect(length_ >= symbols_ + 16, "length", context.parameters.integer("length"),
                   "at least " + std::to_string(symbols_ + 16) + ": 16 tokens to sort, and an answer of " +
                       std::to_string(symbols_) + " symbols");
  }

  ablate::TaskInfo info() override {
    return {.fields = {{.name = "symbol", .vocabulary = static_cast<std::int64_t>(symbols_ + 1)}},
            .length = static_cast<std::int64_t>(length_),
            .classes = static_cast<std::int64_t>(symbols_),
            .objective = ablate::Objective::kPositions,
            .causal = true,
            .metrics = {{"leading", "%", "max", "share of the order that is right before the first symbol that is wrong"}}};
  }
  std::string digest() const override {
    return ablate::in_words("sort 1", length_, symbols_, seed(), sizes()) + (published_ ? " published" : "");
  }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto sequence = make(split, indices[row]);
      const auto order = sorted(sequence, symbols_);
      const auto ids = batch.ids[0].subspan(row * length_, length_), targets = batch.targets.subspan(row * length_, length_);
      std::ranges::copy(sequence, ids.begin());
      ids[sequence.size()] = static_cast<std::int64_t>(symbols_);
      for (std::size_t rank = 0; rank < symbols_; ++rank) {
        targets[sequence.size() + rank] = order[rank];
        if (rank + 1 < symbols_) ids[sequence.size() + rank + 1] = order[rank];
      }
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    const auto sequence = make(split, index);
    std::string text;
    for (const auto symbol : sequence) text += std::to_string(symbol) + " ";
    text += ">";
    for (const auto symbol : sorted(sequence, symbols_)) text += " " + std::to_string(symbol);
    return text;
  }

  /// The input contains the right answers. Only the model's own answers before its first wrong answer count, and these equal
  /// the answers in the input.
  void judge(ablate::Split split, std::int64_t index, std::span<const std::int64_t> answers,
             std::span<double> values) const override {
    const auto order = sorted(make(split, index), symbols_);
    const auto answered = answers.subspan(length_ - symbols_);
    const auto wrong = std::ranges::mismatch(order, answered).in1;
    values[0] = 100.0 * static_cast<double>(wrong - order.begin()) / static_cast<double>(symbols_);
  }

 private:
  /// Each position draws from one of two mixtures of symbols. The probability of the second mixture rises evenly: from 0 at the
  /// first position (published: one step before it) to 1 at the last.
  Ids make(ablate::Split split, std::int64_t index) const {
    auto random = random_of(split, index);
    const auto [early, late, whole] = draw_shares(published_, symbols_, random);
    Ids sequence(length_ - symbols_);
    const std::size_t before = published_ ? 1 : 0, steps = sequence.size() - 1 + before;
    for (std::size_t at = 0; at < sequence.size(); ++at) {
      auto left = random() % (whole * steps);
      std::size_t symbol = 0;
      for (; symbol + 1 < symbols_; ++symbol) {
        const auto weight = early[symbol] * (steps - before - at) + late[symbol] * (before + at);
        if (left < weight) break;
        left -= weight;
      }
      sequence[at] = static_cast<std::int64_t>(symbol);
    }
    return sequence;
  }

  std::size_t length_, symbols_;
  bool published_;  ///< true if shares are drawn as published
};

}  // namespace

ABLATE_TASK(Sort, {.id = "sort",
                   .version = "1.1.0",
                   .summary = "symbols of a long sequence by decreasing frequency",
                   .paper = "Martins, Marinho and Martins 2022, infinity-former, arXiv 2109.00301, section 4.1",
                   .parameters = parameters})
