// Conversion of a metric's definition from and to the table `metric`.
#pragma once

#include <string>

#include "core/records/metric.h"
#include "db/history/prepared_statements.h"

namespace ablate::db {

/// The seven columns of a metric m.
inline constexpr const char* kMetricColumns = "m.name, m.unit, m.direction, m.description, m.kind, m.owner, m.of_steps";

/// @param statement at a row that begins with kMetricColumns
inline MetricInfo metric_from(SQLite::Statement& statement) {
  const auto word = [&](int column) { return nlohmann::json(statement.getColumn(column).getString()); };
  return {statement.getColumn(0).getString(),  statement.getColumn(1).getString(), statement.getColumn(2).getString(),
          statement.getColumn(3).getString(),  word(4).get<MetricKind>(),          word(5).get<MetricOwner>(),
          statement.getColumn(6).getInt() != 0};
}

/// Runs a statement with the values of kMetricColumns, in their order.
inline void put_metric(SQLite::Statement& statement, const MetricInfo& metric) {
  execute(statement, metric.name, metric.unit, metric.direction, metric.description,
          nlohmann::json(metric.kind).get<std::string>(), nlohmann::json(metric.owner).get<std::string>(),
          static_cast<int>(metric.of_steps));
}

}  // namespace ablate::db
