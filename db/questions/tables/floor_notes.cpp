#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "core/records/data_settings.h"
#include "core/records/example_rows.h"
#include "core/records/floor_texts.h"
#include "core/records/outcome.h"
#include "core/util/flatten.h"
#include "core/util/plain_json.h"
#include "core/util/shell_word.h"
#include "db/history/floors.h"
#include "db/history/schema.h"
#include "db/history/stored_json.h"
#include "db/history/trial_writer.h"
#include "db/questions/selection/groups.h"
#include "db/questions/tables/table_notes.h"
#include "db/report/format.h"
#include "db/report/summary.h"

namespace ablate::db {
namespace {

using nlohmann::json;
using SQLite::Statement;

/// Score of a predictor: the mean over data sets.
struct KnownFloor {
  std::string name, how;
  double value = 0;
  bool saw_all = true;  ///< true if the predictor was trained on all examples that the trials train on
};

/// Floors of one test split, or of several splits that differ only in the seeds of their data.
struct TaskFloors {
  std::string metric;
  std::int64_t examples = 0, train_size = 0, seen = 0;  ///< minimum over the data sets
  std::vector<KnownFloor> all;
  std::set<std::string> left_out;  ///< predictors that ran out of time on one of the data sets
};

/// Identifies stored floors.
struct FloorSource {
  std::string digest;  ///< digest of the data
  json task;           ///< the whole section of the task
  ExampleRows rows;
  std::int64_t trial = 0, experiment = 0;  ///< a trial that uses the data, and the experiment for which it was selected
  bool is_imported = false;                ///< true if that trial was imported
  bool operator<(const FloorSource& other) const {
    return std::tie(digest, rows) != std::tie(other.digest, other.rows)
               ? std::tie(digest, rows) < std::tie(other.digest, other.rows)
               : task < other.task;
  }
  bool operator==(const FloorSource& other) const { return digest == other.digest && rows == other.rows && task == other.task; }
};

/// Groups of cells whose trials use equal test examples and equally many training examples. A group has several data sets only
/// if each seed of its trials has a separate seed of the data.
struct FloorCells {
  std::vector<std::vector<FloorSource>> groups;
  std::vector<std::optional<std::size_t>> of_cell;  ///< by row, then column; nullopt: several groups, or not known
};

/// True if all known data have the same digest. Then no trial needs to be examined.
bool has_one_digest(SQLite::Database& database) {
  std::set<std::string> digests;
  Statement ask(database,
                "SELECT iif(json_valid(json), json ->> '$.data', NULL) FROM basis UNION ALL SELECT iif(json_valid(json), json "
                "->> '$.data_digest', NULL) FROM environment");
  while (digests.size() < 2 && ask.executeStep())
    if (!ask.isColumnNull(0)) digests.insert(ask.getColumn(0).getString());
  return digests.size() < 2;
}

/// Returns the id of the basis of each trial's key. If a key's parts are not known, returns the environment's id, negated: the
/// environment may contain an imported trial's data digest.
std::vector<std::int64_t> bases_of(SQLite::Database& database, const std::vector<SelectedTrial>& trials) {
  std::unordered_map<std::int64_t, std::int64_t> by_trial;
  Statement ask(database, "SELECT trial, basis FROM key_part");
  while (ask.executeStep()) by_trial.emplace(ask.getColumn(0).getInt64(), ask.getColumn(1).getInt64());
  std::vector<std::int64_t> bases;
  for (const auto& trial : trials) {
    const auto found = by_trial.find(trial.id);
    bases.push_back(found == by_trial.end() ? -trial.environment : found->second);
  }
  return bases;
}

std::int64_t number_in(const json& parameters, const char* path, std::int64_t otherwise) {
  const auto found = parameters.find(path);
  return found != parameters.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}

/// Returns a task's parameters as in a CSV: without types and without empty values.
std::map<std::string, std::string> texts_of(const std::map<std::string, json>& parameters) {
  std::map<std::string, std::string> texts;
  for (const auto& [path, value] : parameters)
    if (is_of_task(path))
      if (auto text = value.is_string() ? value.get<std::string>() : json_text(value); !text.empty()) texts[path] = text;
  return texts;
}

/// Returns the task with known floors that has these parameters; null if there is none.
json known_task(SQLite::Database& database, const std::string& digest, const json& parameters) {
  const auto texts = texts_of(parameters.get<std::map<std::string, json>>());
  Statement ask(database, "SELECT DISTINCT task FROM floor WHERE digest = ?");
  ask.bind(1, digest);
  while (ask.executeStep())
    if (auto task = stored_json(ask.getColumn(0).getString()); task.is_object() && texts_of(task_settings(task)) == texts)
      return task;
  return nullptr;
}

/// Returns the data of an imported trial; nullopt if its data digest is not known. An import stores parameters by path.
std::optional<FloorSource> imported_data(SQLite::Database& database, const SelectedTrial& trial) {
  Statement ask(database,
                "SELECT e.json ->> '$.data_digest', r.json FROM environment e, resolved r WHERE e.id = ? AND r.trial = ? AND "
                "json_valid(e.json) AND e.json ->> '$.data_digest' IS NOT NULL");
  SQLite::bind(ask, trial.environment, trial.id);
  if (!ask.executeStep()) return std::nullopt;
  const auto parameters = stored_json(ask.getColumn(1).getString());
  if (!parameters.is_object() || !parameters.contains(setting::kTask)) return std::nullopt;
  const auto batch = number_in(parameters, setting::kBatch, 0), batches = number_in(parameters, setting::kTestBatches, -1);
  const auto steps = number_in(parameters, setting::kSteps, 0) * number_in(parameters, setting::kAccumulate, 1);
  if (batch < 1 || batches < 0 || steps < 1) return std::nullopt;  // not known
  const auto digest = ask.getColumn(0).getString();
  auto task = known_task(database, digest, parameters);
  if (task.is_null()) task = plugin_section(parameters.at(setting::kTask));  // without floors, the task's name is enough
  FloorSource data{digest, task, {batches * batch, steps * batch, batch}, trial.id};
  data.is_imported = true;
  return data;
}

std::optional<FloorSource> floor_source_of(SQLite::Database& database, const SelectedTrial& of) {
  const auto trial = of.id;
  Statement ask(database,
                "SELECT b.json, r.json FROM key_part k JOIN basis b ON b.id = k.basis JOIN resolved r ON r.trial = k.trial "
                "WHERE k.trial = ?");
  ask.bind(1, trial);
  if (!ask.executeStep()) return imported_data(database, of);
  const auto basis = stored_json(ask.getColumn(0).getString());
  const auto data = data_settings(stored_json(ask.getColumn(1).getString()));
  const auto digest = text_at(basis, "data");
  if (digest.empty() || !data) return std::nullopt;
  return FloorSource{digest, data->task, data->rows, trial};
}

/// Data of one cell's done trials.
class FloorCell {
 public:
  void add(const FloorSource& data) {
    if (all_.empty()) rows_ = data.rows;
    is_one_ = is_one_ && rows_ == data.rows;
    all_.push_back(&data);
  }
  bool is_one() const { return is_one_ && !all_.empty(); }
  const ExampleRows& rows() const { return rows_; }
  const std::vector<const FloorSource*>& all() const { return all_; }

