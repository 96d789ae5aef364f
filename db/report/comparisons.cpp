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
  if (cell.samples.empty()) return "are computed from means, not from seeds";
  const bool has_seeds = cell.samples.front().seed.has_value();
  if (has_failed(cell)) return has_seeds ? "include only seeds that survived" : "include only trials that survived";
  if (cell.unsettled) return "were timed on a busy machine";
  if (cell.n == 1) return has_seeds ? "come from one seed" : "are single values";
  return "";
}

void Comparisons::leave(std::size_t at, std::size_t whose, const std::string& why, Comparison& into) {
  left_[why].insert(whose);
  into.untested = (at == whose ? "its numbers " : "the reference's numbers ") + why;
}

void Comparisons::compare(std::size_t at, std::size_t to, Comparison& into) {
  const auto &cell = table_.cells[at], &other = table_.cells[to];
  into.significance = Comparison::Significance::kUntested;
  if (other.n == 0) return leave(at, at, "have no reference: the reference has no value there", into);
  if (table_.average && at % table_.columns.size() != to % table_.columns.size() && (is_average(at) || is_average(to)))
    return leave(at, at, "would be compared with an average that includes them", into);
  if (cell.tasks != other.tasks) return leave(at, at, "come from other tasks or test examples than the reference's", into);
  const auto difference = difference_of(cell.samples, other.samples, table_.t_test);
  // The value is not finite if a mean is not finite: paired differences would leave out a diverged seed for lack of a partner.
  into.value = cell.settings == 1 && other.settings == 1 && std::isfinite(cell.mean) && std::isfinite(other.mean)
                   ? difference.value
                   : cell.mean - other.mean;
  for (const Cell* one : {&cell, &other})
    if (const std::string why = untestable(*one); !why.empty()) return leave(at, one == &cell ? at : to, why, into);
  into.n = difference.n, into.deviation = difference.deviation;
  into.low = difference.low, into.high = difference.high, into.paired = difference.paired;
  if (difference.tested())
    tested_.push_back({at, to, &into, difference});
  else if (table_.t_test && difference.deviation == 0)
    leave(at, at, "differ from the reference's by the same number at each seed: without a spread there is no t test", into);
  else if (table_.t_test && difference.low == difference.high)
    leave(at, at, "are all alike, and so are the reference's: without a spread there is no t test", into);
  else
    leave(at, at, "are too large for a test", into);
  if (!difference.only_a.empty() || !difference.only_b.empty())
    alone_.push_back({at, to, difference.only_a, difference.only_b});
}

void Comparisons::compare_quietly(std::size_t at, std::size_t to) {
  const auto &cell = table_.cells[at], &other = table_.cells[to];
  if (*untestable(cell) != '\0' || *untestable(other) != '\0') return;
  if (auto difference = difference_of(cell.samples, other.samples, table_.t_test); difference.tested())
    tested_.push_back({at, to, nullptr, std::move(difference)});
}

