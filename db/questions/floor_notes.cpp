#include "db/questions/floor_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/records/data_settings.h"
#include "core/records/floor_texts.h"
#include "core/util/plain_json.h"
#include "core/util/shell_word.h"
#include "db/history/floors.h"
#include "db/history/schema.h"
#include "db/history/stored_json.h"
#include "db/questions/task_floors.h"
#include "db/report/comparison_fields.h"
#include "db/report/format.h"
#include "db/report/summary.h"

namespace ablate::db {
namespace {

using nlohmann::json;
using SQLite::Statement;

/// Cells that have the same floors, by their place of row and column.
using Alike = std::map<std::vector<AskedData>, std::set<std::size_t>>;

constexpr double kOf95 = 1.959963984540054;  // of the standard normal distribution

struct Interval {
  double low, high;
};

/// Returns Wilson's 95 % interval (Wilson 1927), in percent, of a proportion over so many examples.
Interval interval_of(double percent, std::int64_t examples) {
  const double n = static_cast<double>(examples), p = std::clamp(percent / 100, 0.0, 1.0), z = kOf95 * kOf95 / n;
  const double centre = (p + z / 2) / (1 + z), half = kOf95 / (1 + z) * std::sqrt(p * (1 - p) / n + z / (4 * n));
  return {100 * (centre - half), 100 * (centre + half)};
}

/// Returns how far the interval reaches from the proportion.
double error_of(double percent, std::int64_t examples) {
  const auto [low, high] = interval_of(percent, examples);
  const double middle = std::clamp(percent, 0.0, 100.0);
  return std::max(high - middle, middle - low);
}

/// Whether tasks may be judged by it: what their objectives tell first.
bool is_main_of_test(const std::string& metric) {
  return metric == "test/accuracy" || metric == "test/perplexity" ||
         (metric.starts_with("test/bits_per_") && metric.find('@') == std::string::npos);
}

/// Means of a metric over some cells, and whether one stands in a row at most.
struct Means {
  std::vector<double> all;
  std::vector<std::string> rows;  ///< of each
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

std::string note_of(TaskFloors floors, const MetricInfo& metric, const std::string& of, const Means& means) {
  const bool more = metric.direction == "max";
  std::ranges::stable_sort(floors.all,
                           [&](const auto& a, const auto& b) { return more ? a.value > b.value : a.value < b.value; });
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
    note += "no better than the first";
  if (!floors.left_out.empty())
    note += fmt::format("; no time was left for {}: `ablate audit` tries again", fmt::join(floors.left_out, ", "));
  return note;
}

/// Says that a split has one class, and which rows are below the largest class.
void add_class_notes(const TaskFloors& floors, const std::string& of, const Means& means, std::vector<std::string>& notes) {
  const auto largest = std::ranges::find(floors.all, "largest class", &KnownFloor::name);
  if (largest == floors.all.end()) return;
  if (largest->how == kDevOfOneClass)
    notes.push_back(fmt::format("the dev examples{} are all of one class: what is chosen on dev is chosen at random", of));
  if (largest->value >= 100) {
    notes.push_back(fmt::format("the test examples{} are all of one class: {} tells nothing", of, floors.metric));
    return;
  }
  std::vector<std::string> below;
  for (std::size_t i = 0; i < means.all.size(); ++i)
    if (means.all[i] < largest->value && (below.empty() || below.back() != means.rows[i])) below.push_back(means.rows[i]);
  if (!below.empty())
    notes.push_back(
        fmt::format("{}{} is below the largest class ({:.1f} %) for {}", floors.metric, of, largest->value, some_of(below)));
}

/// " on listops max_length=64": what tells the task from the table's others.
std::string name_of(const AskedData& asked, const Alike& alike) {
  if (alike.size() == 1) return "";
  std::string text = " on";
  for (const auto& [name, value] : asked.task.items()) {
    const bool tells = std::ranges::any_of(alike, [&, &name = name, &value = value](const auto& other) {
      const auto& task = other.first.front().task;
      return !task.contains(name) || task.at(name) != value;
    });
    const auto shown = one_row(value.is_string() ? value.template get<std::string>() : plain_json(value));
    if (tells) text += name == section::kPlugin ? " " + shown : fmt::format(" {}={}", one_row(name), shown);
  }
  if (std::ranges::any_of(alike, [&](const auto& other) { return other.first.front().rows.test != asked.rows.test; }))
    text += asked.rows.test > 0 ? fmt::format(" {} test examples at most", asked.rows.test) : " all test examples";
  return text == " on" ? "" : text;
}

/// "ablate audit FILE --set ..." of the experiment whose grid has a trial; "" where there is none with a file.
std::string command_for(SQLite::Database& database, const AskedData& asked, const std::string& options) {
  Statement ask(
      database,
      "SELECT e.file, e.overrides FROM experiment_trial m JOIN experiment e ON e.id = m.experiment WHERE m.trial = ?1 "
      "AND (?2 = 0 OR e.id = ?2) AND e.file <> '' ORDER BY m.listed DESC, e.id DESC LIMIT 1");
  SQLite::bind(ask, asked.trial, asked.experiment);
  if (!ask.executeStep()) return "";
  auto command = "ablate audit " + shell_word(ask.getColumn(0).getString());
  const auto overrides = stored_json(ask.getColumn(1).getString());
  for (const auto& one : overrides.is_array() ? overrides : json::array())
    if (one.is_string()) command += " --set " + shell_word(one.get<std::string>());
  return command + options;
}

std::set<std::filesystem::path> task_libraries(SQLite::Database& database, const json& task) {
  std::set<std::filesystem::path> libraries;
  Statement ask(database, "SELECT path FROM plugin WHERE kind = 'task' AND name = ?");
  ask.bind(1, plugin_id_of(task));
  while (ask.executeStep()) libraries.insert(ask.getColumn(0).getString());
  return libraries;
}

/// How far a share of targets met is uncertain by the choice of the test examples alone.
class OwnError {
 public:
  /// @param is_known whether so many were asked; else at most
  void add(const Means& means, std::int64_t examples, bool is_known) {
    for (const auto mean : means.all) most_ = std::max(most_, error_of(mean, examples));
    if (means.all.empty()) return;
    least_n_ = least_n_ == 0 ? examples : std::min(least_n_, examples), most_n_ = std::max(most_n_, examples);
    known_ = known_ && is_known;
  }
  std::string note(const std::string& metric) const {
    if (most_n_ == 0) return "";
    const auto count = least_n_ == most_n_ ? fmt::format("{}", most_n_) : fmt::format("{} to {}", least_n_, most_n_);
    return fmt::format("{} is a proportion of {}{} test examples: its own 95 % error is {}± {:.1f}{}", metric,
                       known_ ? "" : "at most ", count, known_ ? "up to " : "", most_, known_ ? "" : " or more");
  }

