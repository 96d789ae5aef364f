#include "db/questions/tables/report_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/util/error.h"
#include "core/util/without_numbers.h"
#include "db/history/schema.h"
#include "db/history/stored_json.h"
#include "db/questions/selection/selection.h"
#include "db/questions/selection/table_axes.h"
#include "db/report/layout.h"

namespace ablate::db {
namespace {

using nlohmann::ordered_json;
using SQLite::Statement;

/// Distinct texts with their indices.
class PlacedTexts {
 public:
  std::size_t index_of(const std::string& text) {
    const auto [at, is_new] = places_.try_emplace(text, all_.size());
    if (is_new) all_.push_back(text);
    return at->second;
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::string> all_;
};

/// A report's trials, experiment by experiment, each in the order of the experiment's latest grid.
struct ReportTrials {
  std::vector<SelectedTrial> all;
  std::vector<std::size_t> experiment;  ///< index of each trial's experiment in the report
};

/// Returns a number as JSON, NaN as "nan".
ordered_json number_or_nan(double value) { return value == value ? ordered_json(value) : ordered_json("nan"); }

constexpr std::size_t kKeyDigits = 16;          ///< enough to identify a trial; `ablate show` accepts them
constexpr std::size_t kMostReasonBytes = 1000;  ///< limit, because a plugin's error may be a page long

/// Distinct environments with their indices, by their ids in the history.
class PlacedEnvironments {
 public:
  explicit PlacedEnvironments(SQLite::Database& database) : ask_(database, "SELECT json FROM environment WHERE id = ?") {}

  std::size_t index_of(std::int64_t id) {
    const auto [at, is_new] = places_.try_emplace(id, all.size());
    if (!is_new) return at->second;
    auto found = renew(ask_, id).executeStep() ? stored_json<ordered_json>(ask_.getColumn(0).getString()) : ordered_json();
    all.push_back(found.is_object() ? std::move(found) : ordered_json{{"damaged", "no JSON object"}});
    return at->second;
  }

  ordered_json all = ordered_json::array();

 private:
  Statement ask_;
  std::unordered_map<std::int64_t, std::size_t> places_;
};

/// Returns integers of 2^53 or more in size as text, because JavaScript has only doubles. Returns other values unchanged.
ordered_json for_script(const ordered_json& value) {
  constexpr double kMost = 9007199254740992.0;  // 2^53
  if (value.is_number_integer() && std::abs(value.get<double>()) >= kMost) return value.dump();
  return value;
}

ordered_json parameter(const Axis& axis, bool differs) {
  ordered_json values = ordered_json::array(), numbers = ordered_json::array();
  for (const auto& value : axis.values) {
    values.push_back(for_script(value.json));
    if (value.is_number && !value.json.is_boolean()) numbers.push_back(value.number);
  }
  ordered_json one = {{"path", axis.path}, {"differs", differs}, {"values", values}};
  if (numbers.size() == values.size()) one["numbers"] = numbers;
  const bool is_same = std::all_of(axis.of_trial.begin(), axis.of_trial.end(), [](int value) { return value == 0; });
  if (!is_same) one["of"] = axis.of_trial;
  return one;
}

/// Adds "trials", "outcomes", "reasons", "environments" and "attempts", as report_data describes them.
void put_trials(const Reader& reader, const ReportTrials& trials, ordered_json& report) {
  guarded(reader.file(), [&] {
    auto& database = reader.database();
    Statement key(database, "SELECT key FROM trial WHERE id = ?");
    Statement attempts(database,
                       "SELECT id, outcome, reason, started_us / 1000000, wall_s, environment FROM attempt WHERE trial = ? "
                       "ORDER BY turn, uid");
    PlacedTexts outcomes, reasons;
    PlacedEnvironments environments(database);
    ordered_json all = {{"experiment", trials.experiment}}, earlier = ordered_json::array();
    for (const auto* column : {"key", "attempt", "outcome", "reason", "environment", "started", "wall"})
      all[column] = ordered_json::array();
    for (std::size_t t = 0; t < trials.all.size(); ++t) {
      const auto& trial = trials.all[t];
      all["key"].push_back(renew(key, trial.id).executeStep() ? key.getColumn(0).getString().substr(0, kKeyDigits) : "");
      all["attempt"].push_back(trial.attempt);
      ordered_json outcome = outcomes.index_of(trial.outcome), reason = -1, environment = -1, started = nullptr, wall = nullptr;
      ordered_json its = ordered_json::array();
      renew(attempts, trial.id);
      while (attempts.executeStep()) {
        const auto why = attempts.getColumn(2).getString().substr(0, kMostReasonBytes);
        const ordered_json why_place = why.empty() ? ordered_json(-1) : ordered_json(reasons.index_of(why));
        const auto id = attempts.getColumn(0).getInt64();
        its.push_back(
            {t, id, outcomes.index_of(attempts.getColumn(1).getString()), why_place, attempts.getColumn(3).getInt64()});
        if (id != trial.attempt) continue;
        reason = why_place, started = attempts.getColumn(3).getInt64(), wall = attempts.getColumn(4).getDouble();
        environment = environments.index_of(attempts.getColumn(5).getInt64());
      }
      all["outcome"].push_back(outcome);
      all["reason"].push_back(reason);
      all["environment"].push_back(environment);
      all["started"].push_back(started);
      all["wall"].push_back(wall);
      if (its.size() > 1) earlier.insert(earlier.end(), its.begin(), its.end());
    }
    report["trials"] = std::move(all);
    report["attempts"] = std::move(earlier);
    report["outcomes"] = outcomes.all();
    report["reasons"] = reasons.all();
    for (auto& groups = report["reason_groups"] = ordered_json::array(); const auto& reason : reasons.all())
      groups.push_back(reason_group(reason));
    report["environments"] = std::move(environments.all);
  });
}

ordered_json report_parameters(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  auto all = ordered_json::array();
  std::set<std::string> varying;
  for (const auto& axis : varying_axes(reader, trials)) {
    all.push_back(parameter(axis, true));
    varying.insert(axis.path);
  }
  for (const auto& [path, id] : reader.paths())
    if (!varying.contains(path))
      if (const auto axis = load_axis(reader, path, id, trials); !axis.values.empty()) all.push_back(parameter(axis, false));
  return all;
}

ordered_json report_metrics(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  auto all = ordered_json::array();
  for (const auto& metric : reader.metrics()) {
    auto values = ordered_json::array();
    bool any = false;
    for (const auto& value : load_results(reader, metric.id, trials)) {
      values.push_back(value ? number_or_nan(*value) : ordered_json(nullptr));
      any = any || value;
    }
    if (!any) continue;
    all.push_back({{"name", metric.name},
                   {"unit", metric.unit},
                   {"direction", metric.direction},
                   {"description", metric.description},
                   {"cost", metric.is_cost()},
                   {"values", std::move(values)}});
  }
  return all;
}

using Steps = std::vector<std::int64_t>;

/// Rounds to four significant digits, which are enough for a picture and keep the page small.
ordered_json brief_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr);
}

/// A metric's curves. Lists of steps are stored once, because most trials of a grid share them.
struct MetricCurves {
  std::map<Steps, std::size_t> steps;
  std::vector<const Steps*> in_order;
  std::vector<std::size_t> trial, of;
  ordered_json values = ordered_json::array();

