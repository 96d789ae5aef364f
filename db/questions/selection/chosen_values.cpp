#include "db/questions/selection/chosen_values.h"

#include "core/records/outcome.h"
#include "db/history/schema.h"
#include "db/questions/selection/tuning.h"

namespace ablate::db {
namespace {

std::vector<SelectedTrial> selected_of(const Reader& reader, const std::vector<TriedValue>& tried) {
  std::vector<SelectedTrial> trials;
  SQLite::Statement ask(reader.database(), "SELECT main_metric FROM attempt WHERE id = ?");
  for (const auto& one : tried)
    trials.push_back({.attempt = one.attempt,
                      .outcome = std::string(one.attempt != 0 ? outcome::kDone : outcome::kMissing),
                      .seed = static_cast<std::int64_t>(one.seed),
                      .main_metric = number_from(ask, one.attempt)});
  return trials;
}

}  // namespace

std::map<std::int64_t, ChosenValue> chosen_values(const Reader& reader, const std::vector<TriedValue>& tried) {
  return guarded(reader.file(), [&] {
    const auto trials = selected_of(reader, tried);
    std::map<std::int64_t, Members> cells;
    std::vector<std::size_t> values;
    for (std::size_t t = 0; t < tried.size(); ++t) {
      cells[tried[t].cell].push_back(t);
      values.push_back(static_cast<std::size_t>(tried[t].value));
    }
    DevMetrics dev(reader, trials);
    std::map<std::int64_t, ChosenValue> chosen;
    for (const auto& [cell, members] : cells) {
      const auto contest = contest_of(members, values, dev.of(members), dev);
      auto& best = chosen[cell];
      if (contest.best) best.value = tried[contest.values[*contest.best].front()].value;
      best.seeds = contest.seeds, best.is_fragile = contest.is_fragile;
    }
    return chosen;
  });
}

}  // namespace ablate::db
