#include "core/host/launch/check_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/host/study/diagnostics.h"
#include "core/records/setting_paths.h"
#include "core/shared/metrics.h"
#include "core/util/flatten.h"
#include "core/util/nearest.h"
#include "core/util/trimmed.h"
#include "db/questions/selection/attention_names.h"
#include "db/questions/selection/conditions.h"
#include "db/questions/tables/table_options.h"
#include "db/report/expression.h"
#include "db/report/statistics.h"
#include "db/types/metric_declaration.h"
#include "db/types/metric_name.h"

namespace ablate {
namespace {

using Settings = std::map<std::string, nlohmann::json>;

/// A study's trials as tables see them, before they run.
struct Grid {
  std::vector<Settings> settings;  ///< distinct ones, seeds aside, as tables name them
  std::set<std::string> varying;   ///< paths that have several values, and do not belong to an attention's name

  explicit Grid(const Study& study) {
    std::map<std::string, std::int64_t> paths;
    Unseen is_new({kAllSections.begin(), kAllSections.end()});
    for (const auto& trial : study.trials) {
      if (!is_new(trial.sections)) continue;
      settings.push_back(flatten(trial.resolved()));
      settings.back().erase(setting::kSeed);
      for (const auto& [path, unused] : settings.back()) paths[path] = 1;
    }
    const db::AttentionNames names(paths);
    Settings first;
    for (auto& one : settings) {
      const auto name = names.name([&](const std::string& path) -> std::optional<std::string> {
        const auto at = one.find(path);
        return at == one.end() || !at->second.is_string() ? std::nullopt : std::optional(at->second.get<std::string>());
      });
      if (!name.empty()) one[setting::kAttention] = name;
      for (const auto& [path, value] : one)
        if (first.try_emplace(path, value).first->second != value && !names.entries().contains(path)) varying.insert(path);
    }
  }
};

using Labels = std::vector<std::vector<std::string>>;

/// The distinct values of some paths, in the grid's order.
Labels labels_of(const Grid& grid, const std::vector<std::string>& paths) {
  Labels labels;
  std::set<std::vector<std::string>> seen;
  for (const auto& settings : grid.settings) {
    std::vector<std::string> label;
    for (const auto& path : paths) {
      const auto at = settings.find(path);
      const bool is_text = at != settings.end() && at->second.is_string();
      label.push_back(at == settings.end() ? db::kAbsent : is_text ? at->second.get<std::string>() : at->second.dump());
    }
    if (seen.insert(label).second) labels.push_back(std::move(label));
  }
  return labels;
}

/// The metrics that derived values and the order name, for a table that names none: only the trials know which it has.
std::vector<std::string> assumed_metrics(const std::vector<std::string>& derive, const std::vector<std::string>& sort) {
  std::set<std::string> derived, names(sort.begin(), sort.end());
  for (const auto& value : derive) {
    const auto equals = value.find('=');
    derived.insert(db::metric_declaration(trimmed(value.substr(0, equals))).name);
    const db::Expression expression(trimmed(value.substr(equals + 1)));
    names.insert(expression.names().begin(), expression.names().end());
  }
  std::erase_if(names, [&](const std::string& name) { return name.find('/') == std::string::npos || derived.contains(name); });
  return names.empty() ? std::vector<std::string>{"test/accuracy"} : std::vector(names.begin(), names.end());
}

/// A table before its study runs: rows and columns as db/questions/selection/table_axes.h chooses them, metrics if they are
/// named, and no number. Returns nothing if only the history has the rows: with conditions, shares of layers, experiments, and
/// chosen values that the rows do not name.
std::optional<db::Table> expected_table(const Study& study, const Grid& grid, const NamedTable& named) {
  std::map<std::string, std::vector<std::string>> asked;
  for (const auto& one : named.asked)
    for (const auto& value : one.values) asked[one.option].push_back(history_path(value));
  auto &rows = asked["rows"], &columns = asked["cols"];
  for (const auto* paths : {&rows, &columns})
    for (const auto& path : *paths)
      if (path.find('(') != std::string::npos || path == "experiment") return std::nullopt;
  if (columns.empty() && grid.varying.contains(setting::kTask) &&
      std::find(rows.begin(), rows.end(), setting::kTask) == rows.end())
    columns = {setting::kTask};
  const bool names_rows = !rows.empty() && !rows.front().starts_with('!');
  if (asked.contains("where") || (!names_rows && !study.tuned.empty())) return std::nullopt;
  if (!names_rows) {
    const auto without = rows;
    rows.clear();
    for (const auto& path : grid.varying)
      if (std::find(without.begin(), without.end(), "!" + path) == without.end() &&
          std::none_of(columns.begin(), columns.end(),
                       [&p = path](const std::string& column) { return p == column || is_below(p, column); }))
        rows.push_back(path);
  }
  db::Table table{.row_paths = rows, .column_paths = columns};
  table.rows = labels_of(grid, rows), table.columns = labels_of(grid, columns);
  for (const auto& label : table.rows) table.row_values.emplace_back(label.begin(), label.end());
  auto& metrics = asked["metric"];
  if (metrics.empty() && (asked.contains("derive") || asked.contains("sort")))
    metrics = assumed_metrics(asked["derive"], asked["sort"]);
  for (const auto& metric : metrics) table.metrics.push_back({metric, "", "max", ""});
  table.cells.resize(table.rows.size() * table.metrics.size() * table.columns.size());
  return table;
}

/// Returns the host's metric that a misspelt name means: the two differ in at most two neighbouring characters. Any other
/// unknown name may be a plugin's own metric.
std::string misspelt_of(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& metric : house_metrics()) known.push_back(metric.name);
  const std::string whole(db::without_group(name));
  if (std::find(known.begin(), known.end(), whole) != known.end() || whole.find("/bits_per_") != std::string::npos) return "";
  for (const auto& one : known)
    if (one.ends_with("/" + whole)) return one;
  const auto near = nearest(whole, known);
  const auto [a, b] = std::mismatch(near.begin(), near.end(), whole.begin(), whole.end());
  const auto [c, d] = std::mismatch(near.rbegin(), std::reverse_iterator(a), whole.rbegin(), std::reverse_iterator(b));
  return std::max(c.base() - a, d.base() - b) <= 2 ? near : "";
}

class Check {
 public:
  explicit Check(const Study& study) : study_(study) {
    for (const auto& option : db::table_options()) names_.push_back(option.name);
    for (const auto& table : study.tables) {
      const auto before = wrong_.size();
      for (const auto& asked : table.asked) check(table, asked);
      check_together(table);
      if (wrong_.size() == before) check_lines(table);
    }
    if (!wrong_.empty()) throw ConfigError(wrong_.sorted());
  }

