// The ablation table: trials grouped by some parameters, a metric's mean ± deviation over the others.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "db/format.h"
#include "db/reader.h"

namespace ablate::db {

struct TableRequest {
  std::string experiment;  ///< "": all trials of the history
  /// Paths of parameters, as the history has them ("attention") or as a study writes them ("attention.plugin"); blanks around
  /// a name do not count, in metrics neither. No rows: all that vary among the trials except the seed and what the columns
  /// show.
  std::vector<std::string> rows;
  std::vector<std::string> columns;  ///< none: the task, where it varies and is no row
  std::vector<std::string> metrics;  ///< none: Reader::main_metric
};

struct Cell {
  /// Trials that did not get done, by outcome: failed, timeout, interrupted, missing.
  struct Failure {
    std::string outcome;
    int count = 0;
    std::string reason;     ///< of the first, as first_line has it
    int other_reasons = 0;  ///< how many trials have another reason
  };
  int trials = 0;  ///< all that belong here; 0: the grid has no such point
  int n = 0;       ///< done, and with a value of the metric
  double mean = std::numeric_limits<double>::quiet_NaN();
  double deviation = std::numeric_limits<double>::quiet_NaN();  ///< of the sample (n - 1); NaN for n < 2
  std::vector<Failure> failures;
  bool best = false;  ///< of its column, by the metric's direction
};

struct Table {
  std::string experiment;
  std::vector<std::string> row_paths, column_paths;
  std::vector<std::vector<std::string>> rows, columns;  ///< labels, one text a path; "-": the trials have no such parameter
  std::vector<std::vector<nlohmann::ordered_json>> row_values, column_values;  ///< the labels with their own types; null: "-"
  std::vector<Metric> metrics;
  std::vector<Cell> cells;         ///< [row][metric][column]
  std::vector<std::string> notes;  ///< what a reader must know to read it right
  std::size_t trials = 0;

  const Cell& cell(std::size_t row, std::size_t metric, std::size_t column) const {
    return cells[(row * metrics.size() + metric) * columns.size() + column];
  }
};

/// Of an experiment its latest grid counts. Throws Error with the nearest name for an experiment that the history does not
/// know, one with a line for each path and metric that it does not know, and one for an experiment without trials.
Table make_table(const Reader& reader, const TableRequest& request);

/// Text and Markdown: "85.31 ± 0.42", the best of a column marked * or bold. CSV: one line a cell with mean, sd, n and the
/// number of trials that failed, and no notes. JSON: {experiment, rows, columns, metrics, cells, notes}.
std::string to_text(const Table& table, Format format);

/// "failed 2/3: signal 11, missing 1/3"; "" where all trials are done.
std::string failure_text(const Cell& cell);

}  // namespace ablate::db
