// The ablation table: trials grouped by some parameters, a metric's mean ± deviation over the other parameters. No SQLite.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/records/outcome.h"
#include "db/types/records.h"

namespace ablate::db {

/// Label of trials that do not have the parameter.
inline constexpr const char* kAbsent = "-";

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// Value of Table::reference for the best mean of each column, in place of a row.
inline constexpr const char* kBest = "best";

/// A trial's value of a metric.
struct Sample {
  std::optional<std::int64_t> seed;  ///< nullopt if the trial has no seed
  double value;                      ///< NaN: measured, but not a number
  std::int64_t attempt = 0;          ///< number of its attempt; 0: none
  std::size_t setting = 0;           ///< number of its setting within the cell (Cell::settings)
};

/// Worst verdict of the conformance suite on the plugins behind a number. Worse verdicts have greater values. kBeyond: a plugin
/// passed, but it ran at longer sequences than the suite has checked.
enum class Checked { kUnknown, kPassed, kUnchecked, kBeyond, kFailed };

/// Returns "passed", "beyond", "unchecked" or "failed"; "" if no plugin is known.
constexpr const char* to_text(Checked checked) {
  constexpr const char* kTexts[] = {"", "passed", "unchecked", "beyond", "failed"};
  return kTexts[static_cast<int>(checked)];
}

/// Difference between a cell and the cell that it is compared with (db/report/statistics/against.cpp).
struct Comparison {
  enum class Significance { kNone, kReference, kBetter, kWorse, kDiffers, kNotSignificant, kUntested, kTooFew };
  /// Result after Holm's correction. kNone: not requested. kDiffers: significant, and the metric has no direction. kTooFew: the
  /// exact test can never be significant with so few seeds.
  Significance significance = Significance::kNone;
  double value = kNoNumber;  ///< mean of the paired differences, or difference of the means: this cell minus the reference
  double low = kNoNumber;    ///< 95 % interval of `value`
  double high = kNoNumber;
  double p = kNoNumber;       ///< two-sided, of only this comparison
  double p_holm = kNoNumber;  ///< corrected over all comparisons of the table
  std::string untested;       ///< reason for kUntested and kTooFew, "its numbers come from one seed"
  bool paired = false;
  int n = 0;                     ///< pairs, or values of the smaller side
  double deviation = kNoNumber;  ///< standard deviation of the paired differences (n - 1)
};

/// Returns "reference", "better", "worse", "differs", "not significant", "untested", "too few seeds"; "" if no test was
/// requested.
constexpr const char* to_text(Comparison::Significance significance) {
  constexpr const char* kTexts[] = {"",        "reference",       "better",   "worse",
                                    "differs", "not significant", "untested", "too few seeds"};
  return kTexts[static_cast<int>(significance)];
}

/// Marks that emphasise a cell's number. Other marks follow the number.
inline constexpr const char *kBestMark = "best", *kSecondMark = "second";

/// Result of a statistic for a cell. CSV and JSON have the value under the fact's name, or the numbers of a comparison.
struct Fact {
  enum class Shown { kJson, kData, kAll };  ///< kJson: in JSON; kData: also in CSV; kAll: also printed behind the number

