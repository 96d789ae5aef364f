// What predictors of a few lines get on a data set: from the history, or found and stored there.
#pragma once

#include <optional>

#include "core/host/client/executors.h"
#include "core/shared/jobs.h"
#include "db/history/store.h"

namespace ablate {

/// The data set and its task.
struct FloorsOf {
  Libraries libraries;
  PluginSpec section;
  nlohmann::json document;  ///< the section as a trial's document has it
  std::string digest;
};

class FloorsRun {
 public:
  /// @param again also where the history has them, of all predictors @param timeout_s for those of some test examples, loading
  /// included
  FloorsRun(FloorsOf of, bool again, double timeout_s);

  /// Nothing where they could not be found: a line says why.
  std::optional<db::KnownFloors> of(const ExampleRows& rows, db::Store& store);

 private:
  FloorsOf of_;
  bool again_;
  double timeout_s_;
  Executors checkers_;
};

/// A line for the metric and its examples, and one for each predictor, in the order of their list.
std::string floors_text(const db::KnownFloors& floors);

nlohmann::json floors_json(const db::KnownFloors& floors);

}  // namespace ablate
