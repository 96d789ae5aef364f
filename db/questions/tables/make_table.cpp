#include "db/questions/tables/make_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "core/records/data_settings.h"
#include "core/records/setting_paths.h"
#include "core/util/error.h"
#include "core/util/flatten.h"
#include "core/util/trimmed.h"
#include "db/history/schema.h"
#include "db/history/unlike_attempts.h"
#include "db/questions/selection/conditions.h"
#include "db/questions/selection/groups.h"
#include "db/questions/selection/selection.h"
#include "db/questions/selection/table_axes.h"
#include "db/questions/selection/tuning.h"
#include "db/questions/tables/cells.h"
#include "db/questions/tables/table_notes.h"
#include "db/questions/tables/table_options.h"
#include "db/report/effects.h"
#include "db/report/format.h"

namespace ablate::db {
namespace {

/// Returns names without blanks around them. Leaves out empty names, as after a final comma.
std::vector<std::string> without_blanks(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const auto& name : names)
    if (auto bare = trimmed(name); !bare.empty()) all.push_back(std::move(bare));
  return all;
}

std::vector<std::string> paths_of(const std::vector<std::string>& names) {
  auto paths = without_blanks(names);
  for (auto& path : paths) path = history_path(path);
  return paths;
}

/// The named rows of a request, or the rows "!PATH" that it excludes.
struct AskedRows {
  std::vector<std::string> named, without;
};

AskedRows rows_of(const std::vector<std::string>& names, std::vector<std::string>& wrong) {
  AskedRows rows;
  for (const auto& name : without_blanks(names))
    if (name.starts_with('!'))
      rows.without.push_back(history_path(name.substr(1)));
    else
      rows.named.push_back(history_path(name));
  if (!rows.named.empty() && !rows.without.empty())
    wrong.push_back(fmt::format(
        "--rows: found {} beside !{}, expected only parameters that make the rows, or only excluded parameters (!PATH)",
        rows.named.front(), rows.without.front()));
  return rows;
}

/// Adds an error for each path that is named twice: as a row, as a column, or as both.
void refuse_twice(const std::vector<std::string>& rows, const std::vector<std::string>& columns,
                  std::vector<std::string>& wrong) {
  std::map<std::string, std::string> seen;  // path -> option
  for (const auto& [option, paths] : {std::pair("--rows", &rows), std::pair("--cols", &columns)})
    for (const auto& path : *paths)
      if (auto why = stands_already(seen, option, path, "parameter"); !why.empty()) wrong.push_back(std::move(why));
}

/// @param wrong gets a line for each unknown name, and for each metric that is named twice
std::vector<Reader::StoredMetric> choose_metrics(const Reader& reader, const std::vector<SelectedTrial>& trials,
                                                 const std::vector<std::string>& names, std::vector<std::string>& wrong) {
  std::vector<Reader::StoredMetric> metrics;
  if (names.empty()) {
    metrics = main_metrics(reader, trials);
    if (metrics.empty()) metrics.emplace_back().name = "test/accuracy";  // failures still make a table useful
  }
  for (const auto& name : names) try {
      for (const auto& found : reader.metrics_named(name)) {
        if (std::any_of(metrics.begin(), metrics.end(), [&](const auto& metric) { return metric.id == found.id; }))
          wrong.push_back(fmt::format("--metric: {} is named already, expected each metric once", found.name));
        else
          metrics.push_back(found);
      }
    } catch (const Error& error) {
      wrong.push_back(fmt::format("--metric: {}", error.what()));
    }
  return metrics;
}

std::vector<std::optional<std::int64_t>> load_seeds(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  std::vector<std::optional<std::int64_t>> seeds(trials.size());
  const auto axis = load_axis(reader, setting::kSeed, trials);
  for (std::size_t t = 0; t < trials.size(); ++t)
    if (const auto* seed = axis.of(t); seed != nullptr && seed->json.is_number_integer())
      seeds[t] = seed->json.get<std::int64_t>();
  return seeds;
}

/// Adds the labels of a table's rows or columns.
void put_lines(const Groups& groups, std::vector<std::vector<std::string>>& labels,
               std::vector<std::vector<nlohmann::ordered_json>>& values) {
  for (std::size_t i = 0; i < groups.keys.size(); ++i) {
    labels.push_back(groups.label(i));
    values.push_back(groups.values(i));
  }
}

/// Returns a note on each attempt that counts although another attempt at its trial has different results in the same
/// environment. Does not compare curves; `ablate db check` does.
std::vector<std::string> unlike_notes(const TableTrials& from) {
  std::map<std::int64_t, std::int64_t> counts;  // attempts by trial
  std::vector<std::int64_t> ids;
  for (const auto& trial : from.trials) {
    counts[trial.id] = trial.attempt;
    ids.push_back(trial.id);
  }
  const auto trials = fmt::format("IN ({})", fmt::join(ids, ","));
  std::map<std::int64_t, std::set<std::int64_t, std::greater<>>> others;  // by trial
  for (const auto& one : guarded(from.reader.file(), [&] { return unlike_attempts(from.reader.database(), trials, false); }))
    if (const auto at = counts.find(one.trial); at != counts.end())
      others[one.trial].insert(one.latest == at->second ? one.earlier : one.latest);
  if (others.empty()) return {};
  std::vector<std::string> named;
  for (const auto& [trial, not_these] : others)
    named.push_back(fmt::format("{} instead of {}", counts.at(trial), fmt::join(not_these, " and ")));
  return {
      fmt::format("attempts at one trial have different numbers in the same environment; the table uses the latest: attempt "
                  "{}. `ablate show ATTEMPT` shows the difference",
                  some_of(named))};
}

void add_notes(const TableTrials& from, const TableAxes& axes, const std::vector<Selection>& selections, const Tuning& tuning,
               Table& table) {
  const auto append = [&](const std::vector<std::string>& more) {
    table.notes.insert(table.notes.end(), more.begin(), more.end());
  };
  auto shown = table.row_paths;
  shown.insert(shown.end(), table.column_paths.begin(), table.column_paths.end());
  shown.insert(shown.end(), table.tuned_paths.begin(), table.tuned_paths.end());
  shown.emplace_back(setting::kSeed);
  append(tuning.notes);
  append(import_notes(from.reader, from.trials));
  append(proof_notes(from.reader, from.trials));
  append(environment_notes(from, table));
  append(unlike_notes(from));
  append(settling_notes(table));
  append(average_notes(axes.varying, shown, from.members));
  for (std::size_t i = 0; i < selections.size(); ++i)
    append(left_out_notes(selections[i], table.experiments.empty() ? "" : table.experiments[i]));
}

/// Throws Error for an unknown experiment, or an experiment that is named twice.
NamedExperiments experiments_of(const Reader& reader, const std::vector<std::string>& names) {
  NamedExperiments experiments;
  for (const auto& name : names) {
    const auto id = reader.experiment(name);
    for (const auto& [other, unused] : experiments)
      if (other == id) throw Error(fmt::format("{} is named twice, expected each experiment once", name));
    experiments.emplace_back(id, name);
  }
  return experiments;
}

/// Selects the trials of each experiment, or of the whole history. Throws Error if an experiment has no trials.
std::vector<Selection> select(const Reader& reader, const NamedExperiments& experiments) {
  std::vector<Selection> selections;
  const auto add = [&](std::optional<std::int64_t> experiment, const std::string& name) {
    selections.push_back(select_trials(reader, experiment));
    if (selections.back().trials.empty()) throw Error(no_trials_text(reader, name));
  };
  for (const auto& [id, name] : experiments) add(id, name);
  if (experiments.empty()) add(std::nullopt, "");
  return selections;
}

}  // namespace

