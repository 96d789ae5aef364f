#include "core/host/launch/dev_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/host/scheduler/retries.h"
#include "db/history/lineage.h"
#include "db/history/past_tries.h"
#include "db/history/reader.h"
#include "db/questions/chosen_values.h"

namespace ablate {

DevChoice::DevChoice(const Study& study, const std::vector<PlannedTrial>& planned, const std::filesystem::path& database)
    : is_apart_(!study.tuning_seeds.empty()) {
  if (!is_apart_) return;
  std::vector<std::string> keys;
  std::set<std::int64_t> cells, open;
  for (const auto& one : planned)
    if (one.trial->tunes) keys.push_back(one.key), cells.insert(*one.trial->cell);
  cells_ = cells.size();
  if (std::error_code none; !std::filesystem::exists(database, none)) return;
  const db::Reader reader(database);
  const auto done = db::done_attempts(reader, keys);
  const auto tries = db::past_tries(reader, keys);
  std::vector<db::TriedValue> tried;
  for (const auto& one : planned) {
    const auto& trial = *one.trial;
    if (!trial.tunes) continue;
    const auto attempt = done.find(one.key);
    const auto past = tries.find(one.key);
    if (attempt == done.end() && (past == tries.end() || retry_of(past->second.outcomes, {}).what != Retry::What::kIsSetAside))
      open.insert(*trial.cell);
    tried.push_back({*trial.cell, trial.value, attempt == done.end() ? 0 : attempt->second});
  }
  chosen_ = db::chosen_values(reader, tried);
  for (const auto cell : open) chosen_.erase(cell);
}

bool DevChoice::leaves_out(const Trial& trial) const {
  if (!is_apart_ || trial.tunes || !trial.cell) return false;
  const auto chosen = chosen_.find(*trial.cell);
  return chosen == chosen_.end() || chosen->second != trial.value;
}

std::vector<const PlannedTrial*> DevChoice::awaited(const std::vector<PlannedTrial>& planned) const {
  std::vector<const PlannedTrial*> all;
  std::map<std::int64_t, std::int64_t> first;
  if (!is_apart_) return all;
  for (const auto& one : planned) {
    const auto& trial = *one.trial;
    if (!trial.cell || trial.tunes || chosen_.contains(*trial.cell)) continue;
    if (first.try_emplace(*trial.cell, trial.value).first->second == trial.value) all.push_back(&one);
  }
  return all;
}

std::string DevChoice::text() const {
  const auto made = static_cast<std::size_t>(
      std::count_if(chosen_.begin(), chosen_.end(), [](const auto& one) { return one.second.has_value(); }));
  auto text = fmt::format("dev has chosen in {} of {} settings", made, cells_);
  if (chosen_.size() < cells_)
    text += fmt::format("; {} wait{} for trials that tune", cells_ - chosen_.size(), cells_ - chosen_.size() == 1 ? "s" : "");
  if (chosen_.size() > made)
    text += fmt::format("; no value of {} has all of its trials done, and nothing is reported there", chosen_.size() - made);
  return text;
}

}  // namespace ablate
