// All that a report shows, as one JSON value: tables, trials one by one, their curves, environments.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/history/reader.h"
#include "db/questions/tables/make_table.h"

namespace ablate::db {

/// A table of a report.
struct ReportTable {
  std::string name;      ///< as its study names it; "": the one that `ablate table` makes without being told more
  TableRequest request;  ///< over some of the report's experiments
};

struct ReportRequest {
  std::vector<std::string> experiments;  ///< each once; at least one
  std::vector<ReportTable> tables;
};

/// In columns, so that 10,000 trials stay small: a list of a column has an entry a trial, in the order of the experiments and
/// of their latest grids. Places count from 0; -1 is none. Integers that a double cannot hold are text, NaN is "nan".
///   experiments: [{name, description}]
///   trials: {experiment, key (16 digits), attempt (number, the latest that is done, else the latest; 0: never run), outcome,
///     reason, environment, started (seconds since 1970), wall (s)}; experiment, outcome, reason and environment are places in
///     the lists experiments, outcomes, reasons, environments
///   reason_groups: the group of each of the reasons (core/util/without_numbers.h)
///   attempts: [[trial, attempt, outcome, reason, started], ...] of trials that were attempted more than once
///   parameters: [{path, differs: as tables have it, values: [distinct], numbers: [as many, where all are numbers or rates],
///   of:
///     [place in values]; without `of` all trials have the only value}]
///   metrics: [{name, unit, direction, description, cost, values: [of done trials; null: none]}]
///   curves: [{metric: name, unit, steps: [[...], distinct], trial: [...], of: [place in steps], values: [[...], ...]}]: of
///   each
///     curve at most `points`, the first and the last among them, to four significant digits
///   tables: [{experiments: [places], name, caption, notes, blocks: [{title, header: [{text, number}], rows: [[{text, best,
///   second, cell}]]}],
///     cells: [{value, n, trials: [places]}]}], or {experiments, name, failed: why it cannot be made}
/// Throws Error as Reader::experiment, and where no experiment has a trial.
nlohmann::ordered_json report_data(const Reader& reader, const ReportRequest& request);

}  // namespace ablate::db
