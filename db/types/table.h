// The ablation table: trials grouped by some parameters, a metric's mean ± deviation over the others. No SQLite.
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

/// A label of trials that have no such parameter.
inline constexpr const char* kAbsent = "-";

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// Value of Table::reference that stands for the best mean of each column, in place of a row.
inline constexpr const char* kBest = "best";

/// A trial's value of a metric.
struct Sample {
  std::optional<std::int64_t> seed;  ///< nothing where the trial has none
  double value;                      ///< NaN: it was measured and is no number
  std::int64_t attempt = 0;          ///< whose it is, by number; 0: not of an attempt
  std::size_t setting = 0;           ///< tells the settings of one cell apart (Cell::settings)
};

/// Verdict of the conformance suite on the plugins behind a number: the last of theirs in this order. kBeyond: a plugin has
/// passed, and ran at longer sequences than the suite has looked at.
enum class Checked { kUnknown, kPassed, kUnchecked, kBeyond, kFailed };

/// "passed", "beyond", "unchecked", "failed"; "" where no plugin is known.
constexpr const char* to_text(Checked checked) {
  constexpr const char* kTexts[] = {"", "passed", "unchecked", "beyond", "failed"};
  return kTexts[static_cast<int>(checked)];
}

/// How a cell differs from the one that it is compared with (db/report/statistics/against.cpp).
struct Comparison {
  enum class Told { kNone, kReference, kBetter, kWorse, kDiffers, kNot, kUntested, kTooFew };
  /// After Holm's correction. kNone: it was not asked for. kDiffers: of a metric without a better end. kTooFew: with so few
  /// seeds the exact test can never be significant.
  Told told = Told::kNone;
  double value = kNoNumber;  ///< mean of the paired differences, or difference of the means:
                             ///< this cell's less the reference's
  double low = kNoNumber;    ///< of its 95 % interval
  double high = kNoNumber;
  double p = kNoNumber;       ///< two-sided, of this comparison alone
  double p_holm = kNoNumber;  ///< over all of the table's
  std::string untested;       ///< of kUntested and kTooFew: why, "its numbers are of one seed"
  bool paired = false;
  int n = 0;                     ///< pairs, or values of the smaller side
  double deviation = kNoNumber;  ///< of the paired differences (n - 1)
};

/// "reference", "better", "worse", "differs", "not told", "untested", "too few seeds"; "" where nothing was asked.
constexpr const char* to_text(Comparison::Told told) {
  constexpr const char* kTexts[] = {"", "reference", "better", "worse", "differs", "not told", "untested", "too few seeds"};
  return kTexts[static_cast<int>(told)];
}

/// Marks that emphasise a cell's number. Other marks stand behind it.
inline constexpr const char *kBestMark = "best", *kSecondMark = "second";

/// Result of a statistic for a cell. CSV and JSON have the value under its name, or the numbers of a comparison.
struct Fact {
  enum class Shown { kJson, kData, kAll };  ///< JSON; JSON and CSV; both and a column behind the number that people read

  std::string name;
  std::variant<double, bool, std::string, Comparison> value = kNoNumber;  ///< NaN: no value
  Shown shown = Shown::kAll;
  const char* before = "";  ///< next column in CSV; "": behind all
  /// Text behind the cell's number. A comparison's mark is left out if the difference rounds to 0 in the column's digits.
  std::string mark = {};
  bool leads = false;  ///< true if the mark says that no mean is ahead; left out if one shows the same digits
};

/// Number of a cell that people read.
struct ShownNumber {
  double value, uncertainty;
  int digits;             ///< digits of the uncertainty to show
  double published;       ///< number of papers, beside it
  std::string none = {};  ///< text in place of NaN, "no ratio"
};

