// Finds examples of one split that are nearly the same as examples of another split.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/trial/audit/looks.h"
#include "core/trial/conformance/task/symbols.h"
#include "core/trial/floors/tables.h"

namespace ablate {
namespace {

constexpr std::size_t kMostKnown = 1000, kCounters = 1 << 22, kSketch = 16, kFewestShared = 4, kMostCandidates = 4;
constexpr std::size_t kShortestRun = 2, kLongestRun = 24;
/// Least information of a match, in nats. A pair matches by chance with probability e^-23, so that among 10^4 times 10^3 pairs
/// a match occurs once in e^7 tasks.
constexpr double kNoChance = 23;
/// The same limit for the places of repeated symbols. It is lower, because all pairs must also show the same renaming.
constexpr double kLittleChance = 5;
constexpr double kRareRun = 14;   // nats: a run of random symbols occurs at one of e^14 places
constexpr double kCommon = 0.25;  // nats: weight of an item that about three of four examples contain

/// Finds examples that are nearly the same. Compares the symbols at each position, the runs of symbols, the count of each
/// symbol, and the places where symbols are repeated. Items that occur in most examples weigh little.
class Likeness {
 public:
  /// Least share of the items that two versions of one real text have in common.
  static constexpr double kNearlyAll = 0.8;
  /// Least share for two drawn examples that are alike. Other drawn examples share little except the items that all have.
  static constexpr double kMuch = 0.4;
  /// Share of runs in common. Two windows of one text that overlap by half share at most a third of their runs, often fewer.
  static constexpr double kOverlap = 0.2;

  /// kBackwards compares the positions of an example in reverse order. kCounts finds the same symbols in any order. kRepeats
  /// finds examples where each symbol was replaced by another one.
  enum class By : std::uint64_t { kPositions, kRuns, kCounts, kRepeats, kBackwards };
  /// Hashes of an example's items (a symbol at a position, a run, a count, or a repeated symbol), sorted, without duplicates.
  using Items = std::vector<std::uint64_t>;
  static constexpr By kAll[] = {By::kPositions, By::kRuns, By::kCounts, By::kRepeats};

  /// @param examples used to find common items
  /// @param share least share of weighted items that two examples must have in common to be alike
  /// @param info must outlive this object
  Likeness(const TaskInfo& info, const std::vector<Example>& examples, double share)
      : info_(info), symbols_(info, examples, 16), share_(share), counts_(kCounters) {
    std::map<std::uint64_t, double> singles;
    double total = 0;
    const auto known = std::min(examples.size(), kMostKnown);
    for (std::size_t i = 0; i < std::min<std::size_t>(known, 200); ++i)
      for (std::size_t at = 0; at < examples[i].present.front().size(); ++at)
        if (symbols_.present(examples[i], 0, at)) ++singles[symbols_(examples[i], 0, at)], ++total;
    for (const auto& [symbol, count] : singles) nats_ -= count / total * std::log(count / total);
    run_ = std::clamp(static_cast<std::size_t>(std::ceil(kRareRun / std::max(nats_, 0.1))), kShortestRun, kLongestRun);
    for (std::size_t i = 0; i < known; ++i)
      for (const auto by : kAll)
        for (const auto item : items(examples[i], by)) ++counts_[item % kCounters];
    known_ = static_cast<double>(known);
  }

