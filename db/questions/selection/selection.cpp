#include "db/questions/selection/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "core/records/outcome.h"
#include "db/history/imports.h"
#include "db/history/schema.h"
#include "db/questions/selection/gather.h"
#include "db/types/metric_name.h"

namespace ablate::db {
namespace {

using SQLite::Statement;

/// Returns the member `number`, an id, of each trial; 0 if the trial is not done.
std::vector<std::int64_t> of_done(const std::vector<SelectedTrial>& trials, std::int64_t SelectedTrial::*number) {
  std::vector<std::int64_t> numbers(trials.size(), 0);
  for (std::size_t t = 0; t < trials.size(); ++t)
    if (trials[t].outcome == outcome::kDone) numbers[t] = trials[t].*number;
  return numbers;
}

/// A candidate trial, with the values that decide if it counts.
struct Candidate {
  SelectedTrial trial;
  std::int64_t configuration = 0, turn = -1;  ///< turn of its attempt; -1: it has none
  bool listed = false;

  /// Among trials with the same settings, the greatest rank counts: trials of a latest grid win, then the trial that ran last.
  auto rank() const { return std::tuple(listed, turn, trial.id); }
};

/// Returns candidates in the order of the experiment's grid, or all trials by id. Their attempts are not filled in yet.
std::vector<Candidate> candidates_of(const Reader& reader, std::optional<std::int64_t> experiment) {
  Statement ask(
      reader.database(),
      experiment ? "SELECT t.id, t.setting, t.seed, t.configuration, m.listed, m.cell, m.role FROM experiment_trial m "
                   "CROSS JOIN trial t ON t.id = m.trial WHERE m.experiment = ?1 ORDER BY m.position, t.id"
                 : "SELECT t.id, t.setting, t.seed, t.configuration, coalesce(m.listed, 0), NULL, iif(m.is_longer, 'longer', "
                   "'reported') FROM trial t LEFT JOIN (SELECT trial, max(listed) AS listed, min(role = 'longer') AS is_longer "
                   "FROM experiment_trial GROUP BY trial) m ON m.trial = t.id WHERE ?1 = 0 ORDER BY t.id");
  ask.bind(1, experiment.value_or(0));
  std::vector<Candidate> all;
  while (ask.executeStep()) {
    const auto integer = [&](int column) { return ask.getColumn(column).getInt64(); };
    const auto cell = ask.isColumnNull(5) ? kNoCell : integer(5);
    all.push_back({{.id = integer(0),
                    .outcome = std::string(outcome::kMissing),
                    .experiment = experiment.value_or(0),
                    .setting = integer(1),
                    .seed = integer(2),
                    .cell = cell,
                    .role = find_role(ask.getColumn(6).getString()).value_or(Role::kReported)},
                   integer(3)});
    all.back().listed = integer(4) != 0;
  }
  return all;
}

/// Fills in the attempt that counts for each trial.
void find_attempts(const Reader& reader, std::vector<Candidate>& all) {
  std::vector<std::int64_t> ids;
  for (const auto& one : all) ids.push_back(one.trial.id);
  gather(reader,
         "SELECT trial, id, outcome, turn, plugin_set, environment, main_metric FROM attempt INDEXED BY attempt_by_trial WHERE "
         "trial BETWEEN ?1 AND ?2",
         ids, [&](std::size_t at, Statement& row) {
           auto& [trial, configuration, latest, listed] = all[at];
           const auto outcome = row.getColumn(2).getString();
           const auto turn = row.getColumn(3).getInt64();
           const bool was_done = trial.outcome == outcome::kDone, is_done = outcome == outcome::kDone;
           if (was_done == is_done ? turn < latest : was_done) return;
           trial.attempt = row.getColumn(1).getInt64(), trial.outcome = outcome, latest = turn;
           trial.plugin_set = row.getColumn(4).getInt64(), trial.environment = row.getColumn(5).getInt64(),
           trial.main_metric = row.getColumn(6).getInt64();
         });
}

/// Returns for each configuration (settings with seed) the trial that counts.
std::unordered_map<std::int64_t, const Candidate*> latest_of_alike(const std::vector<Candidate>& all) {
  std::unordered_map<std::int64_t, const Candidate*> latest;
  for (const auto& one : all) {
    const auto at = latest.try_emplace(one.configuration, &one).first;
    if (one.rank() > at->second->rank()) at->second = &one;
  }
  return latest;
}

/// Returns true for each trial that ran for a bench, as recorded in its environment.
std::vector<bool> measuring_cost(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    std::set<std::int64_t> benches;
    Statement ask(reader.database(),
                  "SELECT id FROM environment WHERE iif(json_valid(json), json ->> '$.run_for' = 'bench', 0)");
    while (ask.executeStep()) benches.insert(ask.getColumn(0).getInt64());
    std::vector<bool> cost;
    for (const auto id : environment_ids(trials)) cost.push_back(benches.contains(id));
    return cost;
  });
}

}  // namespace

std::string no_trials_text(const Reader& reader, const std::string& experiment) {
  return fmt::format("{} has no trials{} yet: `ablate run FILE` makes some", reader.file().string(),
                     experiment.empty() ? "" : " of " + experiment);
}

