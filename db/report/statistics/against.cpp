#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/util/error.h"
#include "core/util/nearest.h"
#include "db/report/format.h"
#include "db/report/inference/difference.h"
#include "db/report/inference/holm.h"
#include "db/report/inference/permutation.h"
#include "db/report/inference/power.h"
#include "db/report/reference_lines.h"
#include "db/report/statistics.h"

namespace ablate::db {
namespace {

using Told = Comparison::Told;

bool has_failed(const Cell& cell) {
  return std::any_of(cell.failures.begin(), cell.failures.end(),
                     [](const auto& failure) { return failure.outcome == "failed" || failure.outcome == "timeout"; });
}

/// Why no test can be made of a cell's values; "" where one can.
const char* untestable(const Cell& cell) {
  if (cell.settings > 1) return "average over several settings";
  if (!std::isfinite(cell.mean)) return "are not all finite";
  if (has_failed(cell)) return "are of the seeds that survived";
  if (cell.unsettled) return "were timed on a busy machine";
  if (cell.n == 1) return "are of one seed";
  return "";
}

/// A comparison that is tested, with all others of its family.
struct Tested {
  std::size_t cell;
  Difference difference;
  double p_holm = 1;
};

/// Holm's correction over all of them.
void correct(std::vector<Tested>& tested) {
  std::vector<double> p;
  for (const auto& one : tested) p.push_back(one.difference.p);
  const auto adjusted = holm(p);
  for (std::size_t i = 0; i < tested.size(); ++i) tested[i].p_holm = adjusted[i];
}

/// Whether some values of these comparisons' numbers of seeds could be told apart.
bool any_can_be_told(const std::vector<Tested>& tested) {
  return std::any_of(tested.begin(), tested.end(),
                     [&](const Tested& one) { return one.difference.least_p * static_cast<double>(tested.size()) <= kLevel; });
}

/// Cells of a column that can be compared, from the best mean to the worst.
using Rivals = std::vector<std::size_t>;

class Against {
 public:
  Against(const std::vector<std::string>& values, Table& table) : table_(table) {
    table.against = fmt::format("{}", fmt::join(values, " "));
    find_rivals();
    if (values.size() == 1 && values.front() == kBest)
      take_best();
    else
      take_lines(reference_lines("--against", conditions(values), table));
    correct(tested_);
    table.comparisons = static_cast<int>(tested_.size());
    for (const auto& one : tested_) tell(one);
    emphasise();
    note();
  }

 private:
  /// Only what has a better and a worse end.
  bool is_judged(std::size_t m) const { return !table_.metrics[m].direction.empty(); }

  /// The values, each a PATH=VALUE. Throws Error where one is none.
  static const std::vector<std::string>& conditions(const std::vector<std::string>& values) {
    for (const auto& value : values) {
      if (value == kBest) throw Error("--against best: found another --against beside it, expected it alone");
      if (value.find('=') == std::string::npos)
        throw Error(fmt::format("--against {}: expected PATH=VALUE, for example attention=softmax, or best{}", value,
                                hint(value, std::vector<std::string>{kBest})));
    }
    return values;
  }

  void find_rivals() {
    for (std::size_t m = 0; m < table_.metrics.size(); ++m) {
      if (!is_judged(m)) continue;
      const bool most = table_.metrics[m].direction == "max";
      for (std::size_t c = 0; c < table_.columns.size(); ++c) {
        std::map<std::set<std::size_t>, Rivals> groups;
        for (std::size_t r = 0; r < table_.rows.size(); ++r)
          if (const auto at = table_.place(r, m, c); std::isfinite(table_.cells[at].mean))
            groups[table_.cells[at].tasks].push_back(at);
          else if (table_.cells[at].n > 0)
            leave(at, at, untestable(table_.cells[at]));
        for (auto& [unused, rivals] : groups) {
          std::stable_sort(rivals.begin(), rivals.end(), [&](auto a, auto b) {
            const auto &one = table_.cells[a].mean, &other = table_.cells[b].mean;
            return most ? one > other : one < other;
          });
          if (rivals.size() > 1) rivals_.push_back(rivals);
        }
      }
    }
  }