Table make_table(const Reader& reader, const TableRequest& request) {
  const auto experiments = experiments_of(reader, request.experiments);
  auto selections = select(reader, experiments);
  auto all = std::move(selections.front().trials);
  std::vector<SelectedTrial> longer;
  for (const auto& selection : selections) {
    all.insert(all.end(), selection.trials.begin(), selection.trials.end());
    longer.insert(longer.end(), selection.longer.begin(), selection.longer.end());
  }

  std::vector<std::string> wrong;
  const auto [row_paths, no_rows] = rows_of(request.rows, wrong);
  const auto column_paths = paths_of(request.columns);
  refuse_twice(row_paths, column_paths, wrong);
  auto named = row_paths;
  named.insert(named.end(), column_paths.begin(), column_paths.end());
  auto kept = keep_where(reader, std::move(all), request.where);
  const auto tuning = choose_by_dev(reader, std::move(kept.trials), named);
  const auto& trials = tuning.trials;
  const auto axes = choose_axes(reader, trials, experiments, {row_paths, column_paths, no_rows, tuning.paths}, wrong);
  TableTrials from{reader, trials, choose_metrics(reader, trials, without_blanks(request.metrics), wrong), {}, {}, {}};
  if (!wrong.empty()) throw Error(fmt::format("{}", fmt::join(wrong, "\n")));

  Table table{.experiments = request.experiments, .row_paths = axes.row_paths, .column_paths = axes.column_paths};
  table.trials = trials.size();
  const Groups rows(axes.rows, trials.size(), !experiments.empty());
  const Groups columns(axes.columns, trials.size(), !experiments.empty());
  put_lines(rows, table.rows, table.row_values);
  put_lines(columns, table.columns, table.column_values);
  from.members.resize(rows.keys.size() * columns.keys.size());
  for (std::size_t t = 0; t < trials.size(); ++t)
    from.members[rows.of_trial[t] * columns.keys.size() + columns.of_trial[t]].push_back(t);
  for (const auto& metric : from.metrics) {
    table.metrics.push_back(metric);
    from.results.push_back(load_results(reader, metric.id, trials));
  }
  from.seeds = load_seeds(reader, trials);

  fill_chosen(tuning, from.members, table);
  table.judges = judges_of(from);
  fill_cells(from, table);
  fill_longer(from, longer, table);
  for (const auto& [id, name] : experiments)
    if (request.smallest_of) table.smallest = std::max(table.smallest, request.smallest_of(name));
  const auto verdicts = load_verdicts(reader, trials, request.verdict_today);
  fill_checked(from, verdicts, table);
  fill_settings(from, axes.varying, table);
  if (request.published) fill_published(from, axes.varying, table);
  fill_tasks(from, axes.varying, table);
  table.notes.insert(table.notes.begin(), kept.notes.begin(), kept.notes.end());
  add_notes(from, axes, selections, tuning, table);
  for (auto& note : match_notes(from, experiments, table, request)) table.notes.push_back(std::move(note));
  for (auto& note : verdict_notes(verdicts, table.any_checked(), request.check_options)) table.notes.push_back(std::move(note));
  for (auto& note : audit_notes(reader, trials, request)) table.notes.push_back(std::move(note));
  for (auto& note : floor_notes(from, axes.varying, table, request)) table.notes.push_back(std::move(note));
  for (auto& note : longer_notes(table)) table.notes.push_back(std::move(note));
  run_statistics(request.statistics, table);
  table.request = request.words;
  if (!table.request.empty()) table.keys = load_keys(reader, trials);
  return table;
}

Table make_settings_table(const Reader& reader, TableRequest request) {
  const auto usual = make_table(reader, request);
  request.rows = usual.row_paths;  // all are named, so the task gets no column
  request.rows.insert(request.rows.end(), usual.column_paths.begin(), usual.column_paths.end());
  std::erase_if(request.rows, is_data_seed);
  if (request.rows.empty())
    throw Error(fmt::format("found no parameter that varies{}, expected at least one beside the seed{}",
                            request.experiments.empty() ? "" : fmt::format(" in {}", fmt::join(request.experiments, ", ")),
                            usual.tuned_paths.empty() ? "" : "; `ablate windows` shows the parameters that dev chooses"));
  return make_table(reader, request);
}

std::vector<Effects> effects(const Reader& reader, const EffectsRequest& request) {
  auto table =
      make_settings_table(reader, {.experiments = request.experiments, .metrics = request.metrics, .where = request.where});
  return effects_of(table, request.reference);
}

}  // namespace ablate::db
