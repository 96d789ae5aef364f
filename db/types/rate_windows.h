// How a metric depends on a parameter that dev chooses ([grid.tune]): all of its values, a curve for each row of a table. No
// SQLite.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

/// One row and column of a table, over the values of one tuned parameter.
struct RateWindow {
  struct Point {
    std::string text;
    nlohmann::ordered_json json;   ///< with its own type
    std::optional<double> number;  ///< where the value is one, or a single rate
    std::vector<Cell> cells;       ///< by RateWindows::metrics, over seeds
    bool chosen = false;           ///< dev chose it
    bool within = false;           ///< it lies in the window
  };
  std::vector<std::string> labels;  ///< by RateWindows::label_paths
  std::string path;                 ///< of the tuned parameter
  std::vector<Point> points;        ///< numbers by size, then texts. Those that the grid lacks here are left out
  std::string judge;  ///< the metric on dev by which it was chosen, one of RateWindows::metrics; "": none, or several
  bool edge = false;  ///< the chosen value is the smallest or the largest that was tried
  /// The window: the best value by the mean of `judge`, and its neighbours on both sides up to the first whose mean is worse
  /// than the best by more than `tolerance`, or is not known. The first and the last of its values; "" where it is not known.
  std::string low, high;
  double tolerance = std::numeric_limits<double>::quiet_NaN();  ///< in the unit of the metric on dev
  double factor = std::numeric_limits<double>::quiet_NaN();     ///< high / low, of numbers above 0
  std::string unknown;                                          ///< why there is no window; "": there is one
};

struct RateWindows {
  std::vector<std::string> label_paths;  ///< of the rows, then of the columns
  std::vector<MetricInfo> metrics;       ///< those of the table, each behind its like on dev, then the judges; none twice
  std::vector<RateWindow> windows;       ///< tuned parameter by tuned parameter, row by row
  std::vector<std::string> notes;        ///< what a reader must know to read it right
};

}  // namespace ablate::db