 private:
  void refuse(const Location& where, const std::string& message) { wrong_.add(where, message); }

  void check(const NamedTable& table, const NamedTable::Asked& asked) {
    const auto* option = db::find_table_option(asked.option);
    if (option == nullptr)
      return refuse(asked.key,
                    fmt::format("unknown key {} in [table.{}]{}", asked.option, table.name, suggestion(asked.option, names_)));
    if (option->is_flag() != asked.is_set)
      return refuse(asked.where, option->is_flag() ? fmt::format("{}: expected true", asked.option)
                                                   : fmt::format("{} = true: expected {}", asked.option, option->value));
    if (!option->is_flag()) check_values(*option, asked);
    for (const auto& other : table.asked)
      if (other.option == option->excludes)
        refuse(asked.key, fmt::format("{} and {} cannot stand in one table", asked.option, other.option));
  }

  /// Refuses what stands twice, and options that need another.
  void check_together(const NamedTable& table) {
    std::map<std::string, std::string> seen;  // path or metric -> option
    db::AskedStatistics statistics;
    for (const auto& asked : table.asked) {
      statistics[asked.option] = asked.values;
      const bool is_metric = asked.option == "metric";
      if (!is_metric && asked.option != "rows" && asked.option != "cols") continue;
      for (std::size_t i = 0; i < asked.values.size(); ++i) {
        if (asked.values[i].starts_with('!')) continue;  // is left out, as often as it stands there
        const auto name = is_metric ? asked.values[i] : history_path(asked.values[i]);
        if (const auto why = db::stands_already(seen, asked.option, name, is_metric ? "metric" : "parameter"); !why.empty())
          refuse(asked.locations[i], why);
      }
    }
    if (const auto why = db::refusal_together(statistics); !why.empty()) refuse(table.where, why);
  }

