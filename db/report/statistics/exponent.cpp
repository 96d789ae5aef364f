#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/util/error.h"
#include "db/report/statistics.h"
#include "db/report/summary.h"

namespace ablate::db {
namespace {

struct Point {
  double size, cost;
  double uncertainty = 0;  ///< relative uncertainty of the cost
};

struct Slope {
  double value = kNoNumber, uncertainty = 0;
  int points = 0;
};

/// Returns the slope of a least-squares line in logarithms.
Slope slope(std::vector<Point> points) {
  std::erase_if(points, [](const Point& point) { return !(point.size > 0) || !(point.cost > 0); });
  double x = 0, y = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(points.size());
  for (const auto& point : points) {
    const double a = std::log(point.size), b = std::log(point.cost);
    x += a, y += b, xx += a * a, xy += a * b;
  }
  Slope found{.points = static_cast<int>(points.size())};
  const double spread = n * xx - x * x;
  if (points.size() < 2 || spread <= 0) return found;
  found.value = (n * xy - x * y) / spread;
  for (const auto& point : points)
    found.uncertainty = std::hypot(found.uncertainty, (n * std::log(point.size) - x) / spread * point.uncertainty);
  return found;
}

/// Returns a slope with two decimals, or fewer if the uncertainty (0: unknown) requires. Adds "(3 of 4)" if some columns have
/// no point. Returns "" if there is no slope.
std::string text_of(const Slope& slope, std::size_t columns) {
  if (std::isnan(slope.value)) return "";
  const int decimals =
      slope.uncertainty > 0 ? std::clamp(-static_cast<int>(std::floor(std::log10(slope.uncertainty))), 0, 2) : 2;
  return fmt::format("{:.{}f}{}", slope.value, decimals,
                     slope.points < static_cast<int>(columns) ? fmt::format(" ({} of {})", slope.points, columns) : "");
}

/// Adds the exponent with which each metric grows with the columns' numbers.
void add_exponents(const std::vector<std::string>&, Table& table) {
  const auto sizes = column_sizes(table, "--exponent");
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    for (std::size_t m = 0; m < table.metrics.size(); ++m) {
      std::vector<Point> measured, published;
      auto& exponent = table.row_facts.emplace_back(RowFact{"exponent"});
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const auto& cell = table.cell(r, m, c);
        measured.push_back({sizes[c], cell.mean, relative_uncertainty(cell)});
        published.push_back({sizes[c], cell.published});
        exponent.unsettled = exponent.unsettled || cell.unsettled;
      }
      const auto ours = slope(std::move(measured)), theirs = slope(std::move(published));
      exponent.value = ours.value, exponent.points = ours.points, exponent.uncertainty = ours.uncertainty;
      exponent.published = theirs.value;
      exponent.text = text_of(ours, sizes.size()),
      exponent.published_text = text_of({theirs.value, 0, theirs.points}, sizes.size());
    }
}

}  // namespace

std::vector<double> column_sizes(const Table& table, const std::string& asked) {
  std::vector<double> sizes;
  std::set<double> distinct;
  for (const auto& value : table.column_values) {
    sizes.push_back(value.size() == 1 && value.front().is_number() ? value.front().get<double>() : kNoNumber);
    if (sizes.back() > 0) distinct.insert(sizes.back());
  }
  if (table.column_paths.size() != 1 || distinct.size() < 2)
    throw Error(fmt::format(
        "{}: the columns are {}, expected one parameter with at least two numbers above 0, as in --cols task.length", asked,
        table.column_paths.empty() ? "none" : fmt::format("{}", fmt::join(table.column_paths, ", "))));
  return sizes;
}

const Statistic statistics::exponent{
    "exponent", "", false, "how the metric grows with the columns' number, as n^exponent", "", nullptr, add_exponents};

}  // namespace ablate::db
