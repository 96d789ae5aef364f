#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/plain_text.h"
#include "core/util/trimmed.h"
#include "db/report/expression.h"
#include "db/report/statistics.h"
#include "db/report/summary.h"
#include "db/types/metric_declaration.h"

namespace ablate::db {
namespace {

using Numbers = std::vector<double>;

/// Index of each of the table's metrics that an expression names.
using Places = std::map<std::string, std::size_t>;

/// Derived value: name, unit, direction ("max", "min" or "") and formula.
struct Derived {
  std::string name, unit, direction, text;
  Expression expression;
};

/// Parses a value of --derive. Throws Error; the caller adds the value's name to the message.
Derived parse_derived(const std::string& value) {
  const auto equals = value.find('=');
  const auto declared = metric_declaration(trimmed(value.substr(0, equals)));
  const auto& name = declared.name;
  if (equals == std::string::npos || name.empty())
    throw Error("expected NAME = EXPRESSION, for example 'speed = 1000 / train/step_time'");
  if (const auto why = declaration_refusal(declared); !why.empty()) throw Error(fmt::format("{} {}", name, why));
  if (const auto why = line_refusal(name); !why.empty()) throw Error(fmt::format("the name {}", why));
  const auto unit = declared.unit.value_or("");
  if (const auto why = line_refusal(unit); !why.empty()) throw Error(fmt::format("the unit {}", why));
  const auto text = trimmed(value.substr(equals + 1));
  return {name, unit, declared.direction.value_or(""), text, Expression(text)};
}

std::string refuse_derived(const std::string& value) try {
  parse_derived(value);
  return "";
} catch (const Error& error) {
  return error.what();
}

/// Throws Error if a metric is not in the table, or if the expression names no metric.
Places places_of(const Derived& derived, const Table& table) {
  std::vector<std::string> known;
  for (const auto& metric : table.metrics) known.push_back(metric.name);
  if (std::find(known.begin(), known.end(), derived.name) != known.end())
    throw Error(fmt::format("--derive {}: the table has a metric of this name, expected another", derived.name));
  Places places;
  for (const auto& name : derived.expression.names()) {
    const auto at = std::find(known.begin(), known.end(), name);
    if (at == known.end())
      throw Error(fmt::format("--derive {}: found {}, expected one of the table's metrics ({}){}; --metric adds one",
                              derived.name, name, fmt::join(known, ", "),
                              name.find('/') == std::string::npos ? "" : hint(name, known)));
    places.emplace(name, static_cast<std::size_t>(at - known.begin()));
  }
  if (places.empty())
    throw Error(
        fmt::format("--derive {}: {} names no metric, expected one of {}", derived.name, derived.text, fmt::join(known, ", ")));
  return places;
}

bool have_own_seeds_in(const Places& places, const Table& table, std::size_t row, std::size_t column) {
  return std::all_of(places.begin(), places.end(),
                     [&](const auto& place) { return have_own_seeds(table.cell(row, place.second, column).samples); });
}

/// Returns the derived value for each seed that a cell has in all the metrics.
std::vector<Sample> shared_samples(const Derived& derived, const Places& places, const Table& table, std::size_t row,
                                   std::size_t column) {
  std::map<std::int64_t, std::map<std::string, double>> by_seed;
  for (const auto& [name, metric] : places)
    for (const auto& sample : table.cell(row, metric, column).samples)
      by_seed[sample.seed.value_or(0)].emplace(name, sample.value);
  std::vector<Sample> samples;
  std::map<std::string, Numbers> of;
  for (const auto& [name, unused] : places) of[name];  // an entry even if no seed has all metrics
  for (const auto& [seed, values] : by_seed) {
    if (values.size() != places.size()) continue;
    samples.push_back({seed, 0});
    for (const auto& [name, value] : values) of[name].push_back(value);
  }
  const auto values =
      derived.expression.values(samples.size(), [&](const std::string& name) -> const Numbers& { return of.at(name); });
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].value = values[i];
  return samples;
}

/// Evaluates the expression once for each row, on the member `number` of the column's cells (mean or published).
Numbers of_cells(const Derived& derived, const Places& places, const Table& table, std::size_t column, double Cell::*number) {
  std::map<std::string, Numbers> of;
  for (const auto& [name, metric] : places)
    for (std::size_t r = 0; r < table.rows.size(); ++r) of[name].push_back(table.cell(r, metric, column).*number);
  return derived.expression.values(table.rows.size(), [&](const std::string& name) -> const Numbers& { return of.at(name); });
}

/// Returns a cell of the new metric without a number. The cell has the trials of the metric with the fewest values.
Cell blank_cell(const Places& places, const Table& table, std::size_t row, std::size_t column) {
  const Cell* least = nullptr;
  bool unsettled = false;
  for (const auto& [unused, metric] : places) {
    const auto& cell = table.cell(row, metric, column);
    unsettled = unsettled || cell.unsettled;
    if (least == nullptr || cell.n < least->n) least = &cell;
  }
  Cell cell;
  cell.trials = least->trials, cell.tasks = least->tasks, cell.settings = least->settings, cell.failures = least->failures;
  cell.checked = least->checked, cell.n = least->n, cell.unsettled = unsettled;
  return cell;
}

/// Adds the new metric's cells at the end of each row.
void put_cells(std::vector<Cell> cells, Table& table) {
  const auto width = table.columns.size();
  std::vector<Cell> all;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto old = table.metrics.size() - 1;
    for (std::size_t i = 0; i < old * width; ++i) all.push_back(std::move(table.cells[r * old * width + i]));
    for (std::size_t c = 0; c < width; ++c) all.push_back(std::move(cells[r * width + c]));
  }
  table.cells = std::move(all);
}

