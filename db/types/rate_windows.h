// A metric over all values of a tuned parameter ([grid.tune]), with a curve for each row of a table. No SQLite.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

/// Values of one tuned parameter for one row and column of a table.
struct RateWindow {
  struct Point {
    std::string text;
    nlohmann::ordered_json json;   ///< the value with its own type
    std::optional<double> number;  ///< the value as a number, if it is a number or a single rate
    std::vector<Cell> cells;       ///< by RateWindows::metrics, over seeds
    bool chosen = false;           ///< true if dev chose the value
    bool within = false;           ///< true if the value lies in the window
  };
  std::vector<std::string> labels;  ///< by RateWindows::label_paths
  std::string path;                 ///< path of the tuned parameter
  std::vector<Point> points;        ///< numbers by size, then texts; without values that have no trials in this row and column
  std::string judge;  ///< the metric on dev that chose the value, one of RateWindows::metrics; "": none, or several
  bool edge = false;  ///< true if the chosen value is the smallest or the largest that was tried
  /// First and last value of the window; "" if it is not known. The window contains the value with the best mean of `judge`. On
  /// each side of that value, the window ends before the first value whose mean is not known, or is worse than the best by
  /// more than `tolerance`.
  std::string low, high;
  double tolerance = std::numeric_limits<double>::quiet_NaN();  ///< in the unit of the metric on dev
  double factor = std::numeric_limits<double>::quiet_NaN();     ///< high / low, if both are numbers above 0
  std::string unknown;                                          ///< reason if there is no window; "": there is one
};

struct RateWindows {
  std::vector<std::string> label_paths;  ///< paths of the rows, then of the columns
  std::vector<MetricInfo> metrics;  ///< the table's metrics, each after its counterpart on dev, then the judges; no duplicates
  std::vector<RateWindow> windows;  ///< by tuned parameter, then by row
  std::vector<std::string> notes;   ///< cautions for the reader
};

}  // namespace ablate::db
