// Trials one by one, for other programs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "db/history/reader.h"
#include "db/report/printers.h"

namespace ablate::db {

enum class ExportFormat { kCsv, kJsonl };

/// Whether everybody knows a metric's unit and better end: of others the CSV's header tells them, "test/bleu[% max]".
using IsKnownMetric = std::function<bool(const MetricInfo& metric)>;

/// What an export has and what it lacks.
struct Exported {
  std::int64_t trials = 0;      ///< a row each; one of several experiments has a row in each
  std::int64_t missing = 0;     ///< have not run
  std::int64_t earlier = 0;     ///< only an earlier grid of the experiment has them
  std::int64_t superseded = 0;  ///< have the settings of a later one
};

/// Writes each trial of the experiments' latest grids that has run, by its latest attempt that is done, else its latest: in the
/// order of the experiments and of their grids, a row at a time.
/// CSV (RFC 4180, \n line ends): experiment, key, attempt, outcome, reason, started (UTC), wall_s, main_metric (what the trial
/// is judged by), data_digest; if any of the experiments chooses values by dev, grid.tuned (its tuned paths) and grid.tunes
/// (whether the trial tunes); then the parameters by path, then the metrics by name; those that any of the rows has. A
/// parameter or a metric that a trial lacks is empty, what is no number is nan, inf or -inf. JSON lines: an object each, {those
/// names, parameters: {path: value}, metrics: {name: value, "inf", "-inf", or null for nan}, plugins: [{kind, id, version,
/// code_identity}]}.
/// @param experiments none: all. Throws Error as Reader::experiment, and where one is named twice; and what `write` throws.
/// @param is_known empty: all are known
Exported export_trials(const Reader& reader, const std::vector<std::string>& experiments, ExportFormat format,
                       const Write& write, const IsKnownMetric& is_known = {});

}  // namespace ablate::db