  std::string name;
  std::variant<double, bool, std::string, Comparison> value = kNoNumber;  ///< NaN: no value
  Shown shown = Shown::kAll;
  const char* before = "";  ///< name of the CSV column that follows; "": the fact comes last
  /// Text behind the cell's number. A comparison's mark is left out if the difference rounds to 0 in the column's digits.
  std::string mark = {};
  bool leads = false;  ///< true if the mark shows that this mean leads; the mark is hidden if another cell has the same digits
};

/// Number of a cell as people read it.
struct ShownNumber {
  double value, uncertainty;
  int digits;             ///< digits of the uncertainty to show
  double published;       ///< value from papers, shown beside the number
  std::string none = {};  ///< text in place of NaN, "no ratio"
};

/// Values of a trial and of the trial that repeats it with more steps (Role::kLonger).
struct LongerPair {
  std::optional<std::int64_t> seed;  ///< seed of both trials
  double value, longer;              ///< not NaN
  std::int64_t factor;               ///< longer trial's steps, in multiples of the other trial's
};

/// The trials of one row, column and metric.
struct Cell {
  /// Trials of one outcome that are not done (core/records/outcome.h, or outcome::kMissing).
  struct Failure {
    std::string outcome;
    int count = 0;
    std::string reason;     ///< full reason of the first trial
    int other_reasons = 0;  ///< trials with another reason
  };
  int trials = 0;                       ///< all trials of the cell; 0: the grid has no such point
  std::vector<std::int64_t> trial_ids;  ///< ids of all these trials, in their order
  std::vector<Sample> samples;          ///< samples of the done trials that have a value, in their order
  /// Numbers of the samples' tasks. Each distinct task with its parameters has a number. Cells of different tasks are not
  /// compared.
  std::set<std::size_t> tasks;
  /// Number of different settings in the cell; seeds do not count. Each setting has the same weight in the mean.
  int settings = 1;
  double spread = kNoNumber;  ///< for the step time of a single trial: spread of the steps' times, in percent of the mean
  std::vector<Failure> failures;
  bool unsettled = false;               ///< for a step time: true if a trial ran on a busy machine or before its times settled
  Checked checked = Checked::kUnknown;  ///< verdict on the trials that have run
  double published = kNoNumber;         ///< mean of the papers' values for the cell's trials
  double floor = kNoNumber;             ///< best floor of the metric on the cell's test examples (floor_notes.cpp)
  int longer_trials = 0;                ///< longer trials that repeat trials of the cell
  std::vector<LongerPair> longer;       ///< pairs of these trials in which both have a value
  /// Statistics fill the members from here on (db/report/statistics.h). n, mean and deviation come from
  /// summary_over_settings(samples) (db/report/summary.h).
  int n = 0;
  double mean = kNoNumber;
  double deviation = kNoNumber;  ///< standard deviation of the sample (n - 1); NaN for n < 2
  /// Uncertainty of the mean: the deviation, or half of a requested interval. For a single trial's step time: the spread over
  /// the trial's steps. NaN: not known.
  double uncertainty = kNoNumber;
  std::optional<ShownNumber> in_place;  ///< number in place of the mean
  std::vector<Fact> facts;              ///< same names and order in all cells of a table

  ShownNumber shown() const { return in_place.value_or(ShownNumber{mean, uncertainty, n > 1 ? 2 : 1, published}); }
  /// Returns half the width of the mean's bar; NaN for n < 2.
  double half_width() const { return n > 1 ? uncertainty : kNoNumber; }
  /// Returns the number of the fact with this name; NaN if there is none.
  double number(std::string_view name) const {
    for (const auto& fact : facts)
      if (fact.name == name) return std::get<double>(fact.value);
    return kNoNumber;
  }
  bool is_marked(std::string_view mark) const {
    return std::any_of(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.mark == mark; });
  }
  /// Returns the first comparison among the facts.
  const Comparison& comparison() const {
    static const Comparison none;
    for (const auto& fact : facts)
      if (const auto* found = std::get_if<Comparison>(&fact.value)) return *found;
    return none;
  }
};

/// Result of a statistic over the columns, for a row and a metric: from measured values, and from papers' values.
struct RowFact {
  std::string name;
  double value = kNoNumber, published = kNoNumber;
  int points = 0;          ///< columns that have a value
  bool unsettled = false;  ///< true if a measured cell is unsettled
  double uncertainty = 0;  ///< uncertainty of `value`, from known uncertainties of means (Cell::uncertainty); 0: none known
  std::string text, published_text;  ///< printed forms
};

/// Value of a parameter that dev chose ([grid.tune]), for the trials of one row and column.
struct Chosen {
  struct Value {
    std::string text;
    nlohmann::ordered_json json;  ///< with its own type; null: the chosen trials do not have the parameter
    bool operator==(const Value&) const = default;
  };
  std::vector<Value> values;  ///< empty: undecided; several if several choices are averaged
  int of = 0, compared = 0;   ///< number of values in the study, and number of values whose trials are all done
  bool edge = false;          ///< true if the value is the smallest or the largest number of the study
  std::string judge;          ///< the metric on dev that chose the value; "": none, or several
};