  /// Returns the items of one kind. Runs ignore the order of sequences, so they also match a pair with swapped documents.
  Items items(const Example& example, By by) const {
    const auto kind = static_cast<std::uint64_t>(by);
    Items all;
    std::unordered_map<std::uint64_t, std::uint64_t> known;  // count of a token, or the position after its last occurrence
    switch (by) {
      case By::kPositions:
      case By::kBackwards:
        each_token(example, [&](std::uint64_t token, std::size_t sequence, std::size_t at) {
          all.push_back(mixed(token, by == By::kPositions ? at : Symbols::end(example.present[sequence]) - 1 - at));
        });
        break;
      case By::kRuns:
        all = runs(example);
        break;
      case By::kCounts:
        each_token(example, [&](std::uint64_t token, std::size_t, std::size_t) { ++known[token]; });
        for (const auto& [token, count] : known) all.push_back(mixed(mixed(kind, token), count));
        break;
      case By::kRepeats:
        each_token(example, [&](std::uint64_t token, std::size_t sequence, std::size_t at) {
          const auto back = at + 1 - std::exchange(known[mixed(token, sequence)], at + 1);
          all.push_back(mixed(mixed(mixed(kind, back), sequence), at));
        });
        break;
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  /// Adds an example. candidates() can return its `number`.
  void add(const Example& example, std::int64_t number) {
    const auto place = static_cast<std::uint32_t>(numbers_.size());
    numbers_.push_back(number);
    for (const auto by : kAll)
      for (const auto item : sketch(items(example, by))) sketches_[item].push_back(place);
  }

  /// Returns the numbers of up to 4 examples that may be nearly the same as the example with these items, the likeliest first.
  std::vector<std::int64_t> candidates(const Items& items) const {
    std::vector<std::uint32_t> shared(numbers_.size());
    std::vector<std::uint32_t> found;
    for (const auto item : sketch(items))
      if (const auto known = sketches_.find(item); known != sketches_.end())
        for (const auto place : known->second)
          if (++shared[place] == kFewestShared) found.push_back(place);
    std::sort(found.begin(), found.end(),
              [&](auto a, auto b) { return shared[a] != shared[b] ? shared[a] > shared[b] : a < b; });
    if (found.size() > kMostCandidates) found.resize(kMostCandidates);
    std::vector<std::int64_t> numbers;
    for (const auto place : found) numbers.push_back(numbers_[place]);
    return numbers;
  }

  /// True if two examples share enough of their items of one kind, and more than by chance.
  bool alike(const Items& a, const Items& b, By by) const {
    double shared = 0, all = 0, by_chance = 0;
    for (auto i = a.begin(), j = b.begin(); i != a.end() || j != b.end();) {
      const bool both = i != a.end() && j != b.end() && *i == *j;
      const bool of_a = j == b.end() || (i != a.end() && *i <= *j);
      const auto item = of_a ? *i : *j;
      const double worth = weight(item);
      all += worth;
      if (both) shared += worth;
      if (of_a) by_chance += worth * std::exp(-worth);  // exp(-worth): share of examples that have the item
      if (i != a.end() && *i == item) ++i;
      if (j != b.end() && *j == item) ++j;
    }
    if (share_ < kNearlyAll) shared -= by_chance, all -= by_chance;
    switch (by) {
      case By::kPositions:
        return shared >= share_ * all && shared >= kNoChance;
      case By::kRuns:
        // Neighbouring runs overlap in all but one symbol, so each shared run counts as the information of one symbol. The
        // logarithm is the weight of an item that no example has.
        return shared >= kOverlap * all && shared * nats_ >= kNoChance * -std::log(0.5 / (known_ + 0.5));
      case By::kBackwards:
      case By::kCounts:
        return shared >= kNearlyAll * all && shared >= kNoChance;
      case By::kRepeats:
        break;
    }
    return shared >= kNearlyAll * all && shared >= kLittleChance;
  }

  /// Returns the present symbols in order, all fields of a position as one symbol.
  std::vector<std::uint64_t> tokens(const Example& example) const {
    std::vector<std::uint64_t> all;
    each_token(example, [&](std::uint64_t token, std::size_t, std::size_t) { all.push_back(token); });
    return all;
  }

  /// Returns the number of positions by which most runs shared by a and b are later in b. Returns 0 if no run is shared.
  std::int64_t shift(const Example& a, const Example& b) const {
    std::unordered_map<std::uint64_t, std::int64_t> places;
    std::map<std::int64_t, int> votes;
    const auto before = runs(b), own = runs(a);
    for (std::size_t at = 0; at < before.size(); ++at) places.emplace(before[at], at);
    for (std::size_t at = 0; at < own.size(); ++at)
      if (const auto found = places.find(own[at]); found != places.end())
        ++votes[found->second - static_cast<std::int64_t>(at)];
    const auto most = std::ranges::max_element(votes, {}, [](const auto& one) { return one.second; });
    return most == votes.end() ? 0 : most->first;
  }

 private:
  template <class Take>
  void each_token(const Example& example, const Take& take) const {
    const auto fields = info_.fields.size();
    for (std::size_t sequence = 0; sequence < example.present.size(); ++sequence)
      for (std::size_t at = 0; at < example.present[sequence].size(); ++at) {
        if (example.present[sequence][at] == 0) continue;
        std::uint64_t token = 0;
        for (std::size_t field = 0; field < fields; ++field)
          token = mixed(token, symbols_(example, sequence * fields + field, at));
        take(token, sequence, at);
      }
  }

  std::vector<std::uint64_t> runs(const Example& example) const {
    std::vector<std::uint64_t> all, run;
    std::size_t own = 0;
    each_token(example, [&](std::uint64_t token, std::size_t sequence, std::size_t) {
      if (std::exchange(own, sequence) != sequence) run.clear();
      run.push_back(token);
      if (run.size() < run_) return;
      auto hash = static_cast<std::uint64_t>(By::kRuns);
      for (std::size_t i = run.size() - run_; i < run.size(); ++i) hash = mixed(hash, run[i]);
      all.push_back(hash);
    });
    return all;
  }

  double weight(std::uint64_t item) const {
    return -std::log((std::min(static_cast<double>(counts_[item % kCounters]), known_) + 0.5) / (known_ + 0.5));
  }

  /// Returns the few uncommon items with the smallest hashes, so that equal examples give equal items.
  std::vector<std::uint64_t> sketch(const Items& items) const {
    std::vector<std::uint64_t> few;
    for (auto at = items.begin(); at != items.end() && few.size() < kSketch; ++at)
      if (weight(*at) > kCommon) few.push_back(*at);
    return few;
  }

  const TaskInfo& info_;
  Symbols symbols_;
  double share_;
  std::size_t run_ = 1;  ///< symbols in a run
  double nats_ = 0;      ///< information of a symbol
  double known_ = 0;     ///< number of counted examples
  std::vector<std::uint32_t> counts_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> sketches_;
  std::vector<std::int64_t> numbers_;
};

constexpr Allowed kFewAlike{0.01, "another data_seed makes other examples, so the task can draw a repeated example again"},
    kRealAlike{0.1, "real data contain other versions of the same example"};
constexpr std::int64_t kMostSearched = 10'000, kMostPositions = 1 << 22;
constexpr std::size_t kMostCompared = 500;
constexpr std::int64_t kFewestNear = 5;  // with fewer matches, the share of matches in the whole split is not estimated

/// Counts the targets that both examples have, and the equal ones among them.
/// @param shift number of positions by which targets are later in b than in a
void compare_targets(const Example& a, const Example& b, std::int64_t shift, Hits& score) {
  double met = 0, asked = 0;
  for (auto at = std::max<std::int64_t>(0, -shift); at < std::min(std::ssize(a.targets), std::ssize(b.targets) - shift); ++at) {
    const auto one = a.targets[static_cast<std::size_t>(at)], other = b.targets[static_cast<std::size_t>(at + shift)];
    if (one < 0 || other < 0) continue;
    ++asked;
    met += one == other ? 1 : 0;
  }
  score.add(met, asked);
}

/// Examples of one split that are nearly the same as examples of an earlier split.
struct Near {
  std::int64_t compared = 0, count = 0;
  Hits looked_up;  ///< hits of a predictor that answers with the label of the match
  std::string first;
};

/// An example, and a similar example of the other split.
struct Match {
  const Example* own;
  std::int64_t index;
  Example other;
  const char* how;
};

/// True if one renaming explains all pairs: each symbol has the same partner in both halves of the pairs. If the task itself
/// makes examples repeat symbols at the same places, each pair has a different renaming.
bool is_one_renaming(const Likeness& likeness, std::span<const Match> pairs) {
  constexpr std::size_t kFewestPairs = 10;
  if (pairs.size() < kFewestPairs) return false;
  std::unordered_map<std::uint64_t, std::unordered_map<std::uint64_t, int>> made, judged;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto own = likeness.tokens(*pairs[i].own), other = likeness.tokens(pairs[i].other);
    for (std::size_t at = 0; at < std::min(own.size(), other.size()); ++at) ++(i % 2 == 0 ? made : judged)[own[at]][other[at]];
  }
  double met = 0, asked = 0;  // each symbol counts once, because marks that are equal in all examples would outvote the rest
  for (const auto& [symbol, others] : judged) {
    const auto known = made.find(symbol);
    if (known == made.end()) continue;
    const auto name = std::ranges::max_element(known->second, {}, [](const auto& one) { return one.second; })->first;
    double all = 0;
    for (const auto& [other, count] : others) all += count;
    const auto found = others.find(name);
    met += found == others.end() ? 0 : found->second / all;
    ++asked;
  }
  return met >= Likeness::kNearlyAll * std::max(asked, 2.0);
}

Near near_to(const SampledTask& subject, const Likeness& likeness, const NamedSplit& on, Split before) {
  using By = Likeness::By;
  Near near;
  const auto& sample = subject.sample(on.split);
  std::vector<Match> renamed;
  const auto find = [&](const Example& example, By by, By of_other, const char* how) -> std::optional<Match> {
    const auto own = likeness.items(example, by);
    for (const auto index : likeness.candidates(own)) {
      auto other = read_examples(*subject.task, subject.info, before, {&index, 1}).front();
      if (hash_of(other) != hash_of(example) && likeness.alike(own, likeness.items(other, of_other), by))
        return Match{&example, index, std::move(other), how};
    }
    return std::nullopt;
  };
  const auto add = [&](const Match& pair, std::int64_t shift) {
    compare_targets(*pair.own, pair.other, shift, near.looked_up);
    if (near.count++ == 0)
      near.first =
          fmt::format("example {} is nearly example {}{}",
                      sample.indices[static_cast<std::size_t>(pair.own - sample.examples.data())], pair.index, pair.how);
  };
  for (const auto* judged : some_of(sample.examples, kMostCompared)) {
    ++near.compared;
    auto pair = find(*judged, By::kPositions, By::kPositions, "");
    if (!pair) pair = find(*judged, By::kRuns, By::kRuns, "");
    if (pair) {
      add(*pair, pair->own->targets.size() > 1 && !subject.info.holes ? likeness.shift(*pair->own, pair->other) : 0);
      continue;
    }
    pair = find(*judged, By::kBackwards, By::kPositions, " in reverse");
    if (!pair) pair = find(*judged, By::kCounts, By::kCounts, " in another order");
    if (pair)
      add(*pair, 0);
    else if ((pair = find(*judged, By::kRepeats, By::kRepeats, " in other symbols")))
      renamed.push_back(std::move(*pair));
  }
  if (is_one_renaming(likeness, renamed))
    for (const auto& pair : renamed) add(pair, 0);
  return near;
}

}  // namespace

/// @param on two splits: the second one must contain nearly no copies of examples of the first one
void near_duplicates(const SampledTask& subject, Splits on, Finding& finding) {
  const auto before = on.front().split;
  Likeness likeness(subject.info, subject.sample(before).examples,
                    subject.is_generated() ? Likeness::kMuch : Likeness::kNearlyAll);
  const auto positions = std::max<std::int64_t>(subject.info.length * subject.info.sequences, 1);
  const auto most = std::clamp<std::int64_t>(kMostPositions / positions, 2, kMostSearched);
  const auto indices = drawn_indices(subject.info, subject.task->size(before), most);
  for (std::size_t begin = 0; begin < indices.size(); begin += 256) {
    const std::span part(indices.data() + begin, std::min<std::size_t>(256, indices.size() - begin));
    const auto examples = read_examples(*subject.task, subject.info, before, part);
    for (std::size_t i = 0; i < part.size(); ++i) likeness.add(examples[i], part[i]);
  }
  const auto& examples = subject.sample(on.back().split).examples;
  const auto near = near_to(subject, likeness, on.back(), before);
  if (near.count == 0) return;
  const auto judged = some_of(examples, examples.size());
  const double constant = constant_share(judged), noise = 2 * near.looked_up.standard_error(constant),
               found = near.looked_up.accuracy();
  // With two labels, an answer that is always wrong also reveals the right one.
  const bool predicts_label = std::max(found, subject.info.classes == 2 ? 1 - found : 0) > constant + noise;
  const auto text = fmt::format(
      "{} of {} examples of {} are nearly the same as one of {} ({} were searched); {:.0f} % of these have the same label as "
      "their match; {}",
      near.count, near.compared, on.back().name, on.front().name, indices.size(), 100 * found, near.first);
  if (!predicts_label || near.count < kFewestNear) return finding.say(text);
  // Examples that were not searched are assumed to match as often as the searched examples.
  const auto all = static_cast<double>(subject.task->size(before));
  const double share =
      static_cast<double>(near.count) / static_cast<double>(near.compared) * all / static_cast<double>(indices.size());
  finding.off_by(std::min(share, 1.0), text, subject.is_generated() ? kFewAlike : kRealAlike);
}

}  // namespace ablate