  void add(std::size_t of_trial, const Steps& all_steps, const std::vector<double>& all_values, std::size_t most) {
    const auto n = all_steps.size(), kept = std::min(n, most);
    Steps kept_steps;
    auto kept_values = ordered_json::array();
    for (std::size_t i = 0; i < kept; ++i) {
      const auto at = kept == n ? i : i * (n - 1) / (kept - 1);
      kept_steps.push_back(all_steps[at]);
      kept_values.push_back(brief_number(all_values[at]));
    }
    const auto [at, is_new] = steps.try_emplace(std::move(kept_steps), in_order.size());
    if (is_new) in_order.push_back(&at->first);
    trial.push_back(of_trial);
    of.push_back(at->second);
    values.push_back(std::move(kept_values));
  }
};

/// Returns the limit for the points of a curve: all stored points for few trials, fewer points for many trials. So a page of
/// 10,000 trials stays under 10 MB.
std::size_t most_points(std::size_t trials) {
  constexpr std::size_t kTogether = 500'000, kFewest = 10, kMost = 200;
  return std::clamp(kTogether / std::max(trials, std::size_t{1}), kFewest, kMost);
}

ordered_json report_curves(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    const auto most = most_points(trials.size());
    Statement ask(reader.database(), "SELECT metric, step, value FROM curve WHERE attempt = ? ORDER BY attempt, metric, step");
    std::map<std::int64_t, MetricCurves> of_metric;
    Steps steps;
    std::vector<double> values;
    for (std::size_t t = 0; t < trials.size(); ++t) {
      if (trials[t].attempt == 0) continue;
      renew(ask, trials[t].attempt);
      std::int64_t metric = 0;
      const auto put = [&] {
        if (!steps.empty()) of_metric[metric].add(t, steps, values, most);
        steps.clear(), values.clear();
      };
      while (ask.executeStep()) {
        if (const auto next = ask.getColumn(0).getInt64(); next != metric) put(), metric = next;
        const auto value = ask.getColumn(2);
        steps.push_back(ask.getColumn(1).getInt64());
        values.push_back(value.isNull() ? std::nan("") : value.getDouble());
      }
      put();
    }
    auto all = ordered_json::array();
    for (const auto& metric : reader.metrics()) {
      const auto at = of_metric.find(metric.id);
      if (at == of_metric.end()) continue;
      auto& curves = at->second;
      auto distinct = ordered_json::array();
      for (const auto* one : curves.in_order) distinct.push_back(*one);
      all.push_back({{"metric", metric.name},
                     {"unit", metric.unit},
                     {"steps", std::move(distinct)},
                     {"trial", curves.trial},
                     {"of", curves.of},
                     {"values", std::move(curves.values)}});
    }
    return all;
  });
}