  void check_values(const db::TableOption& option, const NamedTable::Asked& asked) {
    if (!option.repeated && asked.values.size() > 1)
      return refuse(asked.where, fmt::format("{}: found {} values, expected one", asked.option, asked.values.size()));
    for (const int together : asked.each)
      if (together != option.each)
        return refuse(asked.where, option.each == 1
                                       ? fmt::format("{}: found a list within the list", asked.option)
                                       : fmt::format("{}: expected a list of pairs, [[\"ROW\", \"ROW\"], ...]", asked.option));
    for (std::size_t i = 0; i < asked.values.size(); ++i) {
      const auto& value = asked.values[i];
      if (option.commas && value.find(',') != std::string::npos) {
        refuse(asked.locations[i], fmt::format("{} = {}: found a comma, expected a list: [\"A\", \"B\"]", asked.option, value));
        continue;
      }
      if (option.refuse != nullptr)
        if (const auto why = option.refuse(value); !why.empty())
          refuse(asked.locations[i], fmt::format("{} = {}: {}", asked.option, value, why));
      if (option.name == "metric") check_metric(asked, i);
      if (option.name == "rows" || option.name == "cols") check_path(asked, i, value);
      if (option.name == "where") try {
          check_path(asked, i, db::condition_path(value));
        } catch (const Error& error) {
          refuse(asked.locations[i], error.what());
        }
    }
  }

  void check_path(const NamedTable::Asked& asked, std::size_t i, std::string path) {
    if (path.starts_with('!')) path.erase(0, 1);
    if (path.find('(') != std::string::npos) return;  // share(softmax)
    if (known_.empty()) {
      std::set<std::string> paths = {setting::kAttention, setting::kSeed, "experiment"};
      for (const auto& settings : grid().settings)
        for (const auto& [name, unused] : settings) paths.insert(name);
      known_.assign(paths.begin(), paths.end());
    }
    if (path = history_path(path); std::find(known_.begin(), known_.end(), path) == known_.end())
      refuse(asked.locations[i],
             fmt::format("{}: no trial of this study has a parameter {}{}", asked.option, path, hint(path, known_)));
  }

  void check_metric(const NamedTable::Asked& asked, std::size_t i) {
    const auto& name = asked.values[i];
    if (const auto near = misspelt_of(name); !near.empty())
      refuse(asked.locations[i], fmt::format("metric: no trial has a metric {} (did you mean {}?)", name, near));
    else if (name.find('/') == std::string::npos)
      refuse(asked.locations[i], fmt::format("metric: found {}, expected a metric with its domain, as test/accuracy", name));
  }

  /// Runs the statistics that name rows, columns or metrics on the table without numbers.
  void check_lines(const NamedTable& named) {
    auto table = expected_table(study_, grid(), named);
    if (!table) return;
    const auto is_of_groups = [](const MetricInfo& metric) { return db::is_of_group(metric.name); };
    const bool has_metrics =
        !table->metrics.empty() && std::none_of(table->metrics.begin(), table->metrics.end(), is_of_groups);
    for (const auto* statistic : db::all_statistics())
      for (const auto& asked : named.asked) {
        const auto& option = asked.option;
        const bool names_rows = option == "contrasts" || option == "against" || option == "baseline",
                   names_metrics = option == "derive" || option == "sort";
        if (option == statistic->option && (names_rows || (names_metrics && has_metrics))) try {
            statistic->run(asked.values, *table);
          } catch (const Error& error) {
            const std::string message = error.what();
            auto where = asked.where;  // better: that of the value which the message names
            for (std::size_t i = asked.values.size(); i-- > 0;)
              if (message.find(asked.values[i] + "'") != std::string::npos ||
                  message.find(asked.values[i] + ":") != std::string::npos)
                where = asked.locations[i];
            refuse(where, message.substr(message.find_first_not_of('-')));
          }
      }
  }

  const Grid& grid() {
    if (!grid_) grid_.emplace(study_);
    return *grid_;
  }

  const Study& study_;
  std::vector<std::string> names_;
  std::vector<std::string> known_;  ///< paths; empty: not asked yet
  std::optional<Grid> grid_;
  Diagnostics wrong_;
};

}  // namespace

void check_tables(const Study& study) { Check{study}; }

}  // namespace ablate
