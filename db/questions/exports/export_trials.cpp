#include "db/questions/exports/export_trials.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/records/setting_paths.h"
#include "core/util/error.h"
#include "core/util/plain_json.h"
#include "db/history/schema.h"
#include "db/history/sql.h"
#include "db/questions/selection/selection.h"
#include "db/report/format.h"
#include "db/report/named_rows.h"
#include "db/types/metric_declaration.h"

namespace ablate::db {
namespace {

using nlohmann::ordered_json;
using SQLite::Statement;

constexpr const char* kFixed[] = {"experiment", "key",    "attempt",     "outcome",    "reason",
                                  "started",    "wall_s", "main_metric", "data_digest"};

/// Roles in an experiment's grid.
struct GridRoles {
  bool any = false;   ///< true if the grid chooses values by dev, or has longer trials
  std::string tuned;  ///< paths of the values that dev chooses, separated by commas
};

/// Returns the grid's roles, with its tuned paths: their values differ within a cell. Includes trials that have not run.
GridRoles roles_of(const Reader& reader, const Selection& selection) {
  const auto& trials = selection.trials;
  std::unordered_map<std::int64_t, std::size_t> first;  // index of the first trial of each cell
  GridRoles role{.any = !selection.longer.empty()};
  for (std::size_t t = 0; t < trials.size(); ++t)
    if (trials[t].cell != kNoCell) first.try_emplace(trials[t].cell, t), role.any = role.any || trials[t].role == Role::kTuning;
  if (first.empty()) return role;
  for (const auto& [path, id] : reader.paths()) {
    const auto axis = load_axis(reader, path, id, trials);
    bool differs = false;
    for (std::size_t t = 0; t < trials.size() && path != setting::kSeed; ++t)
      differs = differs || (trials[t].cell != kNoCell && axis.of_trial[t] != axis.of_trial[first.at(trials[t].cell)]);
    if (differs) role.tuned += (role.tuned.empty() ? "" : ",") + path;
  }
  role.any = role.any || !role.tuned.empty();
  return role;
}

/// Sorted names of parameters or metrics, and the column of each id.
struct ExportColumns {
  std::vector<std::string> names;
  std::unordered_map<std::int64_t, std::size_t> places;
};

struct ExportRow {
  ordered_json fixed = ordered_json::object();
  std::vector<ordered_json> parameters, metrics;  ///< by column; discarded: the trial has no value
};

/// Reads the row of a trial, by the number of the trial's attempt.
class ExportRows {
 public:
  ExportRows(const Reader& reader, const std::vector<std::vector<SelectedTrial>>& of_experiments)
      : attempt_(reader.database(),
                 "SELECT t.key, a.outcome, a.reason, strftime('%Y-%m-%d %H:%M:%S', a.started_us / 1000000, 'unixepoch'), "
                 "a.wall_s, coalesce((SELECT name FROM metric WHERE id = a.main_metric), ''), coalesce((SELECT iif(json_valid("
                 "b.json), b.json ->> '$.data', '') FROM key_part k JOIN basis b ON b.id = k.basis WHERE k.trial = t.id), "
                 "(SELECT iif(json_valid(json), json ->> '$.data_digest', '') FROM environment WHERE id = a.environment), '') "
                 "FROM attempt a JOIN trial t ON t.id = a.trial WHERE a.id = ?"),
        parameters_(reader.database(),
                    "SELECT v.path, v.type, v.text, v.number FROM trial t CROSS JOIN path n JOIN value v ON v.id = " +
                        value_at("n.id") + " WHERE t.id = ?"),
        // CROSS JOIN: SQLite searches the attempt under each metric. Without statistics, SQLite might scan all results instead.
        metrics_(reader.database(),
                 "SELECT r.metric, r.value FROM metric m CROSS JOIN result r ON r.metric = m.id WHERE r.attempt = ?"),
        plugins_(reader.database(),
                 "SELECT p.kind, p.name, p.version, p.code_identity FROM attempt a JOIN plugin_of_set u ON u.plugin_set = "
                 "a.plugin_set JOIN plugin p ON p.id = u.plugin WHERE a.id = ? ORDER BY p.kind, p.name, p.version, "
                 "p.code_identity") {
    std::vector<std::int64_t> settings, attempts, seeds;
    for (const auto& all : of_experiments)
      for (const auto& one : all) settings.push_back(one.setting), attempts.push_back(one.attempt), seeds.push_back(one.seed);
    paths =
        columns(reader, "path",
                "SELECT setting FROM parameter WHERE path = ?1 AND setting BETWEEN ?2 AND ?3 UNION ALL SELECT ?2 FROM value "
                "WHERE path = ?1 AND id = " +
                    std::to_string(seeds.empty() ? 0 : *std::max_element(seeds.begin(), seeds.end())),
                settings);
    measured =
        columns(reader, "metric", "SELECT attempt FROM result WHERE metric = ?1 AND attempt BETWEEN ?2 AND ?3", attempts);
  }

