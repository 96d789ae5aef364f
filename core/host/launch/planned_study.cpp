#include "core/host/launch/planned_study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/host/client/executors.h"
#include "core/host/launch/only.h"
#include "core/host/scheduler/processors.h"
#include "core/host/study/claims.h"
#include "core/host/study/diagnostics.h"
#include "core/host/study/study.h"
#include "core/host/study/used_plugins.h"
#include "core/records/setting_paths.h"
#include "core/registry/folders.h"
#include "core/shared/build_identity.h"
#include "core/shared/metrics.h"
#include "core/shared/sizes_job.h"
#include "core/util/flatten.h"
#include "core/util/nearest.h"
#include "core/util/trimmed.h"
#include "db/history/damage.h"
#include "db/history/lineage.h"
#include "db/history/location.h"
#include "db/history/reader.h"
#include "db/questions/selection/attention_names.h"
#include "db/questions/selection/conditions.h"
#include "db/questions/tables/table_options.h"
#include "db/report/expression.h"
#include "db/report/format.h"
#include "db/report/inference/holm.h"
#include "db/report/inference/permutation.h"
#include "db/report/statistics.h"
#include "db/types/metric_declaration.h"
#include "db/types/metric_name.h"

namespace ablate {
namespace {

using nlohmann::json;

using Settings = std::map<std::string, json>;

/// A study's trials in the form that tables use, before they run.
struct Grid {
  std::vector<Settings> settings;  ///< distinct settings without seeds, named as in tables
  std::set<std::string> varying;   ///< paths that have several values, and are not part of an attention's name

