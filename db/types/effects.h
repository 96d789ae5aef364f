// Effects of a grid's parameters on a metric: marginal means, importance, changes of only one parameter. No SQLite.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

/// Effects on one metric. Numbers are in the metric's unit; NaN: not known.
struct Effects {
  struct Value {
    std::string text;
    nlohmann::ordered_json json;  ///< the value with its own type
    int n = 0;                    ///< matched settings and seeds in the mean
    int without = 0;              ///< trials without a finite number: failed, diverged, not run
    /// Marginal mean over matched settings (db/report/effects.h).
    double mean = std::numeric_limits<double>::quiet_NaN();
    double low = std::numeric_limits<double>::quiet_NaN();  ///< 95 % interval of the mean
    double high = std::numeric_limits<double>::quiet_NaN();
    std::string unknown;  ///< reason if the mean or its interval is not known; "": both are known
  };
  struct Parameter {
    std::string path;
    std::vector<Value> values;                                ///< in the grid's order
    double share = std::numeric_limits<double>::quiet_NaN();  ///< fraction, 0 to 1, of the variance between settings
  };
  /// Change of one parameter from the reference's setting, together with the parameters that its new value brings.
  struct Change {
    std::string path, from, to;
    std::string with;  ///< parameters that the new value brings, "attention.rates=1/2"; "": none
    Comparison difference;
  };

  MetricInfo metric;
  std::vector<Parameter> parameters;                       ///< most important first
  double rest = std::numeric_limits<double>::quiet_NaN();  ///< share that no single parameter explains: interactions and noise
  bool full = false;                                       ///< true if every combination of the values has a number
  std::size_t settings = 0;                                ///< number of settings that have a number
  std::string reference;                                   ///< "attention=softmax task.pool=2"; "": none was requested
  std::vector<Change> changes;                             ///< in the order of the parameters' paths
  std::vector<std::string> notes;                          ///< cautions for the reader
};

}  // namespace ablate::db
