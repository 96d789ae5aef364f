// What of one split is nearly the same as something of another.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "core/trial/audit/likeness.h"
#include "core/trial/audit/looks.h"
#include "core/trial/audit/tables.h"

namespace ablate {
namespace {

constexpr Allowed kFewAlike{0.01, "another data_seed makes other examples: they are drawn, and can be drawn again"},
    kRealAlike{0.1, "real data hold other versions of themselves"};
constexpr std::int64_t kMostSearched = 10'000, kMostPositions = 1 << 22;
constexpr std::size_t kMostCompared = 500;
constexpr std::int64_t kFewestNear = 5;  // that tell something of the rest

/// Counts the targets that two examples both ask for, and those that are the same. @param shift how many positions further on
/// they stand in b
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

/// What of one split is nearly the same as something of those before.
struct Near {
  std::int64_t compared = 0, count = 0;
  Hits looked_up;  ///< the label of the one that is alike, as an answer
  std::string first;
};

/// An example, and one of the other split that is alike.
struct Match {
  const Example* own;
  std::int64_t index;
  Example other;
  const char* how;
};

/// True if one renaming explains all pairs: the symbol that half of the pairs have for each symbol is also the one that the
/// rest have. If the task makes examples repeat their symbols at the same places, each pair has another renaming.
bool is_one_renaming(const Likeness& likeness, std::span<const Match> pairs) {
  constexpr std::size_t kFewestPairs = 10;
  if (pairs.size() < kFewestPairs) return false;
  std::unordered_map<std::uint64_t, std::unordered_map<std::uint64_t, int>> made, judged;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto own = likeness.tokens(*pairs[i].own), other = likeness.tokens(pairs[i].other);
    for (std::size_t at = 0; at < std::min(own.size(), other.size()); ++at) ++(i % 2 == 0 ? made : judged)[own[at]][other[at]];
  }
  double met = 0, asked = 0;  // each symbol counts once: marks that are the same in all would outvote the rest
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

/// @param on the split that is searched, and the one that may hold nearly nothing of it
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
  // With two labels, always the wrong one tells the right one.
  const bool told = std::max(found, subject.info.classes == 2 ? 1 - found : 0) > constant + noise;
  const auto text = fmt::format(
      "{} of {} examples of {} are nearly the same as one of {} ({} were searched); {:.0f} % of them have its label; {}",
      near.count, near.compared, on.back().name, on.front().name, indices.size(), 100 * found, near.first);
  if (!told || near.count < kFewestNear) return finding.say(text);
  // The examples that were not searched are expected to hold as large a share.
  const auto all = static_cast<double>(subject.task->size(before));
  const double share =
      static_cast<double>(near.count) / static_cast<double>(near.compared) * all / static_cast<double>(indices.size());
  finding.off_by(std::min(share, 1.0), text, subject.is_generated() ? kFewAlike : kRealAlike);
}

}  // namespace ablate