 private:
  ExampleRows rows_;
  bool is_one_ = true;
  std::vector<const FloorSource*> all_;
};

/// Groups the cells by their trials' data. Leaves out trials whose data are not known.
FloorCells floor_cells(const TableTrials& from, const std::vector<Axis>& varying, const Table& table) {
  std::vector<const Axis*> axes;
  for (const auto& axis : varying)
    if (decides_rows(axis.path)) axes.push_back(&axis);
  const Groups groups(axes, from.trials.size(), true);
  return guarded(from.reader.file(), [&] {
    auto& database = from.reader.database();
    std::vector<std::int64_t> bases;
    if (!has_one_digest(database)) bases = bases_of(database, from.trials);
    std::map<std::pair<std::size_t, std::int64_t>, std::optional<FloorSource>> known;  // by group and basis
    std::map<std::pair<std::size_t, ExampleRows>, std::size_t> numbers;                // by task
    FloorCells cells;
    cells.of_cell.resize(from.members.size());
    for (std::size_t i = 0; i < from.members.size(); ++i) {
      const auto& cell = table.cells[index_of(table, i, 0)];
      if (cell.tasks.size() != 1) continue;  // a mean over different tasks describes none of the tasks
      FloorCell data;
      for (const auto t : from.members[i]) {
        if (from.trials[t].outcome != outcome::kDone) continue;
        auto [at, fresh] = known.try_emplace({groups.of_trial[t], bases.empty() ? 0 : bases[t]});
        if (fresh) at->second = floor_source_of(database, from.trials[t]);
        if (fresh && at->second) at->second->experiment = from.trials[t].experiment;
        if (at->second) data.add(*at->second);
      }
      if (!data.is_one()) continue;
      const auto [number, is_new] = numbers.try_emplace({*cell.tasks.begin(), data.rows()}, cells.groups.size());
      if (is_new) cells.groups.emplace_back();
      cells.of_cell[i] = number->second;
      auto& group = cells.groups[number->second];
      for (const auto* one : data.all())
        if (std::ranges::find(group, *one) == group.end()) group.push_back(*one);
    }
    return cells;
  });
}

/// Adds a data set's floors to the sum. Returns false if the predictors differ, or if floors cannot be read.
bool add_floors(const KnownFloors& known, bool is_first, TaskFloors& to) {
  std::vector<KnownFloor> floors;
  for (const auto& floor : known.floors) {
    if (!floor.is_object() || !floor.contains("value") || !floor.at("value").is_number()) return false;
    floors.push_back({one_row(text_at(floor, "name")), one_row(text_at(floor, "how")), floor.at("value").get<double>(),
                      number_in(floor, "trained", 0) >= known.seen});
  }
  if (floors.empty() || known.examples < 1) return false;
  if (is_first) {
    to = {known.metric, known.examples, known.train_size, known.seen, std::move(floors), {}};
    return true;
  }
  if (known.metric != to.metric || floors.size() != to.all.size()) return false;
  to.examples = std::min(to.examples, known.examples), to.train_size = std::min(to.train_size, known.train_size);
  to.seen = std::min(to.seen, known.seen);
  for (std::size_t i = 0; i < floors.size(); ++i) {
    if (floors[i].name != to.all[i].name) return false;
    to.all[i].value += floors[i].value;
    if (floors[i].how != to.all[i].how) to.all[i].how.clear();
    to.all[i].saw_all = to.all[i].saw_all && floors[i].saw_all;
  }
  return true;
}

/// Returns the mean floors; nullopt if floors of a data set are not known, or are of another version.
/// @param data at least one data set
std::optional<TaskFloors> task_floors(SQLite::Database& database, const std::vector<FloorSource>& data, std::int64_t version) {
  TaskFloors floors;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto known = find_floors(database, data[i].digest, data[i].task, data[i].rows);
    if (!known || known->version != version || !add_floors(*known, i == 0, floors)) return std::nullopt;
    for (const auto& name : known->left_out) floors.left_out.insert(one_row(name));
  }
  for (auto& floor : floors.all) floor.value /= static_cast<double>(data.size());
  return floors;
}

/// Cells that share floors, by the data that they share. A cell's number is its index by row, then column.
using Alike = std::map<std::vector<FloorSource>, std::set<std::size_t>>;

constexpr double kOf95 = 1.959963984540054;  // quantile of the standard normal distribution

struct Interval {
  double low, high;
};

/// Returns Wilson's 95 % interval (Wilson 1927), in percent, of a proportion over `examples` examples.
Interval interval_of(double percent, std::int64_t examples) {
  const double n = static_cast<double>(examples), p = std::clamp(percent / 100, 0.0, 1.0), z = kOf95 * kOf95 / n;
  const double centre = (p + z / 2) / (1 + z), half = kOf95 / (1 + z) * std::sqrt(p * (1 - p) / n + z / (4 * n));
  return {100 * (centre - half), 100 * (centre + half)};
}

/// Returns the longer distance from the proportion to an end of the interval.
double error_of(double percent, std::int64_t examples) {
  const auto [low, high] = interval_of(percent, examples);
  const double middle = std::clamp(percent, 0.0, 100.0);
  return std::max(high - middle, middle - low);
}

/// A metric's mean in each of some cells.
struct Means {
  std::vector<double> all;
  std::vector<std::string> rows;  ///< label of each mean's row
  bool by_row = true;
};

Means means_of(const Table& table, std::size_t metric, const std::set<std::size_t>& cells) {
  Means means;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    std::size_t here = 0;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      const auto& cell = table.cell(row, metric, column);
      if (cell.tasks.size() != 1 || !cells.contains(row * table.columns.size() + column)) continue;
      if (const double mean = summary_over_settings(cell.samples, cell.settings).mean; std::isfinite(mean))
        means.all.push_back(mean), means.rows.push_back(row_text(table.rows[row])), ++here;
    }
    means.by_row = means.by_row && here <= 1;
  }
  return means;
}

