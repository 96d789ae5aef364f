#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/util/error.h"
#include "core/util/nearest.h"
#include "db/report/comparisons.h"
#include "db/report/format.h"
#include "db/report/reference_lines.h"
#include "db/report/statistics.h"

namespace ablate::db {
namespace {

using Significance = Comparison::Significance;

constexpr const char* kAgainst = "against";

/// Returns the fact with this name, which this statistic added to the cell.
Fact& fact_of(Cell& cell, std::string_view name) { return *std::ranges::find(cell.facts, name, &Fact::name); }

/// Cells of a column that can be compared, from the best mean to the worst.
using Rivals = std::vector<std::size_t>;

class Against {
 public:
  Against(const std::vector<std::string>& values, Table& table) : table_(table), comparisons_(table) {
    table.reference = fmt::format("{}", fmt::join(values, " "));
    table.difference = is_against_best() ? "the best" : table.reference;
    for (auto& cell : table.cells) {
      cell.facts.insert(cell.facts.end(), statistics::against.blank.begin(), statistics::against.blank.end());
      cell.facts.push_back({.name = kAgainst, .value = Comparison()});
    }
    find_rivals();
    if (values.size() == 1 && values.front() == kBest)
      take_best();
    else
      take_lines(reference_lines("--against", conditions(values), table));
    comparisons_.decide();
    table.comparisons = static_cast<int>(comparisons_.count());
    if (is_against_best())  // the best mean is over all seeds; a test is over shared seeds, and may favour another row
      for (std::size_t at = 0; at < table.cells.size(); ++at)
        if (comparison(at).significance == Significance::kBetter) comparison(at).significance = Significance::kNotSignificant;
    emphasise();
    mark();
    if (is_against_best()) {
      comparisons_.note(
          "* better than every other, = not significantly different from the best, - worse",
          "the reference of each column is its best mean, chosen from these same numbers. Therefore all pairs of a column are "
          "tested, and the pairs with the best are shown. A new run would probably show a smaller lead",
          fmt::format("; --against PATH=VALUE makes {} of these comparisons", to_one_row_));
      std::vector<std::string> without;
      for (const auto& metric : table.metrics)
        if (is_tested(metric) && !is_judged(metric)) without.push_back(metric.name);
      if (!without.empty())
        table.notes.push_back(fmt::format("not tested: {}: without a direction there is no best; --against PATH=VALUE tests it",
                                          some_of(without)));
    } else
      comparisons_.note("* better, - worse than " + table.reference);
  }

 private:
  bool is_against_best() const { return table_.reference == kBest; }
  Comparison& comparison(std::size_t at) { return std::get<Comparison>(fact_of(table_.cells[at], kAgainst).value); }

  /// Returns the values. Throws Error if a value is not PATH=VALUE.
  static const std::vector<std::string>& conditions(const std::vector<std::string>& values) {
    for (const auto& value : values) {
      if (value == kBest) throw Error("--against best: found another --against beside it, expected only --against best");
      if (value.find('=') == std::string::npos)
        throw Error(fmt::format("--against {}: expected PATH=VALUE, for example attention=softmax, or best{}", value,
                                hint(value, std::vector<std::string>{kBest})));
    }
    return values;
  }

