#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "db/report/comparisons.h"
#include "db/report/format.h"
#include "db/report/inference/holm.h"
#include "db/report/longer_difference.h"
#include "db/report/statistics.h"
#include "db/report/summary.h"

namespace ablate::db {
namespace {

constexpr const char* kMark = "+";

/// Returns the mean gain if every longer trial is better than the trial that it repeats, else nullopt. A longer trial without a
/// value is not better.
std::optional<double> gain_of(const Cell& cell, const MetricInfo& metric) {
  if (cell.longer.empty() || static_cast<int>(cell.longer.size()) < cell.longer_trials || metric.direction.empty())
    return std::nullopt;
  const double sign = metric.direction == "max" ? 1 : -1;
  double sum = 0;
  for (const auto& pair : cell.longer) {
    if (sign * (pair.longer - pair.value) <= 0) return std::nullopt;
    sum += sign * (pair.longer - pair.value);
  }
  return sum / static_cast<double>(cell.longer.size());
}

/// Compares the values of a table with the values of the same trials with more steps.
class Control {
 public:
  explicit Control(Table& table) : table_(table) {
    for (std::size_t r = 0; r < table.rows.size(); ++r)
      for (std::size_t m = 0; m < table.metrics.size(); ++m)
        for (std::size_t c = 0; c < table.columns.size(); ++c) add(r, m, c);
    for (std::size_t m = 0; m < table.metrics.size(); ++m)
      for (std::size_t c = 0; c < table.columns.size(); ++c)
        for (std::size_t r = 0; r < table.rows.size(); ++r)
          for (std::size_t other = r + 1; other < table.rows.size(); ++other) compare(r, other, m, c);
  }

  void note() const {
    const auto steps = fmt::format("{} times the steps", fmt::join(factors_, " or "));
    if (!gains_.empty())
      table_.notes.push_back(
          fmt::format("{} with {}, each seed gains{}: {}. The marked values are points on a learning curve", kMark, steps,
                      table_.smallest > 0 ? fmt::format(", {:g} or more on average", table_.smallest)
                                          : std::string(" (the study's smallest difference is not known here)"),
                      some_of(gains_)));
    if (!turned_.empty()) table_.notes.push_back(fmt::format("with {} the order is reversed: {}", steps, some_of(turned_)));
    if (!open_.empty())
      table_.notes.push_back(fmt::format("longer trials without a result, of all longer trials: {}", some_of(open_)));
  }

 private:
  void add(std::size_t r, std::size_t m, std::size_t c) {
    const auto& metric = table_.metrics[m];
    auto& cell = table_.cells[table_.index_of(r, m, c)];
    auto& fact = cell.facts.emplace_back(Fact{.name = "longer", .value = mean_longer(cell), .shown = Fact::Shown::kData});
    for (const auto& pair : cell.longer) factors_.insert(pair.factor);
    if (!table_.judges.contains(metric.name)) return;
    if (const auto gain = gain_of(cell, metric); gain && *gain >= table_.smallest) {
      fact.mark = kMark;
      gains_.push_back(fmt::format("{} by {:.3g}", name_of(r, c), *gain));
    }
    if (const auto done = static_cast<int>(cell.longer.size()); done < cell.longer_trials)
      open_.push_back(fmt::format("{} ({} of {})", name_of(r, c), cell.longer_trials - done, cell.longer_trials));
  }

  void compare(std::size_t r, std::size_t other, std::size_t m, std::size_t c) {
    const auto &one = table_.cell(r, m, c), &rival = table_.cell(other, m, c);
    if (!table_.judges.contains(table_.metrics[m].name) || !is_judged(table_.metrics[m]) || one.tasks != rival.tasks) return;
    const double longer = longer_difference(one, rival).value;
    if (std::isnan(longer) || !have_own_seeds(one.samples) || !have_own_seeds(rival.samples)) return;
    const auto difference = difference_of(one.samples, rival.samples, table_.t_test);
    if (!(difference.p <= kLevel) || difference.value * longer >= 0) return;
    turned_.push_back(
        fmt::format("{} - {} is {:.3g}, then {:.3g}", name_of(r, c), name_of(other, c), difference.value, longer));
  }

  std::string name_of(std::size_t row, std::size_t column) const {
    auto name = row_text(table_.rows[row]);
    if (table_.columns.size() > 1) name += (name.empty() ? "" : " ") + row_text(table_.columns[column]);
    return name;
  }

  Table& table_;
  std::set<std::int64_t> factors_;
  std::vector<std::string> gains_, turned_, open_;
};

/// Marks cells whose trials gain with more steps, and adds notes on pairs of rows whose order is reversed.
void add_longer(const std::vector<std::string>&, Table& table) {
  if (table.has_longer) Control(table).note();
}

}  // namespace

const Statistic statistics::longer{"", "", false, "", "", nullptr, add_longer};

}  // namespace ablate::db