/// @param floors the best first
std::string note_of(const TaskFloors& floors, const MetricInfo& metric, const std::string& of, const Means& means) {
  const bool more = metric.direction == "max";
  const auto& best = floors.all.front();
  std::vector<std::string> texts;
  for (const auto& floor : floors.all) {
    auto text = metric.unit == "%" ? fmt::format("{} {:.1f}", floor.name, floor.value)
                                   : fmt::format("{} {:.4g}", floor.name, floor.value);
    if (&floor == &best && !floor.how.empty()) text += fmt::format(" ({})", floor.how);
    if (!floor.saw_all) text += " (trained on a part)";
    texts.push_back(std::move(text));
  }
  const bool is_share = metric.unit == "%";
  const auto [low, high] = is_share ? interval_of(best.value, floors.examples) : Interval{best.value, best.value};
  const auto within =
      std::ranges::count_if(means.all, [&, low = low, high = high](double mean) { return more ? mean <= high : mean >= low; });
  const auto seen = floors.seen < floors.train_size
                        ? fmt::format("the {} of {} training examples that these rows see", floors.seen, floors.train_size)
                        : fmt::format("{} training examples", floors.train_size);
  auto note = fmt::format("floors of {}{} from {}: {}", metric.name, of, seen, fmt::join(texts, ", "));
  const auto* counted = means.by_row ? "row" : "cell";
  const auto many = means.all.size();
  note += fmt::format("; {} of {} {}{} ", within, many, counted, many == 1 ? "" : "s");
  note += within == 1 ? "is " : "are ";
  if (is_share)
    note += fmt::format("within the floor's interval [{:.1f}, {:.1f}] or {} it", low, high, more ? "below" : "above");
  else
    note += "no better than the best floor";
  if (!floors.left_out.empty())
    note += fmt::format("; no time was left for {}: `ablate audit` tries again", fmt::join(floors.left_out, ", "));
  return note;
}

