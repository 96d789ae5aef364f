#include "db/report/comparisons.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/records/outcome.h"
#include "db/report/format.h"
#include "db/report/inference/holm.h"
#include "db/report/inference/permutation.h"
#include "db/report/inference/power.h"

namespace ablate::db {
namespace {

bool has_failed(const Cell& cell) {
  return std::any_of(cell.failures.begin(), cell.failures.end(), [](const auto& failure) {
    return failure.outcome != outcome::kMissing && counts_as_failed(failure.outcome);
  });
}

}  // namespace

const char* untestable(const Cell& cell) {
  if (cell.settings > 1) return "average over several settings";
  if (!std::isfinite(cell.mean)) return "are not all finite";
  if (cell.samples.empty()) return "are made of means, not of seeds";
  if (has_failed(cell)) return "are of the seeds that survived";
  if (cell.unsettled) return "were timed on a busy machine";
  if (cell.n == 1) return "are of one seed";
  return "";
}

void Comparisons::leave(std::size_t at, std::size_t whose, const std::string& why, Comparison& into) {
  left_[why].insert(whose);
  into.untested = (at == whose ? "its numbers " : "the reference's numbers ") + why;
}

void Comparisons::compare(std::size_t at, std::size_t to, Comparison& into) {
  const auto &cell = table_.cells[at], &other = table_.cells[to];
  into.told = Comparison::Told::kUntested;
  if (table_.average && at % table_.columns.size() != to % table_.columns.size() && (is_average(at) || is_average(to)))
    return leave(at, at, "are compared with an average that holds them", into);
  if (cell.tasks != other.tasks) return leave(at, at, "are of other tasks or test examples than the reference's", into);
  const auto difference = difference_of(cell.samples, other.samples);
  // Of means that are both numbers: a seed that diverged is not left out for want of a partner.
  into.value = cell.settings == 1 && other.settings == 1 && std::isfinite(cell.mean) && std::isfinite(other.mean)
                   ? difference.value
                   : cell.mean - other.mean;
  for (const Cell* one : {&cell, &other})
    if (const std::string why = untestable(*one); !why.empty()) return leave(at, one == &cell ? at : to, why, into);
  into.n = difference.n, into.deviation = difference.deviation;
  into.low = difference.low, into.high = difference.high, into.paired = difference.paired;
  if (difference.tested()) tested_.push_back({at, to, &into, difference});
  for (const auto& [seeds, where] : {std::pair(&difference.only_a, at), std::pair(&difference.only_b, to)})
    for (const auto seed : *seeds) alone_[where].insert(seed);
}

void Comparisons::compare_quietly(std::size_t at, std::size_t to) {
  const auto &cell = table_.cells[at], &other = table_.cells[to];
  if (*untestable(cell) != '\0' || *untestable(other) != '\0') return;
  if (auto difference = difference_of(cell.samples, other.samples); difference.tested())
    tested_.push_back({at, to, nullptr, std::move(difference)});
}

void Comparisons::tell() {
  std::vector<double> p;
  for (const auto& one : tested_) p.push_back(one.difference.p);
  const auto adjusted = holm(p);
  for (std::size_t i = 0; i < tested_.size(); ++i) {
    auto& one = tested_[i];
    one.p_holm = adjusted[i];
    if (one.into == nullptr) continue;
    one.into->p = one.difference.p, one.into->p_holm = one.p_holm;
    one.into->told = one.p_holm > kLevel ? Comparison::Told::kNot
                     : is_better(one)    ? Comparison::Told::kBetter
                                         : Comparison::Told::kWorse;
  }
}

bool Comparisons::is_better(const Tested& one) const {
  return one.p_holm <= kLevel && (one.difference.value > 0) == (metric_of(one.cell).direction == "max");
}

bool Comparisons::is_better(std::size_t at, std::size_t to) const {
  return std::any_of(tested_.begin(), tested_.end(), [&](const Tested& one) {
    if (one.p_holm > kLevel) return false;
    return is_better(one) ? one.cell == at && one.reference == to : one.cell == to && one.reference == at;
  });
}

/// Whether some values of these comparisons' numbers of seeds could be told apart.
bool Comparisons::any_can_be_told() const {
  return std::any_of(tested_.begin(), tested_.end(),
                     [&](const Tested& one) { return one.difference.least_p * static_cast<double>(tested_.size()) <= kLevel; });
}

std::string Comparisons::row_of(std::size_t cell) const {
  std::vector<std::string> labels;
  for (const auto& label : table_.rows[cell / table_.columns.size() / table_.metrics.size()])
    if (label != kAbsent) labels.push_back(label);
  return labels.empty() ? "the row" : fmt::format("{}", fmt::join(labels, " "));
}

std::vector<std::string> Comparisons::rows_of(const std::set<std::size_t>& cells) const {
  std::vector<std::string> names;
  for (const auto cell : cells)
    if (const auto name = row_of(cell); std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

int Comparisons::most_seeds() const {
  int n = 0;
  for (const auto& one : tested_) n = std::max(n, one.difference.n);
  return n;
}

void Comparisons::note(const std::string& marks, const std::string& more, const std::string& remedy) const {
  if (!tested_.empty()) {
    table_.notes.push_back(table_.test = test_text(marks));
    if (!any_can_be_told()) table_.notes.push_back(nothing_told_text(most_seeds(), static_cast<int>(tested_.size())) + remedy);
  }
  if (!more.empty()) table_.notes.push_back(more);
  for (const auto& [cell, seeds] : alone_)
    table_.notes.push_back(fmt::format("{} has no partner for seed{} {}: left out of the differences", row_of(cell),
                                       seeds.size() == 1 ? "" : "s", fmt::join(seeds, ", ")));
  for (const auto& [why, cells] : left_)
    table_.notes.push_back(fmt::format("not tested: numbers of {} {}", some_of(rows_of(cells)), why));
}

std::string Comparisons::test_text(const std::string& marks) const {
  int least = tested_.front().difference.n;
  bool any_pairs = false, any_sides = false, any_drawn = false;
  for (const auto& one : tested_) {
    least = std::min(least, one.difference.n);
    (one.difference.paired ? any_pairs : any_sides) = true;
    any_drawn = any_drawn || !one.difference.exact;
  }
  const auto most = most_seeds();
  std::vector<std::string> tests;
  if (any_pairs) tests.emplace_back("paired by seed: t interval, sign-flip test");
  if (any_sides) tests.emplace_back("fewer than two seeds shared: Welch's interval, permutation test");
  return fmt::format("{}, at {:g} % over {} comparison{} (Holm); n = {} seeds{}; {}; p {}", marks, 100 * kLevel, tested_.size(),
                     tested_.size() == 1 ? "" : "s",
                     least == most ? std::to_string(most) : fmt::format("{} to {}", least, most),
                     table_.varied.empty() ? "" : ", which vary " + table_.varied, fmt::join(tests, "; "),
                     any_drawn ? fmt::format("of {} draws by a fixed seed where exact ones were too many", kDraws) : "exact");
}

}  // namespace ablate::db
