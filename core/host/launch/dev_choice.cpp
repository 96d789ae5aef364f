#include "core/host/launch/dev_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/host/scheduler/retries.h"
#include "core/util/flatten.h"
#include "db/history/lineage.h"
#include "db/history/past_tries.h"
#include "db/history/reader.h"

namespace ablate {
namespace {

/// A trial on which values are compared, with its state in the history.
struct Compared {
  const Trial* trial;
  db::TriedValue tried;
  bool is_open;  ///< true if a run would start it
};

std::vector<Compared> compared_trials(const std::vector<PlannedTrial>& planned, Role comparing, const db::Reader& reader) {
  std::vector<std::string> keys;
  for (const auto& one : planned)
    if (one.trial->role == comparing && one.trial->cell) keys.push_back(one.key);
  const auto done = db::done_attempts(reader, keys);
  const auto tries = db::past_tries(reader, keys);
  std::vector<Compared> all;
  for (const auto& one : planned) {
    const auto& trial = *one.trial;
    if (trial.role != comparing || !trial.cell) continue;
    const auto attempt = done.find(one.key);
    const auto past = tries.find(one.key);
    const bool is_open =
        attempt == done.end() && (past == tries.end() || retry_of(past->second.outcomes, {}).what != Retry::What::kIsSetAside);
    all.push_back({&trial, {*trial.cell, trial.value, attempt == done.end() ? 0 : attempt->second, trial.spec.seed}, is_open});
  }
  return all;
}

/// Returns the numbers that a parameter has in a cell, smallest first, each with its Trial::value. Leaves out values that are
/// no numbers.
std::vector<std::pair<double, std::int64_t>> by_size(const std::vector<const Trial*>& trials, const std::string& path) {
  std::map<std::int64_t, double> numbers;
  for (const auto* trial : trials) {
    if (numbers.contains(trial->value)) continue;
    const auto settings = flatten(trial->resolved());
    if (const auto at = settings.find(path); at != settings.end() && at->second.is_number()) numbers[trial->value] = at->second;
  }
  std::vector<std::pair<double, std::int64_t>> sorted;
  for (const auto& [value, number] : numbers) sorted.emplace_back(number, value);
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

DevChoice::DevChoice(const Study& study, const std::vector<PlannedTrial>& planned, const std::filesystem::path& database)
    : waits_for_dev_(study.waits_for_dev()), comparing_(study.comparing_role()) {
  if (!waits_for_dev_) return;
  std::set<std::int64_t> undecided;
  std::map<std::int64_t, Added> most;  // an exclude rule may leave values out of some cells
  for (const auto& one : planned) {
    if (!one.trial->cell) continue;
    undecided.insert(*one.trial->cell);
    auto& beyond = most[*one.trial->cell];
    beyond.above = std::max(beyond.above, one.trial->beyond), beyond.below = std::max(beyond.below, -one.trial->beyond);
  }
  cells_ = undecided.size();
  if (std::error_code none; !std::filesystem::exists(database, none)) return;
  const db::Reader reader(database);
  const auto compared = compared_trials(planned, comparing_, reader);
  while (!undecided.empty()) {  // each round decides a cell, or adds one value to it
    std::map<std::int64_t, std::vector<const Trial*>> trials;
    std::vector<db::TriedValue> tried;
    for (const auto& one : compared) {
      const auto cell = one.tried.cell;
      if (!undecided.contains(cell) || is_beyond(*one.trial)) continue;
      if (one.is_open) trials[cell].clear(), undecided.erase(cell);
      trials[cell].push_back(one.trial);
      tried.push_back(one.tried);
    }
    std::erase_if(tried, [&](const auto& one) { return !undecided.contains(one.cell); });
    const auto found = db::chosen_values(reader, tried);
    for (const auto cell : std::set(undecided)) {
      const auto at = found.find(cell);
      if (at != found.end() && at->second.value && widen(study, most[cell], cell, *at->second.value, trials[cell])) continue;
      undecided.erase(cell);
      if (at == found.end()) continue;
      chosen_[cell] = at->second;
      edges_ += std::any_of(study.tuned.begin(), study.tuned.end(), [&](const auto& path) {
        const auto sizes = by_size(trials[cell], history_path(path));
        return at->second.value && sizes.size() > 1 &&
               (sizes.front().second == *at->second.value || sizes.back().second == *at->second.value);
      });
    }
  }
}

bool DevChoice::is_beyond(const Trial& trial) const {
  if (trial.beyond == 0) return false;
  const auto at = trial.cell ? added_.find(*trial.cell) : added_.end();
  return at == added_.end() || trial.beyond < -at->second.below || trial.beyond > at->second.above;
}

bool DevChoice::widen(const Study& study, const Added& most, std::int64_t cell, std::int64_t best,
                      const std::vector<const Trial*>& trials) {
  if (!study.widens) return false;
  const auto sizes = by_size(trials, history_path(study.tuned.front()));
  auto& added = added_[cell];
  if (added.below + added.above == kMostBeyond || sizes.size() < 2) return false;
  if (sizes.back().second == best && added.above < most.above) return ++added.above, true;
  if (sizes.front().second == best && added.below < most.below) return ++added.below, true;
  return false;
}

std::size_t DevChoice::added_values() const {
  std::size_t count = 0;
  for (const auto& [unused, added] : added_) count += static_cast<std::size_t>(added.below + added.above);
  return count;
}

bool DevChoice::leaves_out(const Trial& trial) const {
  if (is_beyond(trial)) return true;
  if (!waits(trial)) return false;
  const auto chosen = chosen_.find(*trial.cell);
  return chosen == chosen_.end() || chosen->second.value != trial.value;
}

std::vector<const PlannedTrial*> DevChoice::awaited(const std::vector<PlannedTrial>& planned) const {
  std::vector<const PlannedTrial*> all;
  std::map<std::int64_t, std::int64_t> first;
  for (const auto& one : planned) {
    const auto& trial = *one.trial;
    if (!waits(trial) || chosen_.contains(*trial.cell)) continue;
    if (first.try_emplace(*trial.cell, trial.value).first->second == trial.value) all.push_back(&one);
  }
  return all;
}

std::string DevChoice::text() const {
  const auto made = static_cast<std::size_t>(
      std::count_if(chosen_.begin(), chosen_.end(), [](const auto& one) { return one.second.value.has_value(); }));
  auto text = fmt::format("dev has chosen in {} of {} settings", made, cells_);
  if (chosen_.size() < cells_)
    text += fmt::format("; {} wait{} for trials that tune", cells_ - chosen_.size(), cells_ - chosen_.size() == 1 ? "s" : "");
  std::set<std::size_t> seeds;
  std::size_t fragile = 0;
  for (const auto& [unused, one] : chosen_)
    if (one.value) seeds.insert(one.seeds), fragile += one.is_fragile;
  if (made > 0)
    text += fmt::format(
        ", on {} seed{}; {} at an edge of the tried values{}", fmt::join(seeds, " or "),
        seeds == std::set<std::size_t>{1} ? "" : "s", edges_,
        seeds == std::set<std::size_t>{1} ? "" : fmt::format(", {} with another value if one seed is left out", fragile));
  if (const auto added = added_values(); added > 0) text += fmt::format("; {} added by grid.tune.widen", added);
  if (const auto none = chosen_.size() - made; none > 0)
    text += fmt::format("; in {} setting{} nothing is reported: each value has a trial that is not done", none,
                        none == 1 ? "" : "s");
  return text;
}

}  // namespace ablate