  /// @param role roles of the experiment; nullptr if no exported experiment has roles
  ExportRow row(const std::string& experiment, const SelectedTrial& trial, const GridRoles* role) {
    ExportRow row;
    const auto& attempt = renew(attempt_, trial.attempt);
    if (!attempt_.executeStep()) throw Error(fmt::format("attempt {} is not there", trial.attempt));
    row.fixed = {{"experiment", experiment},
                 {"key", attempt.getColumn(0).getString()},
                 {"attempt", trial.attempt},
                 {"outcome", attempt.getColumn(1).getString()},
                 {"reason", attempt.getColumn(2).getString()},
                 {"started", attempt.getColumn(3).getString()},
                 {"wall_s", attempt.getColumn(4).getDouble()},
                 {"main_metric", attempt.getColumn(5).getString()},
                 {"data_digest", attempt.getColumn(6).getString()}};
    if (role != nullptr) {
      const bool has = role->any && (trial.cell != kNoCell || trial.role == Role::kLonger);
      row.fixed["grid.tuned"] = has ? role->tuned : "";
      row.fixed["grid.role"] = has ? std::string(to_text(trial.role)) : "";
    }
    row.parameters.assign(paths.names.size(), ordered_json::value_t::discarded);
    renew(parameters_, trial.id);
    while (parameters_.executeStep()) {
      const auto number = parameters_.getColumn(3);
      row.parameters[paths.places.at(parameters_.getColumn(0).getInt64())] = stored_value(
          parameters_.getColumn(1).getString(), parameters_.getColumn(2).getString(), number.getInt64(), number.getDouble());
    }
    row.metrics.assign(measured.names.size(), ordered_json::value_t::discarded);
    renew(metrics_, trial.attempt);
    while (metrics_.executeStep()) {
      const auto value = metrics_.getColumn(1);
      row.metrics[measured.places.at(metrics_.getColumn(0).getInt64())] =
          value.isNull() ? ordered_json(nullptr) : json_number<ordered_json>(value.getDouble());
    }
    return row;
  }

  ordered_json plugins(std::int64_t attempt) {
    auto all = ordered_json::array();
    renew(plugins_, attempt);
    while (plugins_.executeStep())
      all.push_back({{"kind", plugins_.getColumn(0).getString()},
                     {"id", plugins_.getColumn(1).getString()},
                     {"version", plugins_.getColumn(2).getString()},
                     {"code_identity", plugins_.getColumn(3).getString()}});
    return all;
  }

  ExportColumns paths, measured;

 private:
  /// Returns the names in a table that any of `ids` uses. `having`: SQL for the ids from ?2 to ?3 that use the name with id ?1.
  static ExportColumns columns(const Reader& reader, const char* table, const std::string& having,
                               std::vector<std::int64_t>& ids) {
    ExportColumns found;
    if (ids.empty()) return found;
    std::sort(ids.begin(), ids.end());
    Statement names(reader.database(), fmt::format("SELECT name, id FROM {} ORDER BY name", table));
    Statement have(reader.database(), having);
    have.bind(2, ids.front());
    have.bind(3, ids.back());
    while (names.executeStep()) {
      const auto id = names.getColumn(1).getInt64();
      renew(have, id);
      bool any = false;
      while (!any && have.executeStep()) any = std::binary_search(ids.begin(), ids.end(), have.getColumn(0).getInt64());
      if (!any) continue;
      found.places[id] = found.names.size();
      found.names.push_back(names.getColumn(0).getString());
    }
    return found;
  }

