#include "db/questions/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "core/util/nearest.h"
#include "db/history/schema.h"
#include "db/questions/comparison.h"
#include "db/questions/environments.h"
#include "db/questions/groups.h"
#include "db/questions/selection.h"
#include "db/questions/settling.h"
#include "db/questions/table_notes.h"

namespace ablate::db {
namespace {

constexpr const char* kSeed = "seed";

/// Names without blanks around them; nothing where a comma stands before nothing.
/// @param paths whether they are paths, which become those of the history
std::vector<std::string> without_blanks(const std::vector<std::string>& names, bool paths) {
  constexpr const char* kBlanks = " \t\n";
  std::vector<std::string> all;
  for (const auto& name : names) {
    const auto from = name.find_first_not_of(kBlanks), to = name.find_last_not_of(kBlanks);
    if (from == std::string::npos) continue;
    const auto bare = name.substr(from, to + 1 - from);
    all.push_back(paths ? history_path(bare) : bare);
  }
  return all;
}

class Builder {
 public:
  Builder(const Reader& reader, TableRequest request) : reader_(reader), request_(std::move(request)) {
    for (auto* names : {&request_.rows, &request_.columns}) *names = without_blanks(*names, true);
    request_.metrics = without_blanks(request_.metrics, false);
  }

  Table build() {
    table_.experiment = request_.experiment;
    std::optional<std::int64_t> experiment;
    if (!request_.experiment.empty()) experiment = reader_.experiment(request_.experiment);
    selection_ = select_trials(reader_, experiment);
    if (trials().empty())
      throw Error(fmt::format("{} has no trials{} yet: `ablate run FILE` makes some", reader_.file().string(),
                              experiment ? " of " + request_.experiment : ""));
    table_.trials = trials().size();
    varying_ = varying_axes(reader_, trials());
    choose_paths();
    const auto row_axes = axes(table_.row_paths, "--rows"), column_axes = axes(table_.column_paths, "--cols");
    choose_metrics();
    if (!wrong_.empty()) throw Error(fmt::format("{}", fmt::join(wrong_, "\n")));
    const Groups rows(row_axes, trials().size(), experiment.has_value());
    const Groups columns(column_axes, trials().size(), experiment.has_value());
    for (std::size_t i = 0; i < rows.keys.size(); ++i)
      table_.rows.push_back(rows.label(i)), table_.row_values.push_back(rows.values(i));
    for (std::size_t i = 0; i < columns.keys.size(); ++i)
      table_.columns.push_back(columns.label(i)), table_.column_values.push_back(columns.values(i));
    cells_.resize(rows.keys.size() * columns.keys.size());
    for (std::size_t t = 0; t < trials().size(); ++t)
      cells_[rows.of_trial[t] * columns.keys.size() + columns.of_trial[t]].push_back(t);
    fill(experiment);
    mark_best(table_, tasks_of_cells());
    add_notes();
    if (request_.exponent) add_exponents(table_);
    if (!request_.baseline.empty()) add_ratios(table_, request_.baseline);
    return std::move(table_);
  }

 private:
  const std::vector<SelectedTrial>& trials() const { return selection_.trials; }

  std::size_t place(std::size_t row_and_column, std::size_t metric) const {
    const auto columns = table_.columns.size();
    return (row_and_column / columns * metrics_.size() + metric) * columns + row_and_column % columns;
  }

  void choose_metrics() {
    if (request_.metrics.empty()) {
      if (auto main = main_metric(reader_, trials()))
        metrics_.push_back(*main);
      else  // no results at all: the failures are still worth a table
        metrics_.emplace_back().name = "test/accuracy";
    }
    for (const auto& name : request_.metrics) try {
        metrics_.push_back(reader_.metric(name));
      } catch (const Error& error) {
        wrong_.push_back(fmt::format("--metric: {}", error.what()));
      }
    for (const auto& metric : metrics_) table_.metrics.push_back(metric);
  }

  bool varies(const std::string& path) const {
    return std::any_of(varying_.begin(), varying_.end(), [&](const Axis& axis) { return axis.path == path; });
  }

  void choose_paths() {
    auto& rows = table_.row_paths;
    auto& columns = table_.column_paths;
    rows = request_.rows;
    columns = request_.columns;
    if (columns.empty() && varies("task") && std::find(rows.begin(), rows.end(), "task") == rows.end()) columns = {"task"};
    if (!rows.empty()) return;
    for (const auto& axis : varying_) {
      // A parameter of what the columns show belongs to its column.
      const bool in_columns = std::any_of(columns.begin(), columns.end(), [&](const std::string& column) {
        return axis.path == column || axis.path.starts_with(column + ".");
      });
      if (axis.path != kSeed && !in_columns) rows.push_back(axis.path);
    }
  }

  /// What is wrong with a path is added to wrong_.
  std::vector<const Axis*> axes(const std::vector<std::string>& paths, const char* option) {
    std::vector<const Axis*> found;
    for (const auto& path : paths) {
      const auto at = std::find_if(varying_.begin(), varying_.end(), [&](const Axis& axis) { return axis.path == path; });
      if (at != varying_.end()) {
        found.push_back(&*at);
        continue;
      }
      const auto known = reader_.paths();
      const auto id = known.find(path);
      if (id == known.end()) {
        std::vector<std::string> names;
        for (const auto& [name, unused] : known) names.push_back(name);
        auto remedy = hint(path, names);
        if (remedy.empty()) {
          std::vector<std::string> differing;
          for (const auto& axis : varying_) differing.push_back(axis.path);
          if (!differing.empty()) remedy = fmt::format(" (those that vary: {})", fmt::join(differing, ", "));
        }
        wrong_.push_back(fmt::format("{}: no trial has a parameter \"{}\"{}", option, path, remedy));
        continue;
      }
      constant_.push_back(std::make_unique<Axis>(load_axis(reader_, path, id->second, trials())));
      found.push_back(constant_.back().get());
    }
    return found;
  }

