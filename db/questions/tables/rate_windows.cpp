#include "db/questions/tables/rate_windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/util/error.h"
#include "core/util/rate_text.h"
#include "db/report/format.h"

namespace ablate::db {
namespace {

constexpr const char *kTest = "test/", *kDev = "dev/";

/// Returns each metric after its counterpart on dev, if the history has one, and then the metrics by which dev chose.
std::vector<std::string> with_dev(const Reader& reader, const std::vector<MetricInfo>& metrics,
                                  const std::vector<Chosen>& choices) {
  std::vector<std::string> names;
  const auto known = reader.metrics();
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const auto& metric : metrics) {
    if (metric.name.starts_with(kTest)) {
      const auto dev = kDev + metric.name.substr(std::string(kTest).size());
      if (std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.name == dev; })) add(dev);
    }
    add(metric.name);
  }
  for (const auto& chosen : choices)
    if (!chosen.judge.empty()) add(chosen.judge);
  return names;
}

std::optional<double> number_of(const std::string& text, const nlohmann::ordered_json& value) {
  if (value.is_number()) return value.get<double>();
  if (const auto rate = parse_rate(text)) return rate->value();
  return std::nullopt;
}

/// True if all trials of a cell have a finite number.
bool is_whole(const Cell& cell) {
  return cell.n > 0 && static_cast<int>(cell.samples.size()) == cell.trials && std::isfinite(cell.mean);
}

/// Returns the curve of a row over columns that differ only in their last label.
RateWindow curve_of(const Table& table, std::size_t row, const std::vector<std::size_t>& columns) {
  RateWindow window{.labels = table.rows[row], .path = table.column_paths.back()};
  const auto& label = table.columns[columns.front()];
  window.labels.insert(window.labels.end(), label.begin(), label.end() - 1);
  for (const auto column : columns) {
    if (table.cell(row, 0, column).trials == 0) continue;
    const auto& text = table.columns[column].back();
    const auto& value = table.column_values[column].back();
    RateWindow::Point point{.text = text, .json = value, .number = number_of(text, value)};
    for (std::size_t m = 0; m < table.metrics.size(); ++m) point.cells.push_back(table.cell(row, m, column));
    window.points.push_back(std::move(point));
  }
  std::stable_sort(window.points.begin(), window.points.end(),
                   [](const auto& a, const auto& b) { return label_key(a.text, a.number) < label_key(b.text, b.number); });
  return window;
}

/// Finds the choice of dev for a curve in the table `chosen`. Marks the chosen value and stores the metric of the choice.
void mark_chosen(const Table& chosen, std::size_t path, RateWindow& window) {
  for (std::size_t r = 0; r < chosen.rows.size(); ++r)
    for (std::size_t c = 0; c < chosen.columns.size(); ++c) {
      auto labels = chosen.rows[r];
      labels.insert(labels.end(), chosen.columns[c].begin(), chosen.columns[c].end());
      if (labels != window.labels) continue;
      const auto& choice = chosen.choice(r, c, path);
      window.edge = choice.edge;
      window.judge = choice.judge;
      for (auto& point : window.points)
        point.chosen = std::any_of(choice.values.begin(), choice.values.end(),
                                   [&](const auto& value) { return value.text == point.text; });
    }
}

/// Returns the metric by which dev chose; nullopt if dev has chosen nothing, or by several metrics.
std::optional<std::size_t> judge_of(const std::vector<MetricInfo>& metrics, const RateWindow& window) {
  for (std::size_t m = 0; m < metrics.size(); ++m)
    if (metrics[m].name == window.judge) return m;
  return std::nullopt;
}

/// Finds the window around the best value on dev. Returns "", or the reason if there is no window.
std::string find_window(const std::vector<MetricInfo>& metrics, std::optional<double> within, RateWindow& window) {
  const auto judge = judge_of(metrics, window);
  if (!judge)
    return std::any_of(window.points.begin(), window.points.end(), [](const auto& point) { return point.chosen; })
               ? "dev chose by several metrics"
               : "no number on dev";
  if (metrics[*judge].direction.empty()) return metrics[*judge].name + " has no direction";
  const double sign = metrics[*judge].direction == "max" ? 1 : -1;
  auto& points = window.points;
  const auto loss = [&](std::size_t i) { return -sign * points[i].cells[*judge].mean; };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (is_whole(points[i].cells[*judge]) && (!best || loss(i) < loss(*best))) best = i;
  if (!best) return "no value has all of its trials done";
  window.tolerance = within.value_or(points[*best].cells[*judge].deviation);
  if (std::isnan(window.tolerance))
    return points[*best].cells[*judge].n == 1 ? "the best has one seed: its deviation is not known"
                                              : "the best averages over several settings: its deviation is not known";
  const auto fits = [&](std::size_t i) {
    return is_whole(points[i].cells[*judge]) && loss(i) - loss(*best) <= window.tolerance;
  };
  auto first = *best, last = *best;
  while (first > 0 && fits(first - 1)) --first;
  while (last + 1 < points.size() && fits(last + 1)) ++last;
  for (auto i = first; i <= last; ++i) points[i].within = true;
  window.low = points[first].text, window.high = points[last].text;
  const auto low = points[first].number, high = points[last].number;
  if (low && high && *low > 0) window.factor = *high / *low;
  return "";
}

/// Groups the columns that differ only in their last label. Returns their indices, in order.
std::vector<std::vector<std::size_t>> curves_of(const Table& table) {
  std::vector<std::vector<std::size_t>> curves;
  const auto head = [&](std::size_t column) {
    return std::vector<std::string>(table.columns[column].begin(), table.columns[column].end() - 1);
  };
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const auto at = std::find_if(curves.begin(), curves.end(), [&](const auto& one) { return head(one.front()) == head(c); });
    if (at == curves.end())
      curves.push_back({c});
    else
      at->push_back(c);
  }
  return curves;
}

}  // namespace

RateWindows rate_windows(const Reader& reader, const TableRequest& request, std::optional<double> within) {
  const auto chosen = make_table(reader, request);
  if (chosen.tuned_paths.empty())
    throw Error(fmt::format(
        "found no parameter that dev chooses{}, expected one of a study's [grid.tune] that is not named in --rows or --cols; "
        "`ablate table` shows the other parameters that vary",
        request.experiments.empty() ? "" : fmt::format(" in {}", fmt::join(request.experiments, ", "))));
  RateWindows all{.label_paths = chosen.row_paths};
  all.label_paths.insert(all.label_paths.end(), chosen.column_paths.begin(), chosen.column_paths.end());
  auto each = request;
  each.rows = chosen.row_paths, each.metrics = with_dev(reader, chosen.metrics, chosen.chosen);
  for (std::size_t p = 0; p < chosen.tuned_paths.size(); ++p) {
    each.columns = chosen.column_paths;
    each.columns.push_back(chosen.tuned_paths[p]);
    const auto table = make_table(reader, each);
    all.metrics = table.metrics;
    const auto curves = curves_of(table);
    for (std::size_t r = 0; r < table.rows.size(); ++r)
      for (const auto& columns : curves) {
        auto window = curve_of(table, r, columns);
        if (window.points.empty()) continue;
        mark_chosen(chosen, p, window);
        window.unknown = find_window(table.metrics, within, window);
        all.windows.push_back(std::move(window));
      }
    for (const auto& note : table.notes)
      if (std::find(all.notes.begin(), all.notes.end(), note) == all.notes.end()) all.notes.push_back(note);
  }
  return all;
}

}  // namespace ablate::db
