// The ablation table: trials grouped by some parameters, a metric's mean ± deviation over the others.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "db/history/reader.h"
#include "db/report/format.h"

namespace ablate::db {

struct TableRequest {
  std::string experiment;  ///< "": all trials of the history
  /// Paths of parameters, as the history has them ("attention") or as a study writes them ("attention.plugin"); blanks around
  /// a name do not count, in metrics neither. No rows: all that vary among the trials except the seed and what the columns
  /// show.
  std::vector<std::string> rows;
  std::vector<std::string> columns;  ///< none: the task, where it varies and is no row
  std::vector<std::string> metrics;  ///< none: main_metric of the trials (db/questions/selection.h)
  /// "attention=softmax": ratios to the row, or the column, whose label has all of these values; of several, to the one with
  /// the same other values.
  std::vector<std::string> baseline;
  bool published = false;  ///< what papers report for the same trials beside every cell
  bool exponent = false;   ///< the slope of a row's means over the columns' number, both in logarithms
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
  /// Of its column, by the metric's direction, among the rows whose values are of the same tasks with the same parameters.
  bool best = false;
  /// Of a step time: one of its trials ran while the machine was busy, or before times settled (docs/database.md).
  bool unsettled = false;
  /// How far the mean can be trusted: the deviation; of a single trial's step time the spread over its steps. NaN: not known.
  double uncertainty = std::numeric_limits<double>::quiet_NaN();
  double published = std::numeric_limits<double>::quiet_NaN();  ///< mean of what papers report for the cell's trials
  /// To the baseline's mean, and the published number to the baseline's; NaN where one of the two is not there.
  double ratio = std::numeric_limits<double>::quiet_NaN();
  double published_ratio = std::numeric_limits<double>::quiet_NaN();
  double ratio_uncertainty = std::numeric_limits<double>::quiet_NaN();  ///< of ratio, as uncertainty
};

/// e in metric ~ column^e, least squares in logarithms over the columns that have a value; NaN for fewer than two of them.
struct Exponent {
  double measured = std::numeric_limits<double>::quiet_NaN();
  double published = std::numeric_limits<double>::quiet_NaN();
  int points = 0, published_points = 0;  ///< columns that have a value
  bool unsettled = false;                ///< one of the measured cells is
  /// Of measured, from what is known of the means' (Cell::uncertainty); 0: nothing.
  double uncertainty = 0;
};

struct Table {
  std::string experiment;
  std::vector<std::string> row_paths, column_paths;
  std::vector<std::vector<std::string>> rows, columns;  ///< labels, one text a path; "-": the trials have no such parameter
  std::vector<std::vector<nlohmann::ordered_json>> row_values, column_values;  ///< the labels with their own types; null: "-"
  std::vector<Metric> metrics;
  std::vector<Cell> cells;          ///< [row][metric][column]
  std::string baseline;             ///< "attention=softmax"; "": no ratios
  bool published = false;           ///< whether asked for
  std::vector<Exponent> exponents;  ///< [row][metric]; empty: not asked for
  std::vector<std::string> notes;   ///< what a reader must know to read it right
  std::size_t trials = 0;

  const Cell& cell(std::size_t row, std::size_t metric, std::size_t column) const {
    return cells[(row * metrics.size() + metric) * columns.size() + column];
  }
};

/// Of an experiment its latest grid counts. Throws Error with the nearest name for an experiment that the history does not
/// know, one with a line for each path and metric that it does not know, one for an experiment without trials, for a baseline
/// that is not exactly one row or column, and for exponents over columns that are no numbers.
Table make_table(const Reader& reader, const TableRequest& request);

/// Text and Markdown: "85.31 ± 0.42", the best of a column marked * or bold, what is unsettled ~; with a baseline the ratio in
/// its place; in a column all numbers have the same decimals (db/report/digits.h). CSV: one line a cell with mean, sd, n, the
/// number of trials that failed, published, ratios and whether it is unsettled, one an exponent, and no notes; a label of
/// trials without the parameter is empty. JSON: {experiment, rows, columns, metrics, baseline, cells, exponents, notes}.
std::string to_text(const Table& table, Format format);

/// "failed 2/3: signal 11, missing 1/3"; "" where all trials are done.
std::string failure_text(const Cell& cell);

}  // namespace ablate::db