/// Two rows that an author chose to compare, in one column and metric.
struct RowPair {
  std::vector<std::string> first, second;                           ///< labels of the rows, as in Table::rows
  std::vector<nlohmann::ordered_json> first_values, second_values;  ///< see Table::row_values
  std::size_t metric = 0, column = 0;
  Fact fact;  ///< comparison: the first row minus the second

  const Comparison& difference() const { return std::get<Comparison>(fact.value); }
};

struct Table {
  std::vector<std::string> experiments;  ///< empty: the whole history
  std::vector<std::string> row_paths, column_paths;
  std::vector<std::vector<std::string>> rows, columns;  ///< labels, one text per path; "-": the trials lack the parameter
  std::vector<std::vector<nlohmann::ordered_json>> row_values, column_values;  ///< labels with their own types; null: "-"
  bool average = false;                  ///< true if the last column is the mean over the columns before it
  std::vector<std::string> tuned_paths;  ///< parameters whose values dev chose; the cells show only trials with these values
  std::vector<Chosen> chosen;            ///< [row][column][tuned path]
  std::vector<MetricInfo> metrics;
  std::vector<Cell> cells;         ///< [row][metric][column]
  std::string baseline;            ///< "attention=softmax"; "": no ratios
  std::string reference;           ///< value of --against: "attention=softmax" or "best"; "": no cell was tested
  std::vector<RowPair> pairs;      ///< if not empty, only these pairs were tested
  bool t_test = false;             ///< true if p comes from Student's t test instead of the exact tests
  int comparisons = 0;             ///< number of tests, for Holm's correction
  std::string test;                ///< the note that explains the marks and the test
  bool has_longer = false;         ///< true if the trials' grids repeat trials with more steps ([grid.longer])
  std::set<std::string> judges;    ///< names of the metrics that judge the trials
  double smallest = 0;             ///< `smallest` of [experiment], the largest if there are several experiments; 0: not known
  std::string varied;              ///< differences between the trials of a cell: "the initial weights, ..."; "" for n = 1
  bool published = false;          ///< true if papers' values were requested and a cell has one
  std::optional<double> overlap;   ///< overlap of repeated splits, if intervals were requested (interval_of)
  std::vector<RowFact> row_facts;  ///< [row][metric]; empty: none
  std::optional<int> decimals;     ///< decimals of all numbers, if they were requested
  std::string difference;          ///< for the caption: base of the differences, "the best"; "": no differences
  std::string number, spread = "standard deviation";  ///< for the caption: "ratio of means to softmax" ("": mean) ± spread
  std::string caption;                                ///< replaces the caption that describes the numbers; "": keeps it
  std::string label;                                  ///< name by which a paper or page refers to the table; "": none
  /// Printed names of labels, paths and metrics. The data (CSV, JSON) keep the original names.
  std::map<std::string, std::string> names;
  std::vector<std::string> notes;  ///< cautions for the reader
  std::size_t trials = 0;
  /// Words of the command that requested the table: "table", "quickstart", "--against", "best". LaTeX, Typst and HTML contain
  /// the words and the keys if the words are known (db/report/layout.h).
  std::vector<std::string> request;
  std::map<std::int64_t, std::string> keys;  ///< first digits of each trial's key, by the trial's id

  /// Returns the worst verdict of a row's cells.
  Checked checked(std::size_t row) const {
    auto worst = Checked::kUnknown;
    for (std::size_t column = 0; column < columns.size(); ++column) worst = std::max(worst, cell(row, 0, column).checked);
    return worst;
  }

  /// True if the suite has ever checked a plugin of the table. Otherwise marks on the rows would be meaningless.
  bool any_checked() const {
    return std::any_of(cells.begin(), cells.end(),
                       [](const Cell& one) { return one.checked != Checked::kUnknown && one.checked != Checked::kUnchecked; });
  }

  const Chosen& choice(std::size_t row, std::size_t column, std::size_t path) const {
    return chosen[(row * columns.size() + column) * tuned_paths.size() + path];
  }

  std::size_t index_of(std::size_t row, std::size_t metric, std::size_t column) const {
    return (row * metrics.size() + metric) * columns.size() + column;
  }

  const Cell& cell(std::size_t row, std::size_t metric, std::size_t column) const {
    return cells[index_of(row, metric, column)];
  }
};

}  // namespace ablate::db