  explicit Grid(const Study& study) {
    std::map<std::string, std::int64_t> paths;
    for (const auto* trial : first_of_each(study.trials, {kAllSections.begin(), kAllSections.end()})) {
      settings.push_back(flatten(trial->resolved()));
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

/// Returns the distinct values of some paths, in the grid's order.
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

/// Returns the metrics that `derive` and `sort` name, or test/accuracy if they name none. A table without
/// named metrics is checked with these metrics, because only done trials show its real metrics.
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

/// Returns a table without numbers, before its study runs. Rows and columns follow db/questions/selection/table_axes.h, and
/// metrics appear only if they are named. Returns nullopt if only the history has the rows: for a table with conditions, shares
/// of layers, or experiments, and for a tuned study if the table names no rows.
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

/// Returns the host's metric that a misspelt name means: the name lacks the metric's domain, or both names differ in at most
/// two neighbouring characters. Returns "" for any other name, which may be a plugin's own metric.
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
        refuse(asked.key, fmt::format("{} and {} cannot be in one table", asked.option, other.option));
  }

  /// Refuses duplicates, and an option without another option that it needs.
  void check_together(const NamedTable& table) {
    std::map<std::string, std::string> seen;  // path or metric -> option
    db::AskedStatistics statistics;
    for (const auto& asked : table.asked) {
      statistics[asked.option] = asked.values;
      const bool is_metric = asked.option == "metric";
      if (!is_metric && asked.option != "rows" && asked.option != "cols") continue;
      for (std::size_t i = 0; i < asked.values.size(); ++i) {
        if (asked.values[i].starts_with('!')) continue;  // leaves rows or metrics out; may be repeated
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

  /// Checks statistics that name rows, columns or metrics: runs them on the expected table, which has no numbers.
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
            auto where = asked.where;  // replaced by the location of the value that the message names
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
  std::vector<std::string> known_;  ///< paths; empty until computed
  std::optional<Grid> grid_;
  Diagnostics wrong_;
};

/// Throws ConfigError with all errors: unknown options of `ablate table`, invalid values, rows and columns that no trial has,
/// misspelt metrics, duplicates, invalid conditions, and compared rows that are missing. Errors that depend on numbers or on
/// the history appear only when the table is made.
void check_tables(const Study& study) { Check{study}; }

std::vector<ModelSizes> sizes_in(const json& answer, std::size_t models) {
  const auto counted = from_json<CountedSizes>(answer);
  if (counted.sizes.size() != models)
    throw BadMessage(fmt::format("{}: sizes: found {}, expected {}", CountedSizes::kName, counted.sizes.size(), models));
  std::vector<ModelSizes> all;
  for (const auto& [parameters, state_bytes, refused] : counted.sizes) all.push_back({parameters, state_bytes, refused});
  return all;
}

/// Counts parameters and state bytes of each trial's model (CountSizes). A worker creates the task without loading its data.
/// Answers are cached like tasks' answers, so that a done study starts no worker. Throws Error. The time limit is for one job.
std::vector<ModelSizes> model_sizes(const std::vector<Trial>& trials, const Catalog& catalog, Executors& executors,
                                    const TaskMemory& memory, double limit_s) {
  CountSizesJob job;
  std::string code;
  auto asked = json::array();
  for (const auto& trial : trials) {
    job.models.push_back(trial.spec);
    asked.push_back({{"trial", to_json(trial.spec)}, {"files", trial.files}});
    for (const auto& use : used_plugins(trial.spec, catalog))
      if (job.libraries.hashes.emplace(use.info->path.string(), use.info->content_hash).second)
        code += use.info->code_identity();
  }
  for (const auto& [path, hash] : job.libraries.hashes) job.libraries.paths.push_back(path);
  const auto path = memory.path_of(code, {{"kind", CountSizesJob::kName}, {"models", asked}, {"build", build_identity()}});
  const auto read_known = [&](const json& known) { return sizes_in(known, trials.size()); };
  if (auto known = memory.find(path, read_known)) return *known;
  const auto answered = executors.ask(job, limit_s);
  if (!answered.answer)
    throw Error(fmt::format("the sizes of models of {} cannot be counted: {}", trials.front().spec.task.id, answered.failed),
                answered.fault ? ExitCode::kPlugin : ExitCode::kUsage);
  const auto text = to_json(*answered.answer);
  memory.put(path, text);
  return sizes_in(text, trials.size());
}

TaskMemory user_task_memory() {
  const auto cache = cache_folder();
  return TaskMemory(cache.empty() ? cache : cache / "data");
}

int most_threads(const std::vector<const PlannedTrial*>& wanted) {
  std::int64_t most = 1;
  for (const auto* planned : wanted) most = std::max(most, planned->trial->spec.train.threads);
  return static_cast<int>(most);
}

/// Notes the warnings about the study's libraries, for example that any user can overwrite one. Returns the study's plugins.
std::vector<PluginInfo> warn_of_used(const PlannedStudy& plan, const std::vector<FoundLibrary>& libraries, const Note& note) {
  std::set<std::filesystem::path> used;
  std::vector<PluginInfo> plugins;
  for (const auto* trial : first_of_each(plan.study.trials, {TrialSection::kTask, TrialSection::kAttention}))
    for (const auto& use : used_plugins(trial->spec, plan.catalog))
      if (used.insert(use.info->path).second) plugins.push_back(*use.info);
  for (const auto& library : libraries)
    for (const auto& warning : library.warnings)
      if (used.contains(library.path)) note(fmt::format("warning: {}: {}", db::one_row(library.path.string()), warning));
  return plugins;
}

}  // namespace

PlannedStudy::PlannedStudy(LaunchRequest request, Catalog with, Study resolved)
    : asked(std::move(request)), catalog(std::move(with)), study(std::move(resolved)), memory(user_task_memory()) {}

std::vector<const PlannedTrial*> PlannedStudy::awaited() const {
  return asked.only.empty() ? choice.awaited(planned) : std::vector<const PlannedTrial*>();
}

std::string crowd_text(const PlannedStudy& plan, int together) {
  if (together * plan.threads <= plan.cores) return "";
  const auto s = [](int count) { return count == 1 ? "" : "s"; };
  return fmt::format(
      "warning: {} trial{} of {} thread{} (train.threads) on {} core{}: they wait for each other, and their step times "
      "cannot be compared with those of other trials",
      together, s(together), plan.threads, s(plan.threads), plan.cores, s(plan.cores));
}

std::string too_few_seeds_text(const Study& study) {
  const auto least_p = [](std::size_t claims, std::size_t n) { return static_cast<double>(claims) * db::least_paired_p(n); };
  for (const auto& [family, claims, seeds] : families_of(study)) {
    if (least_p(claims, seeds) <= db::kLevel) continue;
    auto least = seeds;
    while (least_p(claims, least) > db::kLevel) ++least;
    return fmt::format(
        "{} claim{} of {} cannot be decided with {} common seed{}: the exact test's least p, times the claims, is {:.2g}. "
        "Expected at least {} seeds in grid.seeds, or fewer claims",
        claims, claims == 1 ? "" : "s", family.empty() ? "the study" : "family " + family, seeds, seeds == 1 ? "" : "s",
        least_p(claims, seeds), least);
  }
  return "";
}

namespace {

/// Returns the values that dev chose before this run. A history of an older version, or an empty file, counts as a history
/// without chosen values until it is opened for writing.
DevChoice choice_so_far(const PlannedStudy& plan) try {
  return {plan.study, plan.planned, plan.asked.database};
} catch (const Error&) {  // open_history reports any other error
  return {plan.study, plan.planned, {}};
}

}  // namespace

PlannedStudy plan_study(const LaunchRequest& request, const std::function<std::vector<FoundLibrary>()>& find,
                        const std::function<std::string(const std::string&)>& where_looked, Executors& executors,
                        const Note& note) {
  db::check_writing_location(request.database);  // before the libraries are loaded, and before hours of data preparation
  db::expect_sound(request.database);
  if (std::error_code none; request.prove > 0 && !std::filesystem::exists(request.database, none))
    db::Reader says_so(request.database);
  const auto libraries = find();
  for (const auto& library : libraries)
    if (!library.refusal.empty())
      note(fmt::format("warning: {} is left out: {}", db::one_row(library.path.string()), db::one_row(library.refusal)));
  auto catalog = catalog_of(libraries);
  catalog.where_looked = where_looked;
  const auto auto_device = [&]() -> std::string {
    const auto kind = executors.ask(OpenDeviceJob{"cuda"}, TaskLimits{}.describe_s).failed.empty() ? "cuda" : "cpu";
    note(fmt::format("train.device = auto: {} on this machine", kind));
    return kind;
  };
  const auto memory = user_task_memory();
  auto study = load_study(request.study, request.overrides, catalog, auto_device, [&](const std::vector<Trial>& trials) {
    return model_sizes(trials, catalog, executors, memory, TaskLimits{}.describe_s);
  });
  if (request.timeout_s) study.timeout_s = *request.timeout_s;
  check_tables(study);
  PlannedStudy plan(request, std::move(catalog), std::move(study));
  plan.used = warn_of_used(plan, libraries, note);
  check_tasks(plan.study, plan.catalog, executors, plan.memory);
  plan.planned = ablate::plan(plan.study, plan.catalog, executors, plan.memory);
  plan.named = choose(plan.planned, request.only, request.database);
  plan.choice = choice_so_far(plan);
  for (const auto* trial : plan.named)
    if (!plan.choice.leaves_out(*trial->trial)) plan.wanted.push_back(trial);
  if (plan.wanted.empty())
    throw Error(
        fmt::format("--only {}: found only trials whose values dev has not chosen; expected trials that tune, or trials "
                    "whose values dev has chosen. --dry-run without --only shows the trials of the grid",
                    fmt::join(request.only, " --only ")));
  plan.cores = processor_count();
  plan.threads = most_threads(plan.wanted);
  plan.at_a_time = request.at_a_time > 0 ? request.at_a_time : std::max(1, plan.cores / plan.threads);
  return plan;
}

}  // namespace ablate
