#include "core/trial/audit/likeness.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace ablate {
namespace {

constexpr std::size_t kMostKnown = 1000, kCounters = 1 << 22, kSketch = 16, kFewestShared = 4, kMostCandidates = 4;
constexpr Likeness::By kAll[] = {Likeness::By::kPositions, Likeness::By::kRuns, Likeness::By::kCounts, Likeness::By::kRepeats};
constexpr std::size_t kShortestRun = 2, kLongestRun = 24;
/// Two of 10^4 and 10^3 examples share so much by chance once in e^7 tasks: e^-23 for each of 10^7 pairs.
constexpr double kNoChance = 23;
/// Of where symbols are repeated: a renaming is known by all pairs together (near_duplicates.cpp).
constexpr double kLittleChance = 5;
constexpr double kRareRun = 14;   // nats: a run of random symbols is found in one of e^14 places
constexpr double kCommon = 0.25;  // nats: three of four examples hold it

}  // namespace

Likeness::Likeness(const TaskInfo& info, const std::vector<Example>& examples, double share)
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

double Likeness::weight(std::uint64_t item) const {
  return -std::log((std::min(static_cast<double>(counts_[item % kCounters]), known_) + 0.5) / (known_ + 0.5));
}

template <class Take>
void Likeness::each_token(const Example& example, const Take& take) const {
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

std::vector<std::uint64_t> Likeness::tokens(const Example& example) const {
  std::vector<std::uint64_t> all;
  each_token(example, [&](std::uint64_t token, std::size_t, std::size_t) { all.push_back(token); });
  return all;
}

std::vector<std::uint64_t> Likeness::runs(const Example& example) const {
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

Likeness::Items Likeness::items(const Example& example, By by) const {
  const auto kind = static_cast<std::uint64_t>(by);
  Items all;
  std::unordered_map<std::uint64_t, std::uint64_t> known;  // how often a token was met, or where for the last time
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

std::int64_t Likeness::shift(const Example& a, const Example& b) const {
  std::unordered_map<std::uint64_t, std::int64_t> places;
  std::map<std::int64_t, int> votes;
  const auto before = runs(b), own = runs(a);
  for (std::size_t at = 0; at < before.size(); ++at) places.emplace(before[at], at);
  for (std::size_t at = 0; at < own.size(); ++at)
    if (const auto found = places.find(own[at]); found != places.end()) ++votes[found->second - static_cast<std::int64_t>(at)];
  const auto most = std::ranges::max_element(votes, {}, [](const auto& one) { return one.second; });
  return most == votes.end() ? 0 : most->first;
}

/// The same few of what is not common, wherever it occurs: those whose hashes are the smallest.
std::vector<std::uint64_t> Likeness::sketch(const Items& items) const {
  std::vector<std::uint64_t> few;
  for (auto at = items.begin(); at != items.end() && few.size() < kSketch; ++at)
    if (weight(*at) > kCommon) few.push_back(*at);
  return few;
}

void Likeness::add(const Example& example, std::int64_t number) {
  const auto place = static_cast<std::uint32_t>(numbers_.size());
  numbers_.push_back(number);
  for (const auto by : kAll)
    for (const auto item : sketch(items(example, by))) sketches_[item].push_back(place);
}

std::vector<std::int64_t> Likeness::candidates(const Items& items) const {
  std::vector<std::uint32_t> shared(numbers_.size());
  std::vector<std::uint32_t> found;
  for (const auto item : sketch(items))
    if (const auto known = sketches_.find(item); known != sketches_.end())
      for (const auto place : known->second)
        if (++shared[place] == kFewestShared) found.push_back(place);
  std::sort(found.begin(), found.end(), [&](auto a, auto b) { return shared[a] != shared[b] ? shared[a] > shared[b] : a < b; });
  if (found.size() > kMostCandidates) found.resize(kMostCandidates);
  std::vector<std::int64_t> numbers;
  for (const auto place : found) numbers.push_back(numbers_[place]);
  return numbers;
}

bool Likeness::alike(const Items& a, const Items& b, By by) const {
  double shared = 0, all = 0, by_chance = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() || j != b.end();) {
    const bool both = i != a.end() && j != b.end() && *i == *j;
    const bool of_a = j == b.end() || (i != a.end() && *i <= *j);
    const auto item = of_a ? *i : *j;
    const double worth = weight(item);
    all += worth;
    if (both) shared += worth;
    if (of_a) by_chance += worth * std::exp(-worth);  // as often as other examples have it
    if (i != a.end() && *i == item) ++i;
    if (j != b.end() && *j == item) ++j;
  }
  if (share_ < kNearlyAll) shared -= by_chance, all -= by_chance;
  switch (by) {
    case By::kPositions:
      return shared >= share_ * all && shared >= kNoChance;
    case By::kRuns:  // those that overlap tell a symbol more each; the factor is the weight of what no example holds
      return shared >= kOverlap * all && shared * nats_ >= kNoChance * -std::log(0.5 / (known_ + 0.5));
    case By::kBackwards:
    case By::kCounts:
      return shared >= kNearlyAll * all && shared >= kNoChance;
    case By::kRepeats:
      break;
  }
  return shared >= kNearlyAll * all && shared >= kLittleChance;
}

}  // namespace ablate
