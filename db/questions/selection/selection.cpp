#include "db/questions/selection/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <tuple>

#include "core/records/outcome.h"
#include "core/records/setting_paths.h"
#include "db/history/imports.h"
#include "db/history/schema.h"
#include "db/questions/selection/gather.h"
#include "db/types/metric_name.h"

namespace ablate::db {
namespace {

using SQLite::Statement;

/// The attempts that are done, ascending, and the places of their trials.
struct DoneAttempts {
  std::vector<std::int64_t> ids;
  std::vector<std::size_t> place;
};

DoneAttempts done_attempts(const std::vector<SelectedTrial>& trials) {
  DoneAttempts done;
  done.ids.reserve(trials.size()), done.place.reserve(trials.size());
  for (const auto i : order_by(trials, [](const SelectedTrial& trial) { return trial.attempt; }))
    if (trials[i].outcome == outcome::kDone) done.ids.push_back(trials[i].attempt), done.place.push_back(i);
  return done;
}

/// A number of each trial's attempt; 0 for what is not done.
std::vector<std::int64_t> of_done(const std::vector<SelectedTrial>& trials, std::int64_t SelectedTrial::*number) {
  std::vector<std::int64_t> numbers(trials.size(), 0);
  for (std::size_t t = 0; t < trials.size(); ++t)
    if (trials[t].outcome == outcome::kDone) numbers[t] = trials[t].*number;
  return numbers;
}

/// The trials that are asked for, in order, and what else tells which of them count. Of a million a copy, or a page of memory
/// that is touched once, costs as much as to read them.
struct Candidates {
  std::vector<SelectedTrial> trials;
  std::vector<std::int64_t> configuration, position, turn;  ///< turn: of its attempt; -1: none
  std::vector<bool> listed;

