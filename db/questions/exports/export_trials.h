// Exports trials for other programs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "db/history/reader.h"
#include "db/report/printers.h"

namespace ablate::db {

enum class ExportFormat { kCsv, kJsonl };

/// True if ablate itself knows a metric's unit and direction. Otherwise the CSV's header has them: "test/bleu[% max]".
using IsKnownMetric = std::function<bool(const MetricInfo& metric)>;

/// Numbers of exported and omitted trials.
struct Exported {
  std::int64_t trials = 0;      ///< rows; a trial of several experiments has a row in each
  std::int64_t missing = 0;     ///< trials that have not run
  std::int64_t earlier = 0;     ///< trials that only an earlier grid of the experiment has
  std::int64_t superseded = 0;  ///< trials that a later trial with the same settings replaces
};

/// Writes a row for each trial that has run and is in a latest grid of the experiments, in the order of the experiments and
/// their grids. Each row shows the latest done attempt, else the latest attempt.
/// CSV (RFC 4180, \n line ends): experiment, key, attempt, outcome, reason, started (UTC), wall_s, main_metric (the metric that
/// judges the trial), data_digest. If an experiment chooses values by dev, or has longer trials: grid.tuned (its tuned paths)
/// and grid.role (core/records/role.h; empty outside these experiments). Then parameters by path and metrics by name, if any
/// row has them. Missing values are empty; other values may be nan, inf or -inf.
/// JSON lines: an object for each row, {the same names, parameters: {path: value}, metrics: {name: value, "inf", "-inf", or
/// null for nan}, plugins: [{kind, id, version, code_identity}]}.
/// Throws Error if an experiment is not known, or is named twice. Passes exceptions of `write` on.
/// @param experiments empty: all experiments
/// @param is_known empty: all metrics are known
Exported export_trials(const Reader& reader, const std::vector<std::string>& experiments, ExportFormat format,
                       const Write& write, const IsKnownMetric& is_known = {});

}  // namespace ablate::db