  void fill(std::optional<std::int64_t> experiment) {
    table_.cells.resize(cells_.size() * metrics_.size());
    table_.published = request_.published;
    std::optional<Settling> settling;
    if (std::any_of(metrics_.begin(), metrics_.end(), is_step_time)) settling = load_settling(reader_, trials());
    std::vector<std::string> sources;
    for (std::size_t m = 0; m < metrics_.size(); ++m) {
      const auto values = load_results(reader_, metrics_[m].id, trials());
      values_.push_back(values);
      std::vector<std::optional<double>> published;
      if (request_.published) published = load_published(reader_, metrics_[m].name, experiment, trials(), sources);
      for (std::size_t i = 0; i < cells_.size(); ++i) {
        auto& cell = table_.cells[place(i, m)];
        fill(cells_[i], values, cell);
        if (is_step_time(metrics_[m])) settle(cells_[i], values, *settling, cell);
        if (request_.published) cell.published = mean(cells_[i], published).first;
      }
    }
    if (!request_.published) return;
    for (const auto& source : sources) table_.notes.push_back("published: " + source);
    if (sources.empty()) table_.notes.push_back("no [[published]] of a study gives these metrics for these trials");
  }

  static void settle(const std::vector<std::size_t>& members, const std::vector<std::optional<double>>& values,
                     const Settling& settling, Cell& cell) {
    for (const auto t : members) {
      if (!values[t]) continue;
      cell.unsettled = cell.unsettled || settling.unsettled[t];
      if (cell.n == 1 && settling.spread[t]) cell.uncertainty = std::abs(cell.mean) * *settling.spread[t] / 100;
    }
  }

  /// Of each cell the tasks, with their parameters, that its mean is over.
  std::vector<std::set<std::size_t>> tasks_of_cells() const {
    std::vector<const Axis*> axes;
    for (const auto& axis : varying_)
      if (axis.path == "task" || axis.path.starts_with("task.")) axes.push_back(&axis);
    const Groups tasks(axes, trials().size(), true);
    std::vector<std::set<std::size_t>> all(table_.cells.size());
    for (std::size_t m = 0; m < metrics_.size(); ++m)
      for (std::size_t i = 0; i < cells_.size(); ++i)
        for (const auto t : cells_[i])
          if (values_[m][t]) all[place(i, m)].insert(tasks.of_trial[t]);
    return all;
  }

  void add_notes() {
    auto& notes = table_.notes;
    const auto append = [&](std::vector<std::string> more) { notes.insert(notes.end(), more.begin(), more.end()); };
    append(environment_notes(reader_, trials(), metrics_));
    append(settling_notes(table_));
    auto shown = table_.row_paths;
    shown.insert(shown.end(), table_.column_paths.begin(), table_.column_paths.end());
    shown.emplace_back(kSeed);
    append(average_notes(varying_, shown, cells_));
    append(left_out_notes(selection_, request_.experiment));
  }

  /// Over the members that have a value, and how many they are; NaN where none has one.
  static std::pair<double, int> mean(const std::vector<std::size_t>& members,
                                     const std::vector<std::optional<double>>& values) {
    double sum = 0;
    int n = 0;
    for (const auto t : members)
      if (values[t]) ++n, sum += *values[t];
    return {n > 0 ? sum / n : std::numeric_limits<double>::quiet_NaN(), n};
  }

  void fill(const std::vector<std::size_t>& members, const std::vector<std::optional<double>>& values, Cell& cell) {
    cell.trials = static_cast<int>(members.size());
    std::tie(cell.mean, cell.n) = mean(members, values);
    double squares = 0;
    for (const auto t : members)
      if (values[t]) squares += (*values[t] - cell.mean) * (*values[t] - cell.mean);
    if (cell.n > 1) cell.deviation = cell.uncertainty = std::sqrt(squares / (cell.n - 1));
    for (const auto* outcome : {"failed", "timeout", "interrupted", "missing"}) {
      Cell::Failure failure{outcome, 0, "", 0};
      std::string first;  // whole, while the failure has a line of it
      for (const auto t : members) {
        if (trials()[t].outcome != outcome) continue;
        const auto reason = reason_of(trials()[t].attempt);
        if (failure.count++ == 0)
          first = reason, failure.reason = first_line(reason);
        else
          failure.other_reasons += reason != first;
      }
      if (failure.count > 0) cell.failures.push_back(failure);
    }
  }

  std::string reason_of(std::int64_t attempt) {
    if (attempt == 0) return "";
    return guarded(reader_.file(), [&] {
      SQLite::Statement ask(reader_.database(), "SELECT reason FROM attempt WHERE id = ?");
      ask.bind(1, attempt);
      return ask.executeStep() ? ask.getColumn(0).getString() : std::string();
    });
  }

  const Reader& reader_;
  TableRequest request_;
  Table table_;
  Selection selection_;
  std::vector<Reader::StoredMetric> metrics_;
  std::vector<Axis> varying_;
  std::vector<std::unique_ptr<Axis>> constant_;             ///< asked for, though they do not vary
  std::vector<std::string> wrong_;                          ///< all that the request has wrong, a line each
  std::vector<std::vector<std::size_t>> cells_;             ///< [row][column] -> trials
  std::vector<std::vector<std::optional<double>>> values_;  ///< [metric][trial]
};

}  // namespace

Table make_table(const Reader& reader, const TableRequest& request) { return Builder(reader, request).build(); }

}  // namespace ablate::db