  void reserve(std::size_t count) {
    trials.reserve(count);
    for (auto* of_each : {&configuration, &position}) of_each->reserve(count);
    listed.reserve(count);
  }
  void sort();
};

void Candidates::sort() {
  const auto before = [&](std::size_t a, std::size_t b) {
    return std::pair(position[a], trials[a].id) < std::pair(position[b], trials[b].id);
  };
  std::size_t sorted = 1;
  while (sorted < trials.size() && !before(sorted, sorted - 1)) ++sorted;
  if (sorted >= trials.size()) return;
  std::vector<std::size_t> order(trials.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), before);
  Candidates in_order;
  in_order.reserve(trials.size());
  for (const auto i : order) {
    in_order.trials.push_back(trials[i]);
    in_order.configuration.push_back(configuration[i]);
    in_order.position.push_back(position[i]);
    in_order.listed.push_back(listed[i]);
  }
  *this = std::move(in_order);
}

/// No fewer than an experiment has, of a sound file. What is not used of so much memory costs nothing.
std::size_t most_trials(const Reader& reader) {
  constexpr std::int64_t kMost = 1 << 21;
  Statement ask(reader.database(), "SELECT coalesce(max(id), 0) FROM trial");
  ask.executeStep();
  return static_cast<std::size_t>(std::clamp<std::int64_t>(ask.getColumn(0).getInt64(), 0, kMost));
}

Candidates candidates_of(const Reader& reader, std::optional<std::int64_t> experiment) {
  Candidates all;
  all.reserve(most_trials(reader));
  RowVisits rows(reader.database(),
                 experiment
                     ? "t.id, t.configuration, m.listed, m.position, t.setting, t.seed, m.cell"
                     : "t.id, t.configuration, coalesce((SELECT max(listed) FROM experiment_trial WHERE trial = t.id), 0), "
                       "t.id, t.setting, t.seed, NULL",
                 experiment ? "FROM experiment_trial m CROSS JOIN trial t ON t.id = m.trial WHERE m.experiment = ?1"
                            : "FROM trial t WHERE ?1 = 0");
  rows.visit({experiment.value_or(0)}, [&](const VisitedRow& row) {
    const auto cell = row.is_null(6) ? kNoCell : row.integer(6);
    const bool tunes = cell < kNoCell;
    all.trials.push_back({.id = row.integer(0),
                          .outcome = outcome::kMissing,
                          .experiment = experiment.value_or(0),
                          .setting = row.integer(4),
                          .seed = row.integer(5),
                          .cell = tunes ? tuning_cell(cell) : cell,
                          .tunes = tunes});
    all.configuration.push_back(row.integer(1));
    all.position.push_back(row.integer(3));
    all.listed.push_back(row.integer(2) != 0);
  });
  all.sort();
  all.turn.assign(all.trials.size(), -1);
  return all;
}

/// Puts in each trial the attempt that speaks for it.
void find_attempts(const Reader& reader, Candidates& all) {
  const auto order = order_by(all.trials, [](const SelectedTrial& trial) { return trial.id; });
  std::vector<std::int64_t> ids;
  ids.reserve(order.size());
  for (const auto i : order) ids.push_back(all.trials[i].id);
  gather(reader.database(), "trial, id, outcome, turn, plugin_set, environment, main_metric",
         "FROM attempt INDEXED BY attempt_by_trial WHERE ?1 = 0 AND trial BETWEEN ?2 AND ?3", 0, ids,
         [&](std::size_t at, const VisitedRow& row) {
           auto& trial = all.trials[order[at]];
           auto& latest = all.turn[order[at]];
           const auto outcome = row.view(2);
           const auto turn = row.integer(3);
           const bool was_done = trial.outcome == outcome::kDone, is_done = outcome == outcome::kDone;
           if (was_done == is_done ? turn >= latest : is_done) {
             trial.attempt = row.integer(1);
             trial.outcome = is_done ? outcome::kDone : kept_outcome(outcome);
             trial.plugin_set = row.integer(4), trial.environment = row.integer(5), trial.main_metric = row.integer(6);
             latest = turn;
           }
         });
}

/// Of trials with the same settings the one in a latest grid counts, of several the one that ran last.
/// @return by trial whether it counts
std::vector<bool> latest_of_alike(const Candidates& all) {
  const auto rank = [&](std::size_t i) { return std::tuple(bool(all.listed[i]), all.turn[i], all.trials[i].id); };
  const auto count = all.trials.size();
  // One flat table: to sort a million, or to have a node for each, takes several times as long.
  std::vector<std::uint32_t> places(std::bit_ceil(2 * count + 1), static_cast<std::uint32_t>(count));
  const auto last = places.size() - 1;
  std::vector<bool> counts(count, true);
  for (std::size_t i = 0; i < count; ++i) {
    auto hash = static_cast<std::uint64_t>(all.configuration[i]);
    hash = (hash ^ hash >> 31) * 0x9E3779B97F4A7C15;
    for (auto at = (hash ^ hash >> 32) & last;; at = (at + 1) & last) {
      const std::size_t other = places[at];
      if (other == count) {
        places[at] = static_cast<std::uint32_t>(i);
      } else if (all.configuration[other] != all.configuration[i]) {
        continue;
      } else if (rank(i) > rank(other)) {
        counts[other] = false;
        places[at] = static_cast<std::uint32_t>(i);
      } else {
        counts[i] = false;
      }
      break;
    }
  }
  return counts;
}

/// Returns by id, for environments that record it, whether their attempts ran for a bench.
std::map<std::int64_t, bool> recorded_benches(const Reader& reader) {
  return guarded(reader.file(), [&] {
    std::map<std::int64_t, bool> benches;
    SQLite::Statement ask(reader.database(),
                          "SELECT id, json ->> '$.run_for' = 'bench' FROM environment WHERE iif(json_valid(json), "
                          "json ->> '$.run_for' IS NOT NULL, 0)");
    while (ask.executeStep()) benches.emplace(ask.getColumn(0).getInt64(), ask.getColumn(1).getInt() != 0);
    return benches;
  });
}

/// Returns which trials were run for their cost. If an attempt does not record it, it is guessed: the attempt evaluates once,
/// at its end, on one batch of the dev and of the test split. Nobody who wants to know what it learned evaluates so little.
std::vector<bool> measuring_cost(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  const auto numbers = [&](const std::string& name) {
    std::vector<double> all(trials.size(), 0);
    const auto axis = load_axis(reader, name, trials);
    for (std::size_t t = 0; t < trials.size(); ++t)
      if (axis.of(t) != nullptr) all[t] = axis.of(t)->number;
    return all;
  };
  std::vector<bool> cost(trials.size(), false);
  if (const auto test = numbers(setting::kTestBatches); std::find(test.begin(), test.end(), 1) != test.end()) {  // seldom
    const auto steps = numbers(setting::kSteps), every = numbers(setting::kEvaluateEvery),
               dev = numbers(setting::kEvaluateBatches);
    for (std::size_t t = 0; t < trials.size(); ++t)
      cost[t] = every[t] > 0 && every[t] >= steps[t] && dev[t] == 1 && test[t] == 1;
  }
  const auto recorded = recorded_benches(reader);
  const auto ids = environment_ids(trials);
  for (std::size_t t = 0; t < trials.size(); ++t)
    if (const auto at = recorded.find(ids[t]); at != recorded.end()) cost[t] = at->second;
  return cost;
}

}  // namespace

