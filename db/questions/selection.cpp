#include "db/questions/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <mutex>
#include <set>
#include <tuple>

#include "core/records/outcome.h"
#include "db/history/schema.h"
#include "db/questions/gather.h"

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

struct Member {
  std::int64_t trial;
  std::int64_t configuration, position, setting, seed, cell;
  bool listed;
};

std::vector<Member> members_of(const Reader& reader, std::optional<std::int64_t> experiment) {
  std::vector<Member> members;
  RowVisits rows(reader.database(),
                 experiment
                     ? "t.id, t.configuration, m.listed, m.position, t.setting, t.seed, m.cell"
                     : "t.id, t.configuration, coalesce((SELECT max(listed) FROM experiment_trial WHERE trial = t.id), 0), "
                       "t.id, t.setting, t.seed, NULL",
                 experiment ? "FROM experiment_trial m CROSS JOIN trial t ON t.id = m.trial WHERE m.experiment = ?1"
                            : "FROM trial t WHERE ?1 = 0");
  rows.visit({experiment.value_or(0)}, [&](const VisitedRow& row) {
    members.push_back({row.integer(0), row.integer(1), row.integer(3), row.integer(4), row.integer(5),
                       row.is_null(6) ? kNoCell : row.integer(6), row.integer(2) != 0});
  });
  const auto before = [](const Member& a, const Member& b) {
    return std::pair(a.position, a.trial) < std::pair(b.position, b.trial);
  };
  if (!std::is_sorted(members.begin(), members.end(), before)) std::sort(members.begin(), members.end(), before);
  return members;
}

/// Of members with the same settings the one in a latest grid counts, of several the one that ran last.
/// @param turns of their attempts @return by member whether it counts
std::vector<bool> latest_of_alike(const std::vector<Member>& members, const std::vector<std::int64_t>& turns) {
  const auto rank = [&](std::size_t i) { return std::tuple(members[i].listed, turns[i], members[i].trial); };
  // One flat table: to sort a million, or to have a node for each, takes several times as long.
  std::vector<std::size_t> places(std::bit_ceil(2 * members.size() + 1), members.size());
  std::vector<bool> counts(members.size(), true);
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto hash = static_cast<std::uint64_t>(members[i].configuration);
    hash = (hash ^ hash >> 31) * 0x9E3779B97F4A7C15;
    for (auto at = (hash ^ hash >> 32) % places.size();; at = (at + 1) % places.size()) {
      const auto other = places[at];
      if (other == members.size()) {
        places[at] = i;
      } else if (members[other].configuration != members[i].configuration) {
        continue;
      } else if (rank(i) > rank(other)) {
        counts[other] = false;
        places[at] = i;
      } else {
        counts[i] = false;
      }
      break;
    }
  }
  return counts;
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
    const auto members = members_of(reader, experiment);
    const auto order = order_by(members, [](const Member& member) { return member.trial; });
    std::vector<std::int64_t> ids;
    for (const auto i : order) ids.push_back(members[i].trial);

    std::vector<SelectedTrial> found(members.size());
    for (std::size_t i = 0; i < members.size(); ++i)
      found[i] = {.id = members[i].trial,
                  .outcome = outcome::kMissing,
                  .experiment = experiment.value_or(0),
                  .setting = members[i].setting,
                  .seed = members[i].seed,
                  .cell = members[i].cell};
    std::vector<std::int64_t> turns(members.size(), -1);  // of their attempts
    gather(reader.database(), "trial, id, outcome, turn, plugin_set, environment, main_metric",
           "FROM attempt INDEXED BY attempt_by_trial WHERE ?1 = 0 AND trial BETWEEN ?2 AND ?3", 0, ids,
           [&](std::size_t at, const VisitedRow& row) {
             auto& trial = found[order[at]];
             auto& latest = turns[order[at]];
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

    const auto counts = latest_of_alike(members, turns);
    Selection selection;
    std::size_t selected = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!members[i].listed && found[i].attempt == 0) continue;
      if (!counts[i])
        ++selection.superseded;
      else if (experiment && !members[i].listed)
        ++selection.earlier;
      else
        found[selected++] = found[i];
    }
    found.resize(selected);
    selection.trials = std::move(found);
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
    Statement ask(reader.database(),
                  "SELECT plugin, verdict, failed_checks FROM plugin_of_set WHERE plugin_set = ? ORDER BY plugin");
    for (auto& [set, uses] : sets) {
      ask.reset();
      ask.bind(1, set);
      while (ask.executeStep())
        uses.push_back({ask.getColumn(0).getInt64(), ask.getColumn(1).getString(), ask.getColumn(2).getString()});
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

}  // namespace ablate::db