 private:
  double most_ = 0;
  std::int64_t least_n_ = 0, most_n_ = 0;
  bool known_ = true;
};

/// Rows of other batches, or of more steps than there are examples for, may have the same floors.
Alike alike_of(SQLite::Database& database, const AskedCells& asked) {
  auto groups = asked.groups;
  for (auto& group : groups) {
    for (auto& one : group)
      if (const auto known = find_floors(database, one.digest, one.task, one.rows)) one.rows = known->rows;
    std::sort(group.begin(), group.end());
  }
  Alike alike;
  for (std::size_t cell = 0; cell < asked.of_cell.size(); ++cell)
    if (const auto group = asked.of_cell[cell]) alike[groups[*group]].insert(cell);
  return alike;
}

/// @param missing gets what floors are not known of
std::vector<std::string> notes_of(SQLite::Database& database, const Alike& alike, std::size_t m, const TableRequest& request,
                                  const Table& table, std::vector<AskedData>& missing) {
  std::vector<std::string> notes;
  const auto& metric = table.metrics[m];
  OwnError own;
  for (const auto& [asked, cells] : alike) {
    const auto means = means_of(table, m, cells);
    if (means.all.empty()) continue;
    const auto floors = task_floors(database, asked, request.floors_version);
    if (floors && floors->metric == metric.name) {
      const auto of = name_of(asked.front(), alike);
      notes.push_back(note_of(*floors, metric, of, means));
      add_class_notes(*floors, of, means, notes);
    } else if (!floors)
      missing.push_back(asked.front());
    if (metric.unit != "%") continue;
    if (floors)
      own.add(means, floors->examples, true);
    else if (asked.front().rows.test > 0)
      own.add(means, asked.front().rows.test, false);
  }
  if (auto note = own.note(metric.name); !note.empty()) notes.push_back(std::move(note));
  return notes;
}

}  // namespace

std::vector<std::string> floor_notes(const TableTrials& from, const std::vector<Axis>& varying, const Table& table,
                                     const TableRequest& request) {
  std::vector<std::string> notes;
  if (std::ranges::none_of(table.metrics, [](const auto& metric) { return is_main_of_test(metric.name); })) return notes;
  const auto cells = asked_data(from, varying, table);
  return guarded(from.reader.file(), [&] {
    auto& database = from.reader.database();
    const auto alike = alike_of(database, cells);
    std::vector<AskedData> missing;
    for (std::size_t m = 0; m < table.metrics.size(); ++m) {
      if (!is_main_of_test(table.metrics[m].name)) continue;
      for (auto& note : notes_of(database, alike, m, request, table, missing)) notes.push_back(std::move(note));
    }
    std::set<std::string> commands;
    for (const auto& asked : missing) {
      if (asked.is_imported) continue;
      const auto where = request.check_options ? request.check_options(task_libraries(database, asked.task)) : "";
      commands.insert(command_for(database, asked, where + request.database_option));
    }
    commands.erase("");
    for (const auto& command : commands)
      notes.push_back(fmt::format("floors on these test examples are not known: `{}` finds them", command));
    if (std::ranges::any_of(missing, &AskedData::is_imported))
      notes.push_back(
          fmt::format("floors of imported trials are not known: `ablate audit STUDY.toml{}` finds them, of the study "
                      "that they came from",
                      request.database_option));
    return notes;
  });
}

}  // namespace ablate::db