std::string_view kept_outcome(std::string_view name) {
  if (const auto* const known = find_outcome(name)) return known->name;
  static std::mutex one_at_a_time;
  static std::set<std::string, std::less<>> others;  // of a file that another program has written
  const std::lock_guard lock(one_at_a_time);
  return *others.emplace(name).first;
}

std::string no_trials_text(const Reader& reader, const std::string& experiment) {
  return fmt::format("{} has no trials{} yet: `ablate run FILE` makes some", reader.file().string(),
                     experiment.empty() ? "" : " of " + experiment);
}

Selection select_trials(const Reader& reader, std::optional<std::int64_t> experiment) {
  return guarded(reader.file(), [&] {
    auto all = candidates_of(reader, experiment);
    find_attempts(reader, all);
    const auto counts = latest_of_alike(all);
    Selection selection;
    std::size_t selected = 0;
    std::map<std::int64_t, std::size_t> by_environment;  // those that are superseded
    for (std::size_t i = 0; i < all.trials.size(); ++i) {
      if (!all.listed[i] && all.trials[i].attempt == 0) continue;
      if (!counts[i])
        ++selection.superseded, ++by_environment[all.trials[i].environment];
      else if (experiment && !all.listed[i])
        ++selection.earlier;
      else
        all.trials[selected++] = all.trials[i];
    }
    all.trials.resize(selected);
    if (selection.superseded > 0) {
      Statement imported(reader.database(), fmt::format(kImportedEnvironments, "main"));
      while (imported.executeStep())
        if (const auto at = by_environment.find(imported.getColumn(0).getInt64()); at != by_environment.end())
          selection.superseded_imports += at->second;
    }
    selection.trials = std::move(all.trials);
    return selection;
  });
}

std::map<std::int64_t, std::string> load_keys(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    std::map<std::int64_t, std::string> keys;
    std::vector<std::int64_t> ids;
    for (const auto i : order_by(trials, [](const SelectedTrial& trial) { return trial.id; })) ids.push_back(trials[i].id);
    gather(reader.database(), "id, substr(key, 1, 12)", "FROM trial WHERE ?1 = 0 AND id BETWEEN ?2 AND ?3", 0, ids,
           [&](std::size_t at, const VisitedRow& row) { keys.insert_or_assign(ids[at], row.text(1)); });
    return keys;
  });
}

std::vector<std::pair<std::int64_t, std::vector<PluginUse>>> load_plugin_sets(const Reader& reader,
                                                                              const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    std::map<std::int64_t, std::int64_t> firsts;  // by set its first attempt
    const SelectedTrial* last = nullptr;          // trials that stand together are alike most often
    for (const auto& trial : trials) {
      if (trial.plugin_set == 0) continue;
      if (last != nullptr && last->plugin_set == trial.plugin_set && last->attempt < trial.attempt) continue;
      last = &trial;
      const auto [at, fresh] = firsts.try_emplace(trial.plugin_set, trial.attempt);
      if (!fresh) at->second = std::min(at->second, trial.attempt);
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
    const auto done = done_attempts(trials);
    std::vector<std::optional<double>> values(trials.size());
    gather(reader.database(), "attempt, value", "FROM result WHERE metric = ?1 AND attempt BETWEEN ?2 AND ?3", metric_id,
           done.ids, [&](std::size_t at, const VisitedRow& row) {
             values[done.place[at]] = row.is_null(1) ? std::numeric_limits<double>::quiet_NaN() : row.number(1);
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
