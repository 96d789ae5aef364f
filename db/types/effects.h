// What each parameter of a grid does to a metric: marginal means, importance, changes of one parameter alone. No SQLite.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

/// Of one metric. Numbers are in its unit; NaN: not known.
struct Effects {
  struct Value {
    std::string text;
    nlohmann::ordered_json json;  ///< with its own type
    int n = 0;                    ///< trials that its mean is made of
    int without = 0;              ///< trials that have no finite number: failed, diverged, not run
    /// Marginal mean over matched settings (db/report/effects.h).
    double mean = std::numeric_limits<double>::quiet_NaN();
    double low = std::numeric_limits<double>::quiet_NaN();  ///< of its 95 % interval
    double high = std::numeric_limits<double>::quiet_NaN();
    std::string unknown;  ///< why the mean, or else its interval, is not known; "": both are
  };
  struct Parameter {
    std::string path;
    std::vector<Value> values;                                ///< in the order of the grid
    double share = std::numeric_limits<double>::quiet_NaN();  ///< of the variance between settings that it explains, 0 to 1
  };
  /// From the reference's setting to one that differs from it in one parameter, and in what that one brings with it.
  struct Change {
    std::string path, from, to;
    std::string with;  ///< "attention.rates=1/2": what the value brings with it; "": nothing
    Comparison difference;
  };

  MetricInfo metric;
  std::vector<Parameter> parameters;                       ///< the most important first
  double rest = std::numeric_limits<double>::quiet_NaN();  ///< share that no parameter explains alone: interactions and noise
  bool full = false;                                       ///< every combination of the values has a number
  std::size_t settings = 0;                                ///< that have a number
  std::string reference;                                   ///< "attention=softmax task.pool=2"; "": none was asked for
  std::vector<Change> changes;                             ///< in the order of the parameters' paths
  std::vector<std::string> notes;                          ///< what a reader must know to read it right
};

}  // namespace ablate::db