  Statement attempt_, parameters_, metrics_, plugins_;
};

std::string csv_field(const ordered_json& value) {
  if (value.is_discarded()) return "";
  if (value.is_null()) return "nan";
  return value.is_number_float() ? exact(value.get<double>()) : plain_field(value);
}

std::string csv_row(const ExportRow& row) {
  std::vector<std::string> fields;
  for (const auto& [name, value] : row.fixed.items()) fields.push_back(csv_field(value));
  // A real parameter keeps its decimal point: "1.0" is not an integer.
  for (const auto& value : row.parameters) fields.push_back(value.is_number_float() ? plain_field(value) : csv_field(value));
  for (const auto& value : row.metrics) fields.push_back(csv_field(value));
  return csv_line(fields);
}

std::vector<std::string> headers_of(const Reader& reader, const std::vector<std::string>& names,
                                    const IsKnownMetric& is_known) {
  if (!is_known) return names;
  std::unordered_map<std::string, std::string> headers;
  for (const auto& metric : reader.metrics())  // in the format that `ablate import` reads
    headers[metric.name] = metric.name + (is_known(metric) ? "" : declaration_text(metric.unit, metric.direction));
  std::vector<std::string> all;
  for (const auto& name : names) all.push_back(headers.at(name));
  return all;
}

ordered_json by_name(const ExportColumns& columns, const std::vector<ordered_json>& values) {
  auto all = ordered_json::object();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!values[i].is_discarded()) all[columns.names[i]] = values[i];
  return all;
}

std::string json_row(ExportRows& rows, const ExportRow& row) {
  auto all = row.fixed;
  all["parameters"] = by_name(rows.paths, row.parameters);
  all["metrics"] = by_name(rows.measured, row.metrics);
  all["plugins"] = rows.plugins(all["attempt"].get<std::int64_t>());
  return plain_json(all) + "\n";
}

}  // namespace

Exported export_trials(const Reader& reader, const std::vector<std::string>& experiments, ExportFormat format,
                       const Write& write, const IsKnownMetric& is_known) {
  return guarded(reader.file(), [&] {
    Exported exported;
    const auto names = experiments.empty() ? reader.experiments() : experiments;
    std::vector<std::vector<SelectedTrial>> trials;
    std::vector<GridRoles> roles;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
          names.begin() + static_cast<std::ptrdiff_t>(i))
        throw Error(fmt::format("export: {} is named twice", names[i]));
      auto selection = select_trials(reader, reader.experiment(names[i]));
      roles.push_back(roles_of(reader, selection));
      selection.trials.insert(selection.trials.end(), selection.longer.begin(), selection.longer.end());
      exported.missing += static_cast<std::int64_t>(
          std::erase_if(selection.trials, [](const SelectedTrial& trial) { return trial.attempt == 0; }));
      exported.earlier += static_cast<std::int64_t>(selection.earlier);
      exported.superseded += static_cast<std::int64_t>(selection.superseded);
      exported.trials += static_cast<std::int64_t>(selection.trials.size());
      trials.push_back(std::move(selection.trials));
    }
    const bool any_role = std::any_of(roles.begin(), roles.end(), [](const GridRoles& role) { return role.any; });
    ExportRows rows(reader, trials);
    if (format == ExportFormat::kCsv) {
      std::vector<std::string> header(std::begin(kFixed), std::end(kFixed));
      if (any_role) header.insert(header.end(), {"grid.tuned", "grid.role"});
      const auto metrics = headers_of(reader, rows.measured.names, is_known);
      header.insert(header.end(), rows.paths.names.begin(), rows.paths.names.end());
      header.insert(header.end(), metrics.begin(), metrics.end());
      write(csv_line(header));
    }
    for (std::size_t i = 0; i < names.size(); ++i)
      for (const auto& trial : trials[i]) {
        const auto row = rows.row(names[i], trial, any_role ? &roles[i] : nullptr);
        write(format == ExportFormat::kCsv ? csv_row(row) : json_row(rows, row));
      }
    return exported;
  });
}

}  // namespace ablate::db
