// Single runs: lists of them, and everything about one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/history/reader.h"

namespace ablate::db {

struct RunsRequest {
  std::string experiment;  ///< "": all
  bool failed = false;     ///< only those that are not done
  std::int64_t most = 20;  ///< the latest so many; 0: all
};

struct RunLine {
  std::int64_t run = 0;     ///< its number; 0: it is running
  bool latest_grid = true;  ///< whether the latest grid has its trial: of the experiment asked about, else of any
  std::string experiments, key, label, outcome, reason;
  std::optional<double> value;  ///< of the main metric; of what is running its latest train/loss
  double wall_s = 0;            ///< of what is running: until now
  std::int64_t started_us = 0;
  std::int64_t step = 0, steps = 0;  ///< how far it got, of how many; 0: not known
  std::string host;  ///< of what is running on another machine, so that nobody here can tell whether it still is
};

struct Runs {
  std::optional<Metric> metric;  ///< main_metric of the lines' trials (db/questions/selection.h)
  std::vector<RunLine> running;  ///< outcome "running": latest first; none where only failures are asked for
  std::vector<RunLine> lines;    ///< latest first
  std::int64_t total = 0;        ///< how many the request asks about, shown or not
};

/// A label names the parameters that vary in the run's experiment (of several: the latest). Throws Error as Reader::experiment.
Runs list_runs(const Reader& reader, const RunsRequest& request);

/// Everything on one run: {run, key, experiments: [{name, file, overrides, latest_grid}], outcome, reason, signal, exit_code,
/// started_us, wall_s, step, steps, cpu_s, peak_resident_bytes (null: not known), parameters: {path: value}, results: [{metric,
/// value, unit, direction}], curves: {metric: [[step, value], ...]}, plugins: [{kind, id, version, code_identity, content_hash,
/// path}], environment, output, runs: [{run, outcome}] of the same trial, repeat: the command that runs it again, with the
/// study and overrides of its experiment's latest run and the folders of its plugins, repeat_note: why that would not repeat
/// this run, or ""}. A value that is no number is null.
/// @param run a run's number, or the first digits of a trial's key: then the trial's latest attempt that is done, else its
/// latest. Throws Error: no such run, or several trials begin so.
/// @param default_folders where `ablate run` looks for plugins without being told
nlohmann::ordered_json describe_run(const Reader& reader, const std::string& run,
                                    const std::vector<std::filesystem::path>& default_folders = {});

/// The study file of an experiment's latest run; "" where there is no such experiment.
std::string study_file(const Reader& reader, const std::string& experiment);

}  // namespace ablate::db