Selection select_trials(const Reader& reader, std::optional<std::int64_t> experiment) {
  return guarded(reader.file(), [&] {
    auto all = candidates_of(reader, experiment);
    find_attempts(reader, all);
    const auto latest = latest_of_alike(all);
    Selection selection;
    std::map<std::int64_t, std::size_t> by_environment;  // counts of superseded trials
    for (const auto& one : all) {
      if (!one.listed && one.trial.attempt == 0) continue;
      if (latest.at(one.configuration) != &one)
        ++selection.superseded, ++by_environment[one.trial.environment];
      else if (experiment && !one.listed)
        ++selection.earlier;
      else
        (one.trial.role == Role::kLonger ? selection.longer : selection.trials).push_back(one.trial);
    }
    if (selection.superseded > 0) {
      Statement imported(reader.database(), fmt::format(kImportedEnvironments, "main"));
      while (imported.executeStep())
        if (const auto at = by_environment.find(imported.getColumn(0).getInt64()); at != by_environment.end())
          selection.superseded_imports += at->second;
    }
    return selection;
  });
}

std::map<std::int64_t, std::string> load_keys(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    std::map<std::int64_t, std::string> keys;
    std::vector<std::int64_t> ids;
    for (const auto& trial : trials) ids.push_back(trial.id);
    gather(reader, "SELECT id, substr(key, 1, 12) FROM trial WHERE id BETWEEN ?1 AND ?2", ids,
           [&](std::size_t at, Statement& row) { keys[ids[at]] = row.getColumn(1).getString(); });
    return keys;
  });
}

std::vector<std::pair<std::int64_t, std::vector<PluginUse>>> load_plugin_sets(const Reader& reader,
                                                                              const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    std::map<std::int64_t, std::int64_t> firsts;  // first attempt by set
    for (const auto& trial : trials) {
      if (trial.plugin_set == 0) continue;
      auto& first = firsts.try_emplace(trial.plugin_set, trial.attempt).first->second;
      first = std::min(first, trial.attempt);
    }
    std::vector<std::pair<std::int64_t, std::vector<PluginUse>>> sets;
    for (const auto& [set, first] : firsts) sets.emplace_back(set, std::vector<PluginUse>());
    std::sort(sets.begin(), sets.end(), [&](const auto& a, const auto& b) { return firsts.at(a.first) < firsts.at(b.first); });
    Statement ask(
        reader.database(),
        "SELECT plugin, verdict, failed_checks, place, length, checked_length FROM plugin_of_set WHERE plugin_set = ? "
        "ORDER BY plugin");
    for (auto& [set, uses] : sets) {
      renew(ask, set);
      while (ask.executeStep())
        uses.push_back({ask.getColumn(0).getInt64(), ask.getColumn(1).getString(), ask.getColumn(2).getString(),
                        ask.getColumn(3).getString(), ask.getColumn(4).getInt64(), ask.getColumn(5).getInt64()});
    }
    return sets;
  });
}

std::vector<std::int64_t> environment_ids(const std::vector<SelectedTrial>& trials) {
  return of_done(trials, &SelectedTrial::environment);
}

std::vector<std::int64_t> main_metric_ids(const std::vector<SelectedTrial>& trials) {
  return of_done(trials, &SelectedTrial::main_metric);
}

std::vector<std::optional<double>> load_results(const Reader& reader, std::int64_t metric_id,
                                                const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    std::vector<std::int64_t> done;
    for (const auto& trial : trials) done.push_back(trial.outcome == outcome::kDone ? trial.attempt : 0);
    std::vector<std::optional<double>> values(trials.size());
    gather(reader, fmt::format("SELECT attempt, value FROM result WHERE metric = {} AND attempt BETWEEN ?1 AND ?2", metric_id),
           done, [&](std::size_t at, Statement& row) {
             values[at] = row.isColumnNull(1) ? std::numeric_limits<double>::quiet_NaN() : row.getColumn(1).getDouble();
           });
    return values;
  });
}

std::vector<Reader::StoredMetric> main_metrics(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  const auto metrics = reader.metrics();
  const auto cost = measuring_cost(reader, trials);
  const auto marks = main_metric_ids(trials);
  const auto marked = [&](bool of_cost_too) {
    std::vector<Reader::StoredMetric> all;
    for (std::size_t t = 0; t < trials.size(); ++t) {
      const auto is_mark = [&](const auto& metric) { return metric.id == marks[t] && !is_of_group(metric.name); };
      if (marks[t] == 0 || (cost[t] && !of_cost_too) || std::any_of(all.begin(), all.end(), is_mark)) continue;
      const auto at = std::find_if(metrics.begin(), metrics.end(), is_mark);
      if (at != metrics.end()) all.push_back(*at);
    }
    return all;
  };
  const auto has_values = [&](const Reader::StoredMetric& metric, bool of_cost_too) {
    const auto values = load_results(reader, metric.id, trials);
    for (std::size_t t = 0; t < trials.size(); ++t)
      if (values[t] && (of_cost_too || !cost[t])) return true;
    return false;
  };
  const auto first_of = [&](std::initializer_list<std::pair<const char*, bool>> names) -> std::vector<Reader::StoredMetric> {
    for (const auto& [name, of_cost_too] : names) {
      const auto at =
          std::find_if(metrics.begin(), metrics.end(), [&, &name = name](const auto& metric) { return metric.name == name; });
      if (at != metrics.end() && has_values(*at, of_cost_too)) return {*at};
    }
    return {};
  };
  if (auto learned = marked(false); !learned.empty()) return learned;
  if (auto unmarked = first_of({{"test/accuracy", false}, {"dev/accuracy", false}, {"train/step_time", true}});
      !unmarked.empty())
    return unmarked;
  if (auto of_cost = marked(true); !of_cost.empty()) return of_cost;
  if (auto accuracy = first_of({{"test/accuracy", true}}); !accuracy.empty()) return accuracy;
  for (const auto& metric : metrics)
    if (!metric.direction.empty() && !is_of_group(metric.name) && has_values(metric, true)) return {metric};
  return {};
}

}  // namespace ablate::db