  void take_best() {
    for (const auto& rivals : rivals_) {
      table_.cells[rivals.front()].against.told = Told::kReference;
      for (auto at = rivals.begin() + 1; at != rivals.end(); ++at) compare(*at, rivals.front());
    }
  }

  void take_lines(const ReferenceLines& lines) {
    for (std::size_t r = 0; r < table_.rows.size(); ++r)
      for (std::size_t m = 0; m < table_.metrics.size(); ++m)
        for (std::size_t c = 0; c < table_.columns.size(); ++c) {
          const auto at = table_.place(r, m, c), to = lines.place(table_, r, m, c);
          if (at == to)
            table_.cells[at].against.told = Told::kReference;
          else if (is_judged(m) && table_.cells[at].n > 0 && table_.cells[to].n > 0)
            compare(at, to);
        }
  }

  /// Their difference, where one can be formed, and a test of it, where one can be made.
  void compare(std::size_t at, std::size_t to) {
    auto& cell = table_.cells[at];
    const auto& other = table_.cells[to];
    cell.against.told = Told::kUntested;
    if (cell.tasks != other.tasks) return leave(at, at, "are of other tasks or test examples than the reference's");
    const auto difference = difference_of(cell.samples, other.samples);
    // Of means that are both numbers: a seed that diverged is not left out for want of a partner.
    cell.against.value = cell.settings == 1 && other.settings == 1 && std::isfinite(cell.mean) && std::isfinite(other.mean)
                             ? difference.value
                             : cell.mean - other.mean;
    for (const Cell* one : {static_cast<const Cell*>(&cell), &other})
      if (const std::string why = untestable(*one); !why.empty()) return leave(at, one == &cell ? at : to, why);
    cell.against.n = difference.n, cell.against.deviation = difference.deviation;
    cell.against.low = difference.low, cell.against.high = difference.high, cell.against.paired = difference.paired;
    if (difference.tested()) tested_.push_back({at, difference});
    for (const auto& [seeds, where] : {std::pair(&difference.only_a, at), std::pair(&difference.only_b, to)})
      for (const auto seed : *seeds) alone_[where].insert(seed);
  }

  /// Makes no test of a cell. @param whose numbers are at fault: its own, or those of its reference
  void leave(std::size_t at, std::size_t whose, const std::string& why) {
    left_[why].insert(whose);
    table_.cells[at].against.untested = (at == whose ? "its numbers " : "the reference's numbers ") + why;
  }

  /// Whether a tested difference is told, and in favour of the cell.
  bool is_better(const Tested& one) const {
    return one.p_holm <= kLevel && (one.difference.value > 0) == (metric_of(one.cell).direction == "max");
  }

  void tell(const Tested& one) {
    auto& cell = table_.cells[one.cell];
    cell.against.p = one.difference.p, cell.against.p_holm = one.p_holm;
    if (one.p_holm > kLevel)
      cell.against.told = Told::kNot;
    else if (!is_better(one))
      cell.against.told = Told::kWorse;
    else  // the best is so over all seeds: what shared ones say against it makes no other one better
      cell.against.told = table_.against == kBest ? Told::kNot : Told::kBetter;
  }

  /// Bold and underlined, by tests of their own.
  void emphasise() {
    std::vector<Tested> steps;
    std::vector<bool> is_best;
    for (const auto& rivals : rivals_)
      for (std::size_t i = 0; i < std::min<std::size_t>(2, rivals.size() - 1); ++i) {
        const auto &one = table_.cells[rivals[i]], &next = table_.cells[rivals[i + 1]];
        if (*untestable(one) != '\0' || *untestable(next) != '\0') continue;
        if (auto difference = difference_of(one.samples, next.samples); difference.tested())
          steps.push_back({rivals[i], std::move(difference)}), is_best.push_back(i == 0);
      }
    correct(steps);
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (is_better(steps[i])) (is_best[i] ? table_.cells[steps[i].cell].best : table_.cells[steps[i].cell].second) = true;
    if (table_.against != kBest) return;
    for (const auto& rivals : rivals_) {  // the best is better than the second where the second is told from it
      const auto& second = table_.cells[rivals[1]].against;
      if (second.told == Told::kWorse) table_.cells[rivals.front()].against.told = Told::kBetter;
    }
  }