void Comparisons::decide() {
  std::vector<double> p;
  for (const auto& one : tested_) p.push_back(one.difference.p);
  const auto adjusted = holm(p);
  for (std::size_t i = 0; i < tested_.size(); ++i) {
    auto& one = tested_[i];
    one.p_holm = adjusted[i];
    if (one.into == nullptr) continue;
    if (one.difference.least_p > kLevel) {  // with this n, no values can be significant
      if (any_can_be_significant()) left_["come from too few seeds for the exact test"].insert(one.cell);
      one.into->significance = Comparison::Significance::kTooFew;
      one.into->untested = fmt::format("n = {} is too small for the exact test", one.difference.n);
      continue;
    }
    one.into->p = one.difference.p, one.into->p_holm = one.p_holm;
    one.into->significance = one.p_holm > kLevel               ? Comparison::Significance::kNotSignificant
                             : !is_judged(metric_of(one.cell)) ? Comparison::Significance::kDiffers
                             : is_better(one)                  ? Comparison::Significance::kBetter
                                                               : Comparison::Significance::kWorse;
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

/// True if at least one comparison has enough seeds to be significant.
bool Comparisons::any_can_be_significant() const {
  return std::any_of(tested_.begin(), tested_.end(),
                     [&](const Tested& one) { return one.difference.least_p * static_cast<double>(tested_.size()) <= kLevel; });
}

std::string Comparisons::row_of(std::size_t cell) const {
  const auto text = row_text(table_.rows[cell / table_.columns.size() / table_.metrics.size()]);
  return text.empty() ? "the row" : text;
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
    if (!any_can_be_significant())
      table_.notes.push_back(nothing_significant_text(most_seeds(), static_cast<int>(tested_.size()), have_seeds()) + remedy);
  }
  if (!more.empty()) table_.notes.push_back(more);
  std::vector<std::string> names;
  for (const auto& metric : table_.metrics)
    if (!is_tested(metric)) names.push_back(metric.name);
  if (!names.empty())
    table_.notes.push_back(
        fmt::format("not tested: {}: a count, or a derived value without a direction (NAME[max] = ...)", some_of(names)));
  if (!alone_.empty())
    table_.notes.push_back("left out of the differences, because the other row lacks the seed: " + partners_text());
  for (const auto& [why, cells] : left_) {
    std::map<std::string, std::set<std::size_t>> by_metric;
    for (const auto cell : cells) by_metric[table_.metrics.size() > 1 ? metric_of(cell).name : ""].insert(cell);
    std::map<std::string, std::vector<std::string>> metrics;  // by rows
    for (const auto& [metric, of_it] : by_metric) metrics[some_of(rows_of(of_it))].push_back(metric);
    for (const auto& [rows, its] : metrics)
      table_.notes.push_back(fmt::format("not tested: numbers of {}{} {}", rows,
                                         its.front().empty() ? "" : fmt::format(" ({})", some_of(its)), why));
  }
}

/// Returns "linear less softmax: seeds 1, 2 of softmax; other less softmax (task=image): seed 4 of other".
std::string Comparisons::partners_text() const {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;  // with columns and metrics
  for (const auto& [cell, reference, own, of_reference] : alone_) {
    std::vector<std::string> seeds;
    for (const auto& [those, whose] : {std::pair(&own, cell), std::pair(&of_reference, reference)})
      if (!those->empty())
        seeds.push_back(fmt::format("seed{} {} of {}", those->size() == 1 ? "" : "s", fmt::join(*those, ", "), row_of(whose)));
    auto text = fmt::format("{} less {}: {}", row_of(cell), row_of(reference), fmt::join(seeds, ", "));
    std::vector<std::string> where;
    if (table_.columns.size() > 1) where = table_.columns[cell % table_.columns.size()];
    if (table_.metrics.size() > 1) where.push_back(metric_of(cell).name);
    const auto at = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == text; });
    auto& places = at == all.end() ? all.emplace_back(text, std::vector<std::string>()).second : at->second;
    if (!where.empty()) places.push_back(fmt::format("{}", fmt::join(where, " ")));
  }
  std::vector<std::string> texts;
  for (const auto& [text, places] : all) texts.push_back(places.empty() ? text : fmt::format("{} ({})", text, some_of(places)));
  return fmt::format("{}", fmt::join(texts, "; "));
}

bool Comparisons::have_seeds() const {
  return std::any_of(tested_.begin(), tested_.end(), [&](const Tested& one) {
    const auto& samples = table_.cells[one.cell].samples;
    return std::any_of(samples.begin(), samples.end(), [](const Sample& sample) { return sample.seed.has_value(); });
  });
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
  const bool t = table_.t_test;
  if (any_pairs) tests.emplace_back(fmt::format("paired by seed: t interval, {} test", t ? "paired t" : "sign-flip"));
  if (any_sides)
    tests.emplace_back(fmt::format("{}: Welch's interval, {} test", have_seeds() ? "fewer than two shared seeds" : "no seeds",
                                   t ? "Welch's t" : "permutation"));
  const bool any_neutral = std::any_of(tested_.begin(), tested_.end(), [&](const Tested& one) {
    return one.into != nullptr && !is_judged(metric_of(one.cell));
  });
  return fmt::format("{}{}, at {:g} % over {} comparison{} (Holm); n = {} {}{}; {}; p {}", marks,
                     !any_neutral                           ? ""
                     : marks.find('*') == std::string::npos ? "; differs (the metric has no direction)"
                                                            : "; ≠ differs (the metric has no direction)",
                     100 * kLevel, tested_.size(), tested_.size() == 1 ? "" : "s",
                     least == most ? std::to_string(most) : fmt::format("{} to {}", least, most),
                     have_seeds() ? "seeds" : "values", table_.varied.empty() ? "" : ", which vary " + table_.varied,
                     fmt::join(tests, "; "),
                     t           ? "for normal differences"
                     : any_drawn ? fmt::format("from {} draws by a fixed seed if an exact p takes too long", kDraws)
                                 : "exact");
}

}  // namespace ablate::db
