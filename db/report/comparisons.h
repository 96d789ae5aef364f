// Comparisons of a table's cells that are tested together: Holm's correction is over all of them. No SQLite.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "db/report/inference/difference.h"
#include "db/types/table.h"

namespace ablate::db {

/// Returns why a cell's values cannot be tested, or "" if they can.
const char* untestable(const Cell& cell);

/// True if a metric has a direction: higher or lower is better. A count (of parameters) is no result: it describes a method.
inline bool is_judged(const MetricInfo& metric) { return !metric.direction.empty() && metric.kind != MetricKind::kCount; }
/// True if differences of a metric are tested. A number that an attention or a task reports about itself is a result, although
/// it has no direction. The host's counts, and derived values without a direction, are no results.
inline bool is_tested(const MetricInfo& metric) {
  return is_judged(metric) || (metric.direction.empty() && metric.owner != MetricOwner::kHost);
}

/// Returns "*" for better, "-" for worse, "≠" for differs; "" for others. The note below a table explains the marks.
constexpr const char* significance_mark(Comparison::Significance of) {
  using Significance = Comparison::Significance;
  return of == Significance::kBetter ? "*" : of == Significance::kWorse ? "-" : of == Significance::kDiffers ? "≠" : "";
}

class Comparisons {
 public:
  /// @param table its cells must not move during this object's lifetime
  explicit Comparisons(Table& table) : table_(table) {}

  /// Writes the difference of two cells, if it exists, and registers its test, if a test is possible.
  /// @param into must not move until decide()
  void compare(std::size_t at, std::size_t to, Comparison& into);
  /// Registers a test of two cells of a column without a report of its result. Skips cells that cannot be tested.
  void compare_quietly(std::size_t at, std::size_t to);
  /// Leaves the cell `at` untested. The cell `whose` is the cause: the cell `at` itself or its reference.
  void leave(std::size_t at, std::size_t whose, const std::string& why, Comparison& into);

  /// Corrects the p-values after all comparisons are registered, and fills each Comparison with the test's result.
  void decide();
  /// True if the difference of two cells was tested and is significant in favour of `at`. Call it after decide().
  bool is_better(std::size_t at, std::size_t to) const;

  std::size_t count() const { return tested_.size(); }
  /// Adds notes on the tests and on untested cells.
  /// @param marks legend, "* better, - worse than softmax"; the mark for metrics without a direction is added if needed
  /// @param more a further note after the note of the test, or ""
  /// @param remedy end of the note which says that no difference can be significant
  void note(const std::string& marks, const std::string& more = "", const std::string& remedy = "") const;

  /// Returns the labels of a cell's row, "softmax 1/2".
  std::string row_of(std::size_t cell) const;

 private:
  struct Tested {
    std::size_t cell, reference;
    Comparison* into;  ///< nullptr for compare_quietly
    Difference difference;
    double p_holm = 1;
  };

  /// Seeds that only one of two compared cells has.
  struct Alone {
    std::size_t cell, reference;
    std::vector<std::int64_t> own, of_reference;
  };

  bool is_better(const Tested& one) const;
  bool have_seeds() const;  ///< true if any tested sample has a seed
  bool any_can_be_significant() const;
  int most_seeds() const;
  std::string test_text(const std::string& marks) const;
  std::vector<std::string> rows_of(const std::set<std::size_t>& cells) const;
  bool is_average(std::size_t cell) const { return (cell + 1) % table_.columns.size() == 0; }  ///< for tables with averages
  const MetricInfo& metric_of(std::size_t cell) const {
    return table_.metrics[cell / table_.columns.size() % table_.metrics.size()];
  }
  std::string partners_text() const;

  Table& table_;
  std::vector<Tested> tested_;
  std::vector<Alone> alone_;
  std::map<std::string, std::set<std::size_t>> left_;  ///< untested cells, by reason
};

}  // namespace ablate::db