  const MetricInfo& metric_of(std::size_t cell) const {
    return table_.metrics[cell / table_.columns.size() % table_.metrics.size()];
  }
  /// "softmax, 1/2": the labels of a cell's row.
  std::string row_of(std::size_t cell) const {
    std::vector<std::string> labels;
    for (const auto& label : table_.rows[cell / table_.columns.size() / table_.metrics.size()])
      if (label != kAbsent) labels.push_back(label);
    return labels.empty() ? "the row" : fmt::format("{}", fmt::join(labels, " "));
  }
  std::vector<std::string> rows_of(const std::set<std::size_t>& cells) const {
    std::vector<std::string> names;
    for (const auto cell : cells)
      if (const auto name = row_of(cell); std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    return names;
  }

  void note() {
    if (!tested_.empty()) {
      table_.notes.push_back(table_.test = test_text());
      if (!any_can_be_told(tested_)) table_.notes.push_back(nothing_told_text(most_seeds(), static_cast<int>(tested_.size())));
    }
    if (table_.against == kBest)
      table_.notes.emplace_back(
          "the reference of each column is its best mean, chosen from these same numbers: what it leads by is more than a new "
          "run would show");
    for (const auto& [cell, seeds] : alone_)
      table_.notes.push_back(fmt::format("{} has no partner for seed{} {}: left out of the differences", row_of(cell),
                                         seeds.size() == 1 ? "" : "s", fmt::join(seeds, ", ")));
    for (const auto& [why, cells] : left_)
      table_.notes.push_back(fmt::format("not tested: numbers of {} {}", some_of(rows_of(cells)), why));
  }

  int most_seeds() const {
    int n = 0;
    for (const auto& one : tested_) n = std::max(n, one.difference.n);
    return n;
  }

  std::string test_text() const {
    int least = tested_.front().difference.n;
    bool any_pairs = false, any_sides = false, any_drawn = false;
    for (const auto& [unused, difference, p] : tested_) {
      least = std::min(least, difference.n);
      (difference.paired ? any_pairs : any_sides) = true;
      any_drawn = any_drawn || !difference.exact;
    }
    const auto most = most_seeds();
    const std::string marks = table_.against == kBest ? "* better than the second, = not told from the best, - worse"
                                                      : "* better, - worse than " + table_.against;
    std::vector<std::string> tests;
    if (any_pairs) tests.emplace_back("paired by seed: t interval, sign-flip test");
    if (any_sides) tests.emplace_back("fewer than two seeds shared: Welch's interval, permutation test");
    return fmt::format("{}, at {:g} % over {} comparison{} (Holm); n = {} seeds{}; {}; p {}", marks, 100 * kLevel,
                       tested_.size(), tested_.size() == 1 ? "" : "s",
                       least == most ? std::to_string(most) : fmt::format("{} to {}", least, most),
                       table_.varied.empty() ? "" : ", which vary " + table_.varied, fmt::join(tests, "; "),
                       any_drawn ? fmt::format("of {} draws by a fixed seed where exact ones were too many", kDraws) : "exact");
  }

  Table& table_;
  std::vector<Rivals> rivals_;
  std::vector<Tested> tested_;
  std::map<std::size_t, std::set<std::int64_t>> alone_;  ///< seeds without a partner, by cell
  std::map<std::string, std::set<std::size_t>> left_;    ///< cells that were not tested, by reason
};

/// Tests the cells of each column against one row (reference_lines), or against the best.
void add_comparisons(const std::vector<std::string>& values, Table& table) { Against(values, table); }

}  // namespace

const Statistic statistics::against{"against",
                                    "PATH=VALUE",
                                    true,
                                    "differences to the row (or column) with this value, as attention=softmax, with their 95 % "
                                    "interval and exact p; \"best\": to "
                                    "the best mean of each column. Repeat it for more values",
                                    "baseline",
                                    nullptr,
                                    add_comparisons};

}  // namespace ablate::db
