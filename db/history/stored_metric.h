// A metric's definition as the table `metric` has it.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

#include "core/records/metric.h"

namespace ablate::db {

/// Of a metric m, seven columns.
inline constexpr const char* kMetricColumns = "m.name, m.unit, m.direction, m.description, m.kind, m.owner, m.of_steps";

/// @param statement at a row that begins with kMetricColumns
inline MetricInfo metric_from(SQLite::Statement& statement) {
  const auto word = [&](int column) { return nlohmann::json(statement.getColumn(column).getString()); };
  return {statement.getColumn(0).getString(),  statement.getColumn(1).getString(), statement.getColumn(2).getString(),
          statement.getColumn(3).getString(),  word(4).get<MetricKind>(),          word(5).get<MetricOwner>(),
          statement.getColumn(6).getInt() != 0};
}

/// In their order, from the first parameter on.
inline void bind_metric(SQLite::Statement& statement, const MetricInfo& metric) {
  statement.bind(1, metric.name);
  statement.bind(2, metric.unit);
  statement.bind(3, metric.direction);
  statement.bind(4, metric.description);
  statement.bind(5, nlohmann::json(metric.kind).get<std::string>());
  statement.bind(6, nlohmann::json(metric.owner).get<std::string>());
  statement.bind(7, static_cast<int>(metric.of_steps));
}

}  // namespace ablate::db
