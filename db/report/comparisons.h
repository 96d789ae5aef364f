// Comparisons of a table's cells that are tested together: Holm's correction is over all of them. No SQLite.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "db/report/inference/difference.h"
#include "db/types/table.h"

namespace ablate::db {

/// Why no test can be made of a cell's values; "" where one can.
const char* untestable(const Cell& cell);

/// Whether a metric has a better and a worse end. Fewer parameters are no result: a count says what a method is.
inline bool is_judged(const MetricInfo& metric) { return !metric.direction.empty() && metric.kind != MetricKind::kCount; }
/// True if differences of a metric are tested. A number that an attention or a task reports about itself is a result, although
/// it has no better end. The host's counts, and derived values that state no better end, are no results.
inline bool is_tested(const MetricInfo& metric) {
  return is_judged(metric) || (metric.direction.empty() && metric.owner != MetricOwner::kHost);
}

/// Returns "*" for better, "-" for worse, "≠" for differs; "" for others. The note below a table explains the marks.
constexpr const char* told_mark(Comparison::Told told) {
  using Told = Comparison::Told;
  return told == Told::kBetter ? "*" : told == Told::kWorse ? "-" : told == Told::kDiffers ? "≠" : "";
}

class Comparisons {
 public:
  /// The table's cells stay where they are while this lives.
  explicit Comparisons(Table& table) : table_(table) {}

  /// The difference of a cell to another, where one can be formed, and a test of it, where one can be made.
  /// @param into stays where it is until tell()
  void compare(std::size_t at, std::size_t to, Comparison& into);
  /// What two cells of a column are compared by, without a note of it. Two of which no test can be made are left out.
  void compare_quietly(std::size_t at, std::size_t to);
  /// Makes no test of a cell. @param whose numbers are at fault: its own, or those of its reference
  void leave(std::size_t at, std::size_t whose, const std::string& why, Comparison& into);

  /// After all of them: corrects, and says in each Comparison what is told.
  void tell();
  /// Whether the difference of a cell to another was tested, and is told in its favour. After tell().
  bool is_better(std::size_t at, std::size_t to) const;

  std::size_t count() const { return tested_.size(); }
  /// Adds the notes of what was and what was not tested. @param marks "* better, - worse than attention=softmax"; where they
  /// are there, a mark for differences of metrics without a better end is added @param more a note behind that of the test; "":
  /// none @param remedy end of the note that nothing can be told
  void note(const std::string& marks, const std::string& more = "", const std::string& remedy = "") const;

  /// "softmax 1/2": the labels of a cell's row.
  std::string row_of(std::size_t cell) const;

 private:
  struct Tested {
    std::size_t cell, reference;
    Comparison* into;  ///< nullptr: of compare_quietly
    Difference difference;
    double p_holm = 1;
  };

  /// Seeds of a comparison without a partner.
  struct Alone {
    std::size_t cell, reference;
    std::vector<std::int64_t> own, of_reference;
  };

  bool is_better(const Tested& one) const;
  bool have_seeds() const;  ///< of what is tested
  bool any_can_be_told() const;
  int most_seeds() const;
  std::string test_text(const std::string& marks) const;
  std::vector<std::string> rows_of(const std::set<std::size_t>& cells) const;
  bool is_average(std::size_t cell) const { return (cell + 1) % table_.columns.size() == 0; }  ///< where the table has them
  const MetricInfo& metric_of(std::size_t cell) const {
    return table_.metrics[cell / table_.columns.size() % table_.metrics.size()];
  }
  std::string partners_text() const;

  Table& table_;
  std::vector<Tested> tested_;
  std::vector<Alone> alone_;
  std::map<std::string, std::set<std::size_t>> left_;  ///< cells that were not tested, by reason
};

}  // namespace ablate::db
