#include "db/report/window_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "db/report/digits.h"
#include "db/report/failures.h"
#include "db/report/format.h"

namespace ablate::db {
namespace {

/// "failed 1/3: diverged, no number 1/3"
std::string open_trials(const std::vector<Cell>& cells) {
  auto text = failure_text(cells.front());
  int without = 0;  // of the metric that has most of them
  for (const auto& cell : cells)
    without = std::max(without, static_cast<int>(std::count_if(cell.samples.begin(), cell.samples.end(),
                                                               [](const auto& one) { return !std::isfinite(one.value); })));
  if (without > 0) text += fmt::format("{}no finite number {}/{}", text.empty() ? "" : ", ", without, cells.front().trials);
  return text;
}

/// "0.001 to 0.01 (x 10)"
std::string range_text(const RateWindow& window) {
  if (window.low == window.high) return window.low;
  auto text = fmt::format("{} to {}", window.low, window.high);
  if (std::isfinite(window.factor)) text += fmt::format(" (x {:.3g})", window.factor);
  return text;
}

std::vector<Digits> digits_of(const RateWindows& windows) {
  std::vector<Digits> digits;
  for (std::size_t m = 0; m < windows.metrics.size(); ++m) {
    std::vector<Measured> measured;
    for (const auto& window : windows.windows)
      for (const auto& point : window.points)
        if (const auto& cell = point.cells[m]; std::isfinite(cell.mean)) measured.push_back({cell.mean, cell.deviation});
    digits.emplace_back(measured);
  }
  return digits;
}

NamedRows readable_rows(const RateWindows& windows) {
  NamedRows all{.names = windows.label_paths, .rows = {}};
  all.names.insert(all.names.end(), {"parameter", "value"});
  for (const auto& metric : windows.metrics) all.names.push_back(with_unit(metric));
  all.names.insert(all.names.end(), {"n", "not done", "choice", "window"});
  const auto digits = digits_of(windows);
  for (const auto& window : windows.windows) {
    bool told = false;
    for (const auto& point : window.points) {
      std::vector<nlohmann::json> row(window.labels.begin(), window.labels.end());
      row.insert(row.end(), {window.path, point.text});
      int n = 0;
      for (std::size_t m = 0; m < point.cells.size(); ++m) {
        const auto& cell = point.cells[m];
        row.emplace_back(std::isfinite(cell.mean) ? digits[m].text(cell.mean, cell.deviation) : kAbsent);
        n = std::max(n, cell.n);
      }
      const auto first = !told && (point.within || !window.unknown.empty());
      told = told || first;
      row.insert(row.end(), {n, open_trials(point.cells), !point.chosen ? "" : window.edge ? "chosen, at the edge" : "chosen"});
      row.emplace_back(first ? window.unknown.empty() ? range_text(window) : fmt::format("{} ({})", kAbsent, window.unknown)
                             : std::string(point.within ? "within" : ""));
      all.rows.push_back(std::move(row));
    }
  }
  return all;
}

NamedRows data_rows(const RateWindows& windows) {
  NamedRows all{.names = windows.label_paths, .rows = {}};
  all.names.insert(all.names.end(), {"parameter", "value"});
  for (const auto& metric : windows.metrics)
    for (const auto* what : {"mean", "deviation", "n"}) all.names.push_back(fmt::format("{} {}", metric.name, what));
  for (const auto* name : {"trials", "not done", "chosen", "edge", "in window", "window low", "window high", "window factor",
                           "tolerance", "why no window"})
    all.names.emplace_back(name);
  for (const auto& window : windows.windows)
    for (const auto& point : window.points) {
      std::vector<nlohmann::json> row(window.labels.begin(), window.labels.end());
      row.insert(row.end(), {window.path, point.json.is_null() ? nlohmann::json(point.text) : nlohmann::json(point.json)});
      for (const auto& cell : point.cells)
        row.insert(row.end(), {number_or_null(cell.mean), number_or_null(cell.deviation), cell.n});
      row.insert(row.end(),
                 {point.cells.front().trials, open_trials(point.cells), point.chosen, point.chosen && window.edge, point.within,
                  window.low, window.high, number_or_null(window.factor), number_or_null(window.tolerance), window.unknown});
      all.rows.push_back(std::move(row));
    }
  return all;
}

}  // namespace

NamedRows window_rows(const RateWindows& windows, bool for_people) {
  return for_people ? readable_rows(windows) : data_rows(windows);
}

}  // namespace ablate::db
