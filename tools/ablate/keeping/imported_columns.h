// Meaning of the columns of a file of trials.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "db/types/imported.h"

namespace ablate {

/// Column, identified by its name: experiment, key, attempt (not read), outcome, reason, started, wall_s, main_metric,
/// data_digest, grid.tuned, grid.role; environment.NAME; a metric, whose name contains a slash; otherwise a parameter.
class ImportedColumn {
 public:
  /// A metric's unit and direction come from house_metrics() or the history. For other metrics, the header contains them:
  /// "test/bleu[% max]", "energy/used[J min]", "probe/layers[]" (no unit, no direction). Throws Error with the nearest name for
  /// an unknown metric, and for a metric that the history has with another unit.
  /// @param known metrics of the history
  /// @param where "FILE:1: ", for messages
  ImportedColumn(const std::string& header, const std::vector<MetricInfo>& known, const std::string& where);

  const std::string& name() const { return name_; }  ///< without the brackets after it
  bool is_metric() const { return is_metric_; }
  bool is_parameter() const { return !is_metric_ && fixed_ == nullptr && !is_environment_; }
  const MetricInfo& metric() const { return metric_; }

  /// Puts a field of the column into a trial, unless it is empty. Throws Error with the value found and the value expected.
  void put(const std::string& field, db::ImportedTrial& trial) const;
  /// Does the same for a JSON value, which has a type.
  void put_json(const nlohmann::json& value, db::ImportedTrial& trial) const;

 private:
  using PutFixed = void (*)(const std::string& field, db::ImportedTrial& trial);

  std::string name_;
  MetricInfo metric_;
  bool is_metric_ = false, is_environment_ = false;
  PutFixed fixed_ = nullptr;
};

/// Returns the number that a value is or spells: 4, 4.0, "04". Returns nullopt for anything else, and for numbers so large that
/// one double represents two whole numbers.
std::optional<double> written_number(const nlohmann::json& value);

/// Returns the column names that are neither parameters nor metrics.
std::vector<std::string> fixed_column_names();

}  // namespace ablate
