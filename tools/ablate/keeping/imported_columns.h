// What the columns of a file of trials mean.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "db/types/imported.h"

namespace ablate {

/// A column, by its name: experiment, key, attempt (not read), outcome, reason, started, wall_s, main_metric, data_digest,
/// grid.tuned, grid.tunes; environment.NAME; a metric, which has a slash; else a parameter.
class ImportedColumn {
 public:
  /// A metric's unit and better end are the house's, or those of the history; of others they stand behind it: "test/bleu[%
  /// max]", "energy/used[J min]", "probe/layers[]" (no unit, and neither end is better).
  /// @param known metrics of the history @param where "FILE:1: ", for messages
  /// Throws Error with the nearest name for a metric that is not known, or that the history has with another unit.
  ImportedColumn(const std::string& header, const std::vector<MetricInfo>& known, const std::string& where);

  const std::string& name() const { return name_; }  ///< without what stands behind it
  bool is_metric() const { return is_metric_; }
  bool is_parameter() const { return !is_metric_ && fixed_ == nullptr && !is_environment_; }
  const MetricInfo& metric() const { return metric_; }

  /// Puts a field of the column, "" for none, into a trial. Throws Error: what was found, what was expected.
  void put(const std::string& field, db::ImportedTrial& trial) const;
  /// The same of a value with its type.
  void put_json(const nlohmann::json& value, db::ImportedTrial& trial) const;

 private:
  using PutFixed = void (*)(const std::string& field, db::ImportedTrial& trial);

  std::string name_;
  MetricInfo metric_;
  bool is_metric_ = false, is_environment_ = false;
  PutFixed fixed_ = nullptr;
};

/// Returns the number that a value is or that its text spells: 4, 4.0, "04". Returns nothing for anything else, and for whole
/// numbers so large that two of them are the same double.
std::optional<double> written_number(const nlohmann::json& value);

/// The names that are neither parameters nor metrics.
std::vector<std::string> fixed_column_names();

}  // namespace ablate
