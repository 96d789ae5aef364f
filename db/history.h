// Single runs: lists of them, and everything about one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/reader.h"

namespace ablate::db {

struct RunsRequest {
  std::string experiment;  ///< "": all
  bool failed = false;     ///< only those that are not done
  std::int64_t most = 20;  ///< the latest so many; 0: all
};

struct RunLine {
  std::int64_t run = 0;     ///< its number
  bool latest_grid = true;  ///< whether the latest grid has its trial: of the experiment asked about, else of any
  std::string experiments, key, label, outcome, reason;
  std::optional<double> value;  ///< of the main metric
  double wall_s = 0;
  std::int64_t started_us = 0;
};

struct Runs {
  std::optional<Metric> metric;  ///< Reader::main_metric
  std::vector<RunLine> lines;    ///< latest first
  std::int64_t total = 0;        ///< how many the request asks about, shown or not
};

/// A label names the parameters that vary in the run's experiment (of several: the latest). Throws Error as Reader::experiment.
Runs list_runs(const Reader& reader, const RunsRequest& request);

/// Everything on one run: {run, key, experiments: [{name, file, overrides, latest_grid}], outcome, reason, signal, exit_code,
/// started_us, wall_s, cpu_s, peak_resident_bytes (null: not measured), parameters: {path: value}, results: [{metric, value,
/// unit, direction}], curves: {metric:
/// [[step, value], ...]}, plugins: [{kind, id, version, code_identity, content_hash, path}], environment, output, runs:
/// [{run, outcome}] of the same trial, repeat: the command that runs its experiment again, with the study and overrides of that
/// one's latest run, repeat_note: why that would not repeat this run, or ""}. A value that is no number is null.
/// @param run a run's number, or the first digits of a trial's key: then the trial's latest attempt that is done, else its
/// latest. Throws Error: no such run, or several trials begin so.
nlohmann::ordered_json describe_run(const Reader& reader, const std::string& run);

/// The study file of an experiment's latest run; "" where there is no such experiment.
std::string study_file(const Reader& reader, const std::string& experiment);

}  // namespace ablate::db
