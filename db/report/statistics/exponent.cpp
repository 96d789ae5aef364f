#include <cmath>

#include "db/report/column_sizes.h"
#include "db/report/statistics.h"
#include "db/report/summary.h"

namespace ablate::db {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Point {
  double size, cost;
  double uncertainty = 0;  ///< of cost, relative
};

struct Slope {
  double value = kNone, uncertainty = 0;
  int points = 0;
};

/// The slope of least squares in logarithms.
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

/// How each metric grows with the columns' numbers.
void add_exponents(const std::vector<std::string>&, Table& table) {
  const auto sizes = column_sizes(table, "--exponent");
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    for (std::size_t m = 0; m < table.metrics.size(); ++m) {
      std::vector<Point> measured, published;
      auto& exponent = table.exponents.emplace_back();
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const auto& cell = table.cell(r, m, c);
        measured.push_back({sizes[c], cell.mean, relative_uncertainty(cell)});
        published.push_back({sizes[c], cell.published});
        exponent.unsettled = exponent.unsettled || cell.unsettled;
      }
      const auto ours = slope(std::move(measured)), theirs = slope(std::move(published));
      exponent.measured = ours.value, exponent.points = ours.points, exponent.uncertainty = ours.uncertainty;
      exponent.published = theirs.value, exponent.published_points = theirs.points;
    }
}

}  // namespace

const Statistic statistics::exponent{
    "exponent", "", false, "how the metric grows with the columns' number, as n^exponent", "", nullptr, add_exponents};

}  // namespace ablate::db