/// Adds notes on splits with only one class, and on rows below the largest class.
void add_class_notes(const TaskFloors& floors, const std::string& of, const Means& means, std::vector<std::string>& notes) {
  const auto largest = std::ranges::find(floors.all, "largest class", &KnownFloor::name);
  if (largest == floors.all.end()) return;
  if (largest->how == kDevOfOneClass)
    notes.push_back(fmt::format("the dev examples{} are all of one class: dev chooses at random", of));
  if (largest->value >= 100) {
    notes.push_back(fmt::format("the test examples{} are all of one class: {} shows nothing", of, floors.metric));
    return;
  }
  std::vector<std::string> below;
  for (std::size_t i = 0; i < means.all.size(); ++i)
    if (means.all[i] < largest->value && (below.empty() || below.back() != means.rows[i])) below.push_back(means.rows[i]);
  if (!below.empty())
    notes.push_back(
        fmt::format("{}{} is below the largest class ({:.1f} %) for {}", floors.metric, of, largest->value, some_of(below)));
}

/// Returns " on listops max_length=64": the settings that distinguish the task from the table's other tasks.
std::string name_of(const FloorSource& data, const Alike& alike) {
  if (alike.size() == 1) return "";
  std::string text = " on";
  for (const auto& [name, value] : data.task.items()) {
    const bool tells = std::ranges::any_of(alike, [&, &name = name, &value = value](const auto& other) {
      const auto& task = other.first.front().task;
      return !task.contains(name) || task.at(name) != value;
    });
    const auto shown = one_row(value.is_string() ? value.template get<std::string>() : plain_json(value));
    if (tells) text += name == section::kPlugin ? " " + shown : fmt::format(" {}={}", one_row(name), shown);
  }
  if (std::ranges::any_of(alike, [&](const auto& other) { return other.first.front().rows.test != data.rows.test; }))
    text += data.rows.test > 0 ? fmt::format(" {} test examples at most", data.rows.test) : " all test examples";
  return text == " on" ? "" : text;
}

/// Returns "ablate audit FILE --set ..." for the experiment whose grid has a trial; "" if no such experiment has a file.
std::string command_for(SQLite::Database& database, const FloorSource& data, const std::string& options) {
  Statement ask(
      database,
      "SELECT e.file, e.overrides FROM experiment_trial m JOIN experiment e ON e.id = m.experiment WHERE m.trial = ?1 "
      "AND (?2 = 0 OR e.id = ?2) AND e.file <> '' ORDER BY m.listed DESC, e.id DESC LIMIT 1");
  SQLite::bind(ask, data.trial, data.experiment);
  if (!ask.executeStep()) return "";
  auto command = "ablate audit " + shell_word(ask.getColumn(0).getString());
  const auto overrides = stored_json(ask.getColumn(1).getString());
  for (const auto& one : overrides.is_array() ? overrides : json::array())
    if (one.is_string()) command += " --set " + shell_word(one.get<std::string>());
  return command + options;
}