/// Index of each trial, by experiment and the trial's id.
using Places = std::map<std::pair<std::string, std::int64_t>, std::size_t>;

/// Returns the experiment that the row or the column names, else all experiments of the table: a trial may be in several.
std::vector<std::string> experiments_of(const Table& table, std::size_t row, std::size_t column) {
  for (const auto& [paths, labels] :
       {std::pair(&table.row_paths, &table.rows[row]), {&table.column_paths, &table.columns[column]}})
    if (const auto at = std::find(paths->begin(), paths->end(), kExperiment); at != paths->end())
      if (const auto& name = (*labels)[static_cast<std::size_t>(at - paths->begin())];
          std::find(table.experiments.begin(), table.experiments.end(), name) != table.experiments.end())
        return {name};
  return table.experiments;
}

ordered_json cell_of(const Table& table, std::size_t cell_at, const Places& places) {
  const auto& cell = table.cells[cell_at];
  const auto width = table.columns.size();
  const auto experiments = experiments_of(table, cell_at / width / table.metrics.size(), cell_at % width);
  auto trials = ordered_json::array();
  for (const auto id : cell.trial_ids)
    for (const auto& experiment : experiments)
      if (const auto at = places.find({experiment, id}); at != places.end()) {
        trials.push_back(at->second);
        break;
      }
  const double value = cell.shown().value;
  return {{"value", cell.n > 0 && std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr)},
          {"n", cell.n},
          {"trials", std::move(trials)}};
}

ordered_json field_of(const Field& field) {
  auto number = field;
  number.failures.clear();
  ordered_json one = {{"text", plain(number, {"", "", "", "", "~"})}};
  if (!field.failures.empty()) one["failures"] = field.failures;
  if (field.best) one["best"] = true;
  if (field.second) one["second"] = true;
  if (field.cell) one["cell"] = *field.cell;
  return one;
}

ordered_json block_of(const Block& block) {
  ordered_json one = {{"title", block.title}, {"header", ordered_json::array()}, {"rows", ordered_json::array()}};
  for (const auto& field : block.header)
    one["header"].push_back({{"text", field.text}, {"number", field.role == FieldRole::kNumber}});
  for (const auto& row : block.rows) {
    auto fields = ordered_json::array();
    for (const auto& field : row) fields.push_back(field_of(field));
    one["rows"].push_back(std::move(fields));
  }
  return one;
}

ordered_json report_table(const Reader& reader, const ReportTable& requested, const ReportTrials& trials,
                          const std::vector<std::string>& experiments) {
  ordered_json one = {{"experiments", ordered_json::array()}, {"name", requested.name}};
  for (const auto& name : requested.request.experiments)
    one["experiments"].push_back(std::find(experiments.begin(), experiments.end(), name) - experiments.begin());
  try {
    const auto table = make_table(reader, requested.request);
    Places places;
    for (std::size_t t = 0; t < trials.all.size(); ++t)
      places.emplace(std::pair(experiments[trials.experiment[t]], trials.all[t].id), t);
    const auto layout = lay_out(table);
    one["caption"] = layout.caption;
    one["notes"] = layout.notes;
    one["blocks"] = ordered_json::array();
    for (const auto& block : layout.blocks) one["blocks"].push_back(block_of(block));
    one["cells"] = ordered_json::array();
    for (std::size_t i = 0; i < table.cells.size(); ++i) one["cells"].push_back(cell_of(table, i, places));
  } catch (const Error& error) {  // a named table may have rows that no trial has yet; the rest of the report is still useful
    one["failed"] = error.what();
  }
  return one;
}

std::string description_of(const Reader& reader, std::int64_t experiment) {
  return guarded(reader.file(), [&] {
    Statement ask(reader.database(), "SELECT description FROM experiment WHERE id = ?");
    ask.bind(1, experiment);
    return ask.executeStep() ? ask.getColumn(0).getString() : std::string();
  });
}

}  // namespace

ordered_json report_data(const Reader& reader, const ReportRequest& request) {
  ordered_json report;
  report["experiments"] = ordered_json::array();
  ReportTrials trials;
  for (std::size_t i = 0; i < request.experiments.size(); ++i) {
    const auto& name = request.experiments[i];
    const auto id = reader.experiment(name);
    report["experiments"].push_back({{"name", name}, {"description", description_of(reader, id)}});
    auto selection = select_trials(reader, id);
    trials.all.insert(trials.all.end(), selection.trials.begin(), selection.trials.end());
    trials.experiment.resize(trials.all.size(), i);
  }
  if (trials.all.empty()) throw Error(no_trials_text(reader, fmt::format("{}", fmt::join(request.experiments, ", "))));

  put_trials(reader, trials, report);
  report["parameters"] = report_parameters(reader, trials.all);
  report["metrics"] = report_metrics(reader, trials.all);
  report["points"] = most_points(trials.all.size());
  report["curves"] = report_curves(reader, trials.all);
  report["tables"] = ordered_json::array();
  for (const auto& table : request.tables) report["tables"].push_back(report_table(reader, table, trials, request.experiments));
  return report;
}

}  // namespace ablate::db
