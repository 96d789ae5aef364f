// Content of a report as one JSON value: tables, all trials, their curves, environments.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/history/reader.h"
#include "db/questions/tables/make_table.h"

namespace ablate::db {

/// A table of a report.
struct ReportTable {
  std::string name;      ///< name in its study; "": the default table of `ablate table`
  TableRequest request;  ///< covers some of the report's experiments
};

struct ReportRequest {
  std::vector<std::string> experiments;  ///< at least one, without duplicates
  std::vector<ReportTable> tables;
};

/// Returns the report in columns, so that a report of 10,000 trials stays small. A column's list has an entry per trial, in the
/// order of the experiments and of their latest grids. Indices count from 0; -1 is none. Integers that no double can represent
/// are text, NaN is "nan".
///   experiments: [{name, description}]
///   trials: {experiment, key (16 digits), attempt (number of the latest done attempt, else of the latest attempt; 0: never
///     run), outcome, reason, environment, started (seconds since 1970), wall (s)}; experiment, outcome, reason and environment
///     are indices into the lists experiments, outcomes, reasons, environments
///   reason_groups: the group of each of the reasons (core/util/without_numbers.h)
///   attempts: [[trial, attempt, outcome, reason, started], ...] of trials with more than one attempt
///   parameters: [{path, differs: true if it varies, values: [distinct], numbers: [of the values, if all are numbers],
///     of: [index into values]}]; without `of` all trials have the only value
///   metrics: [{name, unit, direction, description, cost, values: [of done trials; null: none]}]
///   curves: [{metric: name, unit, steps: [[...], distinct], trial: [...], of: [index into steps], values: [[...], ...]}]; at
///     most `points` points of each curve, with the first and the last, to four significant digits
///   tables: [{experiments: [indices], name, caption, notes, blocks: [{title, header: [{text, number}],
///     rows: [[{text, best, second, cell}]]}], cells: [{value, n, trials: [indices]}]}], or {experiments, name, failed: error}
/// Throws Error if an experiment is not known, or if no experiment has a trial.
nlohmann::ordered_json report_data(const Reader& reader, const ReportRequest& request);

}  // namespace ablate::db