  void find_rivals() {
    for (std::size_t m = 0; m < table_.metrics.size(); ++m) {
      if (!is_judged(table_.metrics[m])) continue;
      const bool most = table_.metrics[m].direction == "max";
      for (std::size_t c = 0; c < table_.columns.size(); ++c) {
        std::map<std::set<std::size_t>, Rivals> groups;
        for (std::size_t r = 0; r < table_.rows.size(); ++r)
          if (const auto at = table_.index_of(r, m, c); std::isfinite(table_.cells[at].mean))
            groups[table_.cells[at].tasks].push_back(at);
          else if (table_.cells[at].n > 0)
            comparisons_.leave(at, at, untestable(table_.cells[at]), comparison(at));
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

  /// Tests all pairs of a column, because the best row is chosen from the same numbers.
  void take_best() {
    for (const auto& rivals : rivals_) {
      comparison(rivals.front()).significance = Significance::kReference;
      for (auto at = rivals.begin() + 1; at != rivals.end(); ++at) {
        comparisons_.compare(*at, rivals.front(), comparison(*at));
        for (auto to = rivals.begin() + 1; to != at; ++to) comparisons_.compare_quietly(*at, *to);
      }
      to_one_row_ += rivals.size() - 1;
    }
  }

  void take_lines(const ReferenceLines& lines) {
    for (std::size_t r = 0; r < table_.rows.size(); ++r)
      for (std::size_t m = 0; m < table_.metrics.size(); ++m)
        for (std::size_t c = 0; c < table_.columns.size(); ++c) {
          const auto at = table_.index_of(r, m, c), to = lines.index_of(table_, r, m, c);
          if (at == to)
            comparison(at).significance = Significance::kReference;
          else if (is_tested(table_.metrics[m]) && table_.cells[at].n > 0)
            comparisons_.compare(at, to, comparison(at));
        }
  }

  /// Marks the best and the second cell of a column. With --against best, all pairs are tested already. Otherwise each row was
  /// compared only with the reference, and further tests compare the best rows with each other.
  void emphasise() {
    Comparisons own(table_);
    auto& steps = is_against_best() ? comparisons_ : own;
    const auto each = [&](const auto& run) {
      for (const auto& rivals : rivals_)
        for (std::size_t i = 0; i < std::min<std::size_t>(2, rivals.size() - 1); ++i) run(rivals[i], rivals[i + 1], i == 0);
    };
    if (!is_against_best()) {
      each([&](std::size_t at, std::size_t next, bool) { steps.compare_quietly(at, next); });
      steps.decide();
    }
    each([&](std::size_t at, std::size_t next, bool is_best) {
      if (!steps.is_better(at, next)) return;
      auto& fact = fact_of(table_.cells[at], is_best ? kBestMark : kSecondMark);
      fact.value = true, fact.mark = is_best ? kBestMark : kSecondMark;
    });
    if (!is_against_best()) return;
    for (const auto& rivals : rivals_)
      if (std::all_of(rivals.begin() + 1, rivals.end(),
                      [&](auto at) { return comparison(at).significance == Significance::kWorse; }))
        comparison(rivals.front()).significance = Significance::kBetter;
  }

  void mark() {
    for (auto& cell : table_.cells) {
      auto& fact = fact_of(cell, kAgainst);
      const auto& to = std::get<Comparison>(fact.value);
      fact.mark = to.significance == Significance::kNotSignificant ? (is_against_best() ? "=" : "")
                                                                   : significance_mark(to.significance);
      fact.leads = std::isnan(to.value);  // the best mean has no difference to itself
    }
  }

  Table& table_;
  Comparisons comparisons_;
  std::vector<Rivals> rivals_;
  std::size_t to_one_row_ = 0;  ///< number of comparisons with a fixed row in place of the best
};

/// Tests the cells of each column against one row (reference_lines), or against the best.
void add_comparisons(const std::vector<std::string>& values, Table& table) { Against(values, table); }

}  // namespace

const Statistic statistics::against{kAgainst,
                                    "PATH=VALUE",
                                    true,
                                    "differences to the row (or column) with this value, as attention=softmax, with their 95 % "
                                    "interval and exact p; \"best\": to "
                                    "the best mean of each column. Repeat it for more values",
                                    "baseline",
                                    nullptr,
                                    add_comparisons,
                                    1,
                                    {{.name = kBestMark, .value = false, .shown = Fact::Shown::kJson, .leads = true},
                                     {.name = kSecondMark, .value = false, .shown = Fact::Shown::kJson, .leads = true}}};

}  // namespace ablate::db
