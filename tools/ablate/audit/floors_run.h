// Scores of simple predictors (a few lines of code each) on a data set: read from the history, or computed and stored there.
#pragma once

#include <optional>

#include "core/host/client/executors.h"
#include "core/shared/jobs.h"
#include "db/history/store.h"

namespace ablate {

/// Data set and its task.
struct FloorsOf {
  Libraries libraries;
  PluginSpec section;
  nlohmann::json document;  ///< section in the form that a trial's document has
  std::string digest;
};

class FloorsRun {
 public:
  /// @param again computes the floors of all predictors even if the history has them
  /// @param timeout_s limit for one call of FloorsRun::of(), including loading
  FloorsRun(FloorsOf of, bool again, double timeout_s);

  /// Returns nullopt if the floors could not be computed: a printed line says why.
  std::optional<db::KnownFloors> of(const ExampleRows& rows, db::Store& store);

 private:
  FloorsOf of_;
  bool again_;
  double timeout_s_;
  Executors checkers_;
};

/// Returns a line for the metric and its examples, and a line for each predictor, in the order of `floors`.
std::string floors_text(const db::KnownFloors& floors);

nlohmann::json floors_json(const db::KnownFloors& floors);

}  // namespace ablate