/// Derives a value for each seed if no function goes over rows and the cell has one setting with seeds; else from the means.
void add_derived(const std::vector<std::string>& values, Table& table) {
  for (const auto& value : values) {
    if (const auto why = refuse_derived(value); !why.empty())
      throw Error(fmt::format("--derive {}: {}", trimmed(value.substr(0, value.find('='))), why));
    const auto derived = parse_derived(value);
    const auto places = places_of(derived, table);
    const bool by_means = derived.expression.over_rows();
    const auto width = table.columns.size();
    const bool any_seeds = std::any_of(table.cells.begin(), table.cells.end(),
                                       [](const Cell& cell) { return !cell.samples.empty() && cell.samples.front().seed; });
    std::vector<Cell> cells(table.rows.size() * width);
    for (std::size_t c = 0; c < width; ++c) {
      const auto means = of_cells(derived, places, table, c, &Cell::mean);
      const auto published = of_cells(derived, places, table, c, &Cell::published);
      for (std::size_t r = 0; r < table.rows.size(); ++r) {
        auto& cell = cells[r * width + c] = blank_cell(places, table, r, c);
        cell.published = published[r];
        if (by_means || cell.settings > 1 || !have_own_seeds_in(places, table, r, c)) {
          cell.mean = means[r];
          if (std::isnan(cell.mean)) cell.n = 0;
          continue;
        }
        cell.samples = shared_samples(derived, places, table, r, c);
        const auto summary = summary_of(cell.samples);
        cell.n = summary.n, cell.mean = summary.mean, cell.deviation = cell.uncertainty = summary.deviation;
      }
    }
    auto& metric = table.metrics.emplace_back();
    metric.name = derived.name, metric.unit = derived.unit, metric.direction = derived.direction;
    metric.description = derived.text, metric.kind = derived.direction.empty() ? MetricKind::kCount : MetricKind::kScore;
    if (derived.direction.empty()) metric.owner = MetricOwner::kHost;  // like a count: not a result of a method
    put_cells(std::move(cells), table);
    table.notes.push_back(fmt::format("{} = {}, {}", derived.name, derived.text,
                                      by_means    ? "of the means in each column"
                                      : any_seeds ? "of each seed"
                                                  : "of each value"));
  }
}

}  // namespace

const Statistic statistics::derive{
    "derive",
    "'NAME = EXPRESSION'",
    true,
    "a further metric computed from the table's metrics: + - * / (with blanks around), log, round, and over rows min, max, "
    "mean, minmax, rank: 'gain[max] = minmax(test/accuracy) - minmax(train/step_time)'. The brackets have the unit and the "
    "direction (max or min), if needed. Repeat it for more",
    "",
    refuse_derived,
    add_derived};

}  // namespace ablate::db