/// The trials of one row, column and metric.
struct Cell {
  /// Trials that did not get done, by outcome (core/records/outcome.h), or outcome::kMissing.
  struct Failure {
    std::string outcome;
    int count = 0;
    std::string reason;     ///< of the first, whole
    int other_reasons = 0;  ///< how many trials have another reason
  };
  int trials = 0;                       ///< all that belong here; 0: the grid has no such point
  std::vector<std::int64_t> trial_ids;  ///< of these, as the history numbers them, in their order
  std::vector<Sample> samples;          ///< of those that are done and have a value, in their order
  /// What its samples are over: a number for each distinct task with its parameters. Cells of unlike tasks are not compared.
  std::set<std::size_t> tasks;
  /// How many settings its trials have that no row or column shows, seeds aside. Each has the same weight in the mean.
  int settings = 1;
  double spread = kNoNumber;  ///< of a single trial's step time: how far its steps' times spread, in percent of the mean
  std::vector<Failure> failures;
  bool unsettled =
      false;  ///< of a step time: a trial ran while the machine was busy, or before times settled (docs/database.md)
  Checked checked = Checked::kUnknown;  ///< of its trials that have run
  double published = kNoNumber;         ///< mean of what papers report for the cell's trials
  /// Statistics fill the members from here on (db/report/statistics.h). n, mean and deviation are those of
  /// summary_over_settings(samples) (db/report/summary.h).
  int n = 0;
  double mean = kNoNumber;
  double deviation = kNoNumber;  ///< of the sample (n - 1); NaN for n < 2
  /// Uncertainty of the mean: the deviation, or the interval if it was requested. For a single trial's step time it is the
  /// spread over its steps. NaN: not known.
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

/// Result of a statistic for a row and a metric, over the columns, and the same for papers' values.
struct RowFact {
  std::string name;
  double value = kNoNumber, published = kNoNumber;
  int points = 0;                    ///< columns that have a value
  bool unsettled = false;            ///< true if one of the measured cells is
  double uncertainty = 0;            ///< of value, from known uncertainties of means (Cell::uncertainty); 0: none known
  std::string text, published_text;  ///< as people read them
};

/// What dev chose among a parameter's values ([grid.tune]), for the trials of one row and column.
struct Chosen {
  struct Value {
    std::string text;
    nlohmann::ordered_json json;  ///< with its own type; null: the chosen have no such parameter
    bool operator==(const Value&) const = default;
  };
  std::vector<Value> values;  ///< none: undecided; several where several choices are averaged
  int of = 0, compared = 0;   ///< values that the study has, and those of them whose trials are all done
  bool edge = false;          ///< a number that no listed one is below, or above
  std::string judge;          ///< the metric on dev by which it was chosen; "": none, or several
};

/// Two rows that an author chose to compare, in one column and metric.
struct RowPair {
  std::vector<std::string> first, second;                           ///< labels of the rows, as Table::rows
  std::vector<nlohmann::ordered_json> first_values, second_values;  ///< as Table::row_values
  std::size_t metric = 0, column = 0;
  Fact fact;  ///< comparison: the first row less the second

  const Comparison& difference() const { return std::get<Comparison>(fact.value); }
};

struct Table {
  std::vector<std::string> experiments;  ///< none: the whole history
  std::vector<std::string> row_paths, column_paths;
  std::vector<std::vector<std::string>> rows, columns;  ///< labels, one text a path; "-": the trials have no such parameter
  std::vector<std::vector<nlohmann::ordered_json>> row_values, column_values;  ///< the labels with their own types; null: "-"
  bool average = false;                  ///< whether the last column is the mean over those before it
  std::vector<std::string> tuned_paths;  ///< parameters whose values dev chose: the cells are of these alone
  std::vector<Chosen> chosen;            ///< [row][column][tuned path]
  std::vector<MetricInfo> metrics;
  std::vector<Cell> cells;         ///< [row][metric][column]
  std::string baseline;            ///< "attention=softmax"; "": no ratios
  std::string reference;           ///< of --against: "attention=softmax" or "best"; "": no cell was tested
  std::vector<RowPair> pairs;      ///< if not empty, only these were tested
  bool t_test = false;             ///< p is that of Student's t test, in place of the exact tests
  int comparisons = 0;             ///< that were tested: what Holm's correction is over
  std::string test;                ///< of the notes the one that tells the marks and the test
  std::string varied;              ///< what differs between the trials of a cell: "the initial weights, ..."; "" for n = 1
  bool published = false;          ///< whether asked for, and there for any cell
  std::optional<double> overlap;   ///< of repeated splits, where intervals were asked for (interval_of)
  std::vector<RowFact> row_facts;  ///< [row][metric]; empty: none
  std::optional<int> decimals;     ///< of all numbers, where they were asked for
  std::string difference;          ///< for the caption: what differences are measured from, "the best"; "": no differences
  std::string number, spread = "standard deviation";  ///< for the caption: "ratio of means to softmax" ("": mean) ± spread
  std::string caption;                                ///< in place of the caption that describes the numbers; "": that one
  std::string label;                                  ///< by which a paper refers to the table; "": none
  /// What people read in place of a label, a path or a metric. The data (CSV, JSON) keep their names.
  std::map<std::string, std::string> names;
  std::vector<std::string> notes;  ///< what a reader must know to read it right
  std::size_t trials = 0;
  /// The words of the command that asked for it, "table", "quickstart", "--against", "best"; and by number of a trial the first
  /// digits of its key. LaTeX, Typst and HTML contain them if they are known (db/report/layout.h).
  std::vector<std::string> request;
  std::map<std::int64_t, std::string> keys;

  /// The worst of a row's cells.
  Checked checked(std::size_t row) const {
    auto worst = Checked::kUnknown;
    for (std::size_t column = 0; column < columns.size(); ++column) worst = std::max(worst, cell(row, 0, column).checked);
    return worst;
  }

  /// Whether the suite was ever run over what stands behind a row: where it was not, a mark on each row tells nothing.
  bool any_checked() const {
    return std::any_of(cells.begin(), cells.end(),
                       [](const Cell& one) { return one.checked != Checked::kUnknown && one.checked != Checked::kUnchecked; });
  }

  const Chosen& choice(std::size_t row, std::size_t column, std::size_t path) const {
    return chosen[(row * columns.size() + column) * tuned_paths.size() + path];
  }

  /// In cells.
  std::size_t index_of(std::size_t row, std::size_t metric, std::size_t column) const {
    return (row * metrics.size() + metric) * columns.size() + column;
  }

  const Cell& cell(std::size_t row, std::size_t metric, std::size_t column) const {
    return cells[index_of(row, metric, column)];
  }
};

}  // namespace ablate::db
