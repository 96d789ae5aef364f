#include "core/trial/audit/likeness.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ablate {
namespace {

constexpr std::size_t kMostKnown = 1000, kCounters = 1 << 22, kSketch = 16, kFewestShared = 4, kMostCandidates = 4;
constexpr std::size_t kShortestRun = 2, kLongestRun = 24;
/// Two of 10^4 and 10^3 examples share so much by chance once in e^7 tasks: e^-23 for each of 10^7 pairs.
constexpr double kNoChance = 23;
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
  double nats = 0;
  for (const auto& [symbol, count] : singles) nats -= count / total * std::log(count / total);
  run_ = std::clamp(static_cast<std::size_t>(std::ceil(kRareRun / std::max(nats, 0.1))), kShortestRun, kLongestRun);
  for (std::size_t i = 0; i < known; ++i)
    for (const auto by : {By::kPositions, By::kRuns})
      for (const auto item : items(examples[i], by)) ++counts_[item % kCounters];
  known_ = static_cast<double>(known);
}

double Likeness::weight(std::uint64_t item) const {
  return -std::log((std::min(static_cast<double>(counts_[item % kCounters]), known_) + 0.5) / (known_ + 0.5));
}

Likeness::Items Likeness::items(const Example& example, By by) const {
  Items all;
  const auto fields = info_.fields.size();
  for (std::size_t sequence = 0; sequence < example.present.size(); ++sequence) {
    std::vector<std::uint64_t> run;
    for (std::size_t at = 0; at < example.present[sequence].size(); ++at) {
      if (example.present[sequence][at] == 0) continue;
      std::uint64_t token = 0;
      for (std::size_t field = 0; field < fields; ++field)
        token = mixed(token, symbols_(example, sequence * fields + field, at));
      if (by == By::kPositions) {
        all.push_back(mixed(mixed(static_cast<std::uint64_t>(by), token), at));
        continue;
      }
      run.push_back(token);
      if (run.size() < run_) continue;
      auto hash = static_cast<std::uint64_t>(by);
      for (std::size_t i = run.size() - run_; i < run.size(); ++i) hash = mixed(hash, run[i]);
      all.push_back(hash);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
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
  for (const auto by : {By::kPositions, By::kRuns})
    for (const auto item : sketch(items(example, by))) sketches_[item].push_back(place);
}

std::vector<std::int64_t> Likeness::candidates(const Example& example) const {
  std::vector<std::uint32_t> shared(numbers_.size());
  std::vector<std::uint32_t> found;
  for (const auto by : {By::kPositions, By::kRuns})
    for (const auto item : sketch(items(example, by)))
      if (const auto known = sketches_.find(item); known != sketches_.end())
        for (const auto place : known->second)
          if (++shared[place] == kFewestShared) found.push_back(place);
  std::sort(found.begin(), found.end(), [&](auto a, auto b) { return shared[a] != shared[b] ? shared[a] > shared[b] : a < b; });
  if (found.size() > kMostCandidates) found.resize(kMostCandidates);
  std::vector<std::int64_t> numbers;
  for (const auto place : found) numbers.push_back(numbers_[place]);
  return numbers;
}

bool Likeness::alike(const Items& a, const Items& b, double each) const {
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
  return shared >= share_ * all && shared * each >= kNoChance;
}

bool Likeness::alike(const Example& a, const Example& b) const {
  return alike(items(a, By::kPositions), items(b, By::kPositions), 1) ||
         alike(items(a, By::kRuns), items(b, By::kRuns), 1 / static_cast<double>(run_));  // runs that overlap tell the same
}

}  // namespace ablate