/// Sampling error of a proportion of correct targets: the part of its error that comes from the choice of the test examples.
class OwnError {
 public:
  /// @param is_known true if exactly `examples` examples were used; false: at most `examples`
  void add(const Means& means, std::int64_t examples, bool is_known) {
    for (const auto mean : means.all) most_ = std::max(most_, error_of(mean, examples));
    if (means.all.empty()) return;
    least_n_ = least_n_ == 0 ? examples : std::min(least_n_, examples), most_n_ = std::max(most_n_, examples);
    known_ = known_ && is_known;
  }
  std::string note(const std::string& metric) const {
    if (most_n_ == 0) return "";
    const auto count = least_n_ == most_n_ ? fmt::format("{}", most_n_) : fmt::format("{} to {}", least_n_, most_n_);
    return fmt::format("{} is a proportion of {}{} test examples; the 95 % error of this proportion alone is {}± {:.1f}{}",
                       metric, known_ ? "" : "at most ", count, known_ ? "up to " : "", most_, known_ ? "" : " or more");
  }

 private:
  double most_ = 0;
  std::int64_t least_n_ = 0, most_n_ = 0;
  bool known_ = true;
};

/// Groups cells with equal floors. Trials with different batches or steps share floors if all of them see the whole split.
Alike alike_of(SQLite::Database& database, const FloorCells& data) {
  auto groups = data.groups;
  for (auto& group : groups) {
    for (auto& one : group)
      if (const auto known = find_floors(database, one.digest, one.task, one.rows)) one.rows = known->rows;
    std::sort(group.begin(), group.end());
  }
  Alike alike;
  for (std::size_t cell = 0; cell < data.of_cell.size(); ++cell)
    if (const auto group = data.of_cell[cell]) alike[groups[*group]].insert(cell);
  return alike;
}

/// @param missing gets the data without known floors
std::vector<std::string> notes_of(SQLite::Database& database, const Alike& alike, std::size_t m, const TableRequest& request,
                                  Table& table, std::vector<FloorSource>& missing) {
  std::vector<std::string> notes;
  const auto& metric = table.metrics[m];
  OwnError own;
  for (const auto& [data, cells] : alike) {
    const auto means = means_of(table, m, cells);
    if (means.all.empty()) continue;
    auto floors = task_floors(database, data, request.floors_version);
    if (floors && floors->metric == metric.name) {
      const auto of = name_of(data.front(), alike);
      std::ranges::stable_sort(floors->all, [more = metric.direction == "max"](const auto& a, const auto& b) {
        return more ? a.value > b.value : a.value < b.value;
      });
      for (const auto cell : cells) table.cells[index_of(table, cell, m)].floor = floors->all.front().value;
      notes.push_back(note_of(*floors, metric, of, means));
      add_class_notes(*floors, of, means, notes);
    } else if (!floors)
      missing.push_back(data.front());
    if (metric.unit != "%") continue;
    if (floors)
      own.add(means, floors->examples, true);
    else if (data.front().rows.test > 0)
      own.add(means, data.front().rows.test, false);
  }
  if (auto note = own.note(metric.name); !note.empty()) notes.push_back(std::move(note));
  return notes;
}

}  // namespace

std::vector<std::string> floor_notes(const TableTrials& from, const std::vector<Axis>& varying, Table& table,
                                     const TableRequest& request) {
  std::vector<std::string> notes;
  if (std::ranges::none_of(table.metrics, [&](const auto& metric) { return table.judges.contains(metric.name); })) return notes;
  const auto cells = floor_cells(from, varying, table);
  return guarded(from.reader.file(), [&] {
    auto& database = from.reader.database();
    const auto alike = alike_of(database, cells);
    std::vector<FloorSource> missing;
    for (std::size_t m = 0; m < table.metrics.size(); ++m) {
      if (!table.judges.contains(table.metrics[m].name)) continue;
      for (auto& note : notes_of(database, alike, m, request, table, missing)) notes.push_back(std::move(note));
    }
    std::set<std::string> commands;
    for (const auto& data : missing) {
      if (!data.is_imported)
        commands.insert(command_for(database, data, task_options(database, plugin_id_of(data.task), request)));
    }
    commands.erase("");
    for (const auto& command : commands)
      notes.push_back(fmt::format("floors on these test examples are not known: `{}` finds them", command));
    if (std::ranges::any_of(missing, &FloorSource::is_imported))
      notes.push_back(fmt::format(
          "floors of imported trials are not known: run `ablate audit STUDY.toml{}` on the study that they came from",
          request.database_option));
    return notes;
  });
}

}  // namespace ablate::db
