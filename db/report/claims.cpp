#include "db/report/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/util/error.h"
#include "core/util/flatten.h"
#include "core/util/row_conditions.h"
#include "db/report/comparisons.h"
#include "db/report/digits.h"
#include "db/report/format.h"
#include "db/report/inference/holm.h"
#include "db/report/inference/power.h"
#include "db/report/longer_difference.h"
#include "db/report/reference_lines.h"

namespace ablate::db {
namespace {

using Expect = Claim::Expect;
using Verdict = ClaimAnswer::Verdict;

/// Returns the only row with these settings. Ignores settings that the table's rows do not show: the check of the study made
/// sure that all rows have these values. Throws Error if there is not exactly one row.
std::size_t shown_row(const std::string& text, const Table& table) {
  std::string shown;
  for (const auto& condition : row_conditions(text))
    if (const auto path = history_path(condition.substr(0, condition.find('=')));
        std::find(table.row_paths.begin(), table.row_paths.end(), path) != table.row_paths.end())
      shown += (shown.empty() ? "" : " ") + condition;
  return row_named("claim", shown.empty() ? text : shown, table);
}

/// Throws Error if the table lacks the metric. "" is the first metric.
std::size_t metric_of(const std::string& name, const Table& table) {
  if (name.empty()) return 0;
  const auto at = std::find_if(table.metrics.begin(), table.metrics.end(), [&](const auto& one) { return one.name == name; });
  if (at == table.metrics.end()) throw Error(fmt::format("no trial has the metric {}", name));
  return static_cast<std::size_t>(at - table.metrics.begin());
}

/// Returns the samples of `of`, with change(value) in place of each value.
template <class Change>
std::vector<Sample> changed(const std::vector<Sample>& of, const Change& change) {
  auto samples = of;
  for (auto& sample : samples) sample.value = change(sample.value);
  return samples;
}

/// Returns p of the one-sided exact test that the mean of `a` is above the mean of `b` plus `shift`.
double p_above(const std::vector<Sample>& a, const std::vector<Sample>& b, double shift) {
  const auto difference = difference_of(a, changed(b, [&](double value) { return value + shift; }));
  return difference.value > 0 ? difference.p / 2 : 1 - difference.p / 2;  // p is twice the smaller tail
}

/// Returns why a row cannot be tested, or "".
std::string untested_text(const std::string& row, const Cell& cell) {
  if (cell.samples.empty()) return row + ": no trial has a value";
  const std::string why = untestable(cell);
  return why.empty() ? "" : row + ": " + why;
}

/// Fills an answer's difference, p and longer difference. Throws Error if the claim's rows or metric are not in the table.
void measure(const Table& table, ClaimAnswer& answer) {
  const auto& claim = answer.claim;
  const auto m = metric_of(claim.metric, table);
  answer.metric = table.metrics[m];
  answer.row = shown_row(claim.row, table);
  const auto& row = table.cell(*answer.row, m, 0);
  answer.floor = row.floor;
  answer.untested = untested_text(claim.row, row);
  std::vector<Sample> reference;
  if (claim.is_of_floor()) {
    if (answer.untested.empty() && std::isnan(row.floor))
      answer.untested = "the floor of the row's test examples is not known; `ablate audit STUDY` finds it";
    reference = changed(row.samples, [&](double) { return row.floor; });
    answer.longer = mean_longer(row) - row.floor, answer.longer_seeds = static_cast<int>(row.longer.size());
  } else {
    const auto& other = table.cell(shown_row(claim.against, table), m, 0);
    if (answer.untested.empty()) answer.untested = untested_text(claim.against, other);
    if (answer.untested.empty() && row.tasks != other.tasks) answer.untested = "the two rows have different test examples";
    reference = other.samples;
    const auto longer = longer_difference(row, other);
    answer.longer = longer.value, answer.longer_seeds = longer.seeds;
  }
  if (!std::isnan(answer.longer)) answer.factor = row.longer.front().factor;
  if (!answer.untested.empty()) return;
  answer.difference = difference_of(row.samples, reference, table.t_test);
  answer.p = answer.difference.p;
  if (claim.expect == Expect::kNoDifferent) {
    if (!answer.difference.paired) return void(answer.untested = "the rows have fewer than two common seeds");
    answer.p = std::max(p_above(row.samples, reference, -claim.by), p_above(reference, row.samples, -claim.by));
  }
  if (std::isnan(answer.p)) answer.untested = "fewer than two seeds are done";
}

ClaimAnswer measured(const Claim& claim, const Table& table) {
  ClaimAnswer answer{.claim = claim};
  try {
    measure(table, answer);
  } catch (const Error& error) {
    answer.untested = error.what();
  }
  return answer;
}

constexpr double kInexact = 1e-9;  ///< relative; a sum of decimals is not exact

void decide(ClaimAnswer& answer, const Table& table, std::size_t family) {
  const auto& [claim, difference] = std::tie(answer.claim, answer.difference);
  if (!answer.untested.empty()) return;
  const bool is_significant = answer.p_holm <= kLevel;
  bool is_confirmed = false;
  if (claim.expect == Expect::kNoDifferent) {
    const double by = claim.by * (1 + kInexact);
    if (is_significant) answer.verdict = Verdict::kHolds;
    if (difference.low > by || difference.high < -by) answer.verdict = Verdict::kRefuted;
    is_confirmed = std::abs(answer.longer) <= by;
  } else if (is_significant) {
    const double sign = claim.expect == Expect::kGreater ? 1 : -1;
    answer.verdict = sign * difference.value > 0 ? Verdict::kHolds : Verdict::kRefuted;
    is_confirmed = answer.longer / difference.value >= 0.5 * (1 - kInexact);
  }
  if (answer.verdict == Verdict::kHolds && !is_confirmed) answer.verdict = Verdict::kOnlyHere;
  const bool is_judge = table.judges.contains(answer.metric.name);  // Table::smallest is in the unit of a judge
  if (answer.verdict == Verdict::kUndecided && claim.expect != Expect::kNoDifferent && is_judge && table.smallest > 0 &&
      difference.deviation > 0)
    answer.seeds_needed = seeds_for(table.smallest / difference.deviation, kLevel / static_cast<double>(family));
}

Digits digits_of(const ClaimAnswer& answer) {
  const auto& difference = answer.difference;
  return Digits({{difference.value, (difference.high - difference.low) / 2}});
}

/// Returns " points" for a percentage, else the unit after a blank.
std::string unit_text(const MetricInfo& metric) {
  return metric.unit == "%" ? " points" : metric.unit.empty() ? "" : " " + metric.unit;
}

std::string effect_text(const ClaimAnswer& answer, double sign) {
  const auto digits = digits_of(answer);
  const auto& [value, low, high] = std::tie(answer.difference.value, answer.difference.low, answer.difference.high);
  auto text = digits.text(sign * value) + unit_text(answer.metric);
  if (!std::isnan(low))
    text += fmt::format(" [{}, {}]", digits.text(sign > 0 ? low : -high), digits.text(sign > 0 ? high : -low));
  return text;
}

}  // namespace

std::vector<ClaimAnswer> judge(const std::vector<Claim>& claims, const Table& table) {
  std::vector<ClaimAnswer> answers;
  std::map<std::string, std::vector<std::size_t>> families;
  for (const auto& claim : claims) {
    answers.push_back(measured(claim, table));
    families[claim.family].push_back(answers.size() - 1);
  }
  for (const auto& [unused, members] : families) {
    std::vector<double> p;
    for (const auto at : members) p.push_back(answers[at].untested.empty() ? answers[at].p : 1);  // untested claims count, too
    const auto corrected = holm(p);
    for (std::size_t i = 0; i < members.size(); ++i) {
      auto& answer = answers[members[i]];
      if (answer.untested.empty()) answer.p_holm = corrected[i];
      decide(answer, table, members.size());
    }
  }
  return answers;
}

std::string verdict_text(const ClaimAnswer& answer) {
  switch (answer.verdict) {
    case Verdict::kHolds:
      return "holds";
    case Verdict::kOnlyHere:
      return answer.steps.empty() ? "holds only at the study's steps" : fmt::format("holds only at {} steps", answer.steps);
    case Verdict::kRefuted:
      return "refuted";
    case Verdict::kUndecided:
      break;
  }
  return "undecided";
}

namespace {

/// Returns "attention=adamra is greater than attention=softmax".
std::string answer_text(const ClaimAnswer& answer) {
  const auto& claim = answer.claim;
  const auto other = claim.is_of_floor() ? std::string("the floor") : claim.against;
  if (!answer.untested.empty()) return fmt::format("{} and {} are not compared: {}", claim.row, other, answer.untested);
  if (answer.verdict == Verdict::kUndecided) return fmt::format("{} and {}: undecided", claim.row, other);
  if (claim.expect == Expect::kNoDifferent)
    return fmt::format("{} and {} differ by {} than {:g}", claim.row, other,
                       answer.verdict == Verdict::kRefuted ? "more" : "less", claim.by);
  return fmt::format("{} is {} than {}", claim.row, answer.difference.value > 0 ? "greater" : "smaller", other);
}

}  // namespace

std::string sentence_of(const ClaimAnswer& answer) {
  if (!answer.untested.empty()) return answer_text(answer);
  auto text = fmt::format("{}: {}", answer.metric.name, answer_text(answer));
  const bool is_ordered = answer.verdict != Verdict::kUndecided && answer.claim.expect != Expect::kNoDifferent;
  text += is_ordered ? fmt::format(" by {}", effect_text(answer, answer.difference.value > 0 ? 1 : -1))
                     : fmt::format("; the first minus the second is {}", effect_text(answer, 1));
  text += fmt::format(" ({}{}n = {}, p = {} after Holm", answer.context, answer.context.empty() ? "" : "; ",
                      answer.difference.n, p_text(answer.p_holm));
  if (answer.factor > 0)
    text += fmt::format("; with {} times the steps {:.3g}{}, {} seed{}", answer.factor, answer.longer, unit_text(answer.metric),
                        answer.longer_seeds, answer.longer_seeds == 1 ? "" : "s");
  if (!std::isnan(answer.floor)) text += fmt::format("; floor {:.4g}", answer.floor);
  if (answer.seeds_needed > 0) text += fmt::format("; the smallest difference needs {} seeds", answer.seeds_needed);
  return text + ")";
}

NamedRows claim_rows(const std::vector<ClaimAnswer>& answers, const std::string& study, bool for_people) {
  NamedRows all{.names = for_people
                             ? std::vector<std::string>{"problem", "answer", "effect", "n, p", "floor", "verdict", "study"}
                             : std::vector<std::string>{"problem",      "row",    "against", "metric",       "expect",
                                                        "by",           "family", "verdict", "difference",   "low",
                                                        "high",         "n",      "p",       "p_holm",       "longer",
                                                        "longer_seeds", "factor", "floor",   "seeds_needed", "sentence",
                                                        "study"},
                .rows = {}};
  for (const auto& one : answers) {
    const auto& [claim, difference] = std::tie(one.claim, one.difference);
    const bool is_tested = one.untested.empty();
    if (for_people)
      all.rows.push_back({claim.problem, answer_text(one), is_tested ? effect_text(one, 1) : "",
                          is_tested ? fmt::format("{}, {}", difference.n, p_text(one.p_holm)) : "",
                          std::isnan(one.floor) ? "" : fmt::format("{:.4g}", one.floor), verdict_text(one), study});
    else
      all.rows.push_back({claim.problem,
                          claim.row,
                          claim.is_of_floor() ? "floor" : claim.against,
                          one.metric.name,
                          std::string(to_text(claim.expect)),
                          claim.expect == Expect::kNoDifferent ? nlohmann::json(claim.by) : nlohmann::json(nullptr),
                          claim.family,
                          verdict_text(one),
                          number_or_null(difference.value),
                          number_or_null(difference.low),
                          number_or_null(difference.high),
                          difference.n,
                          number_or_null(one.p),
                          number_or_null(one.p_holm),
                          number_or_null(one.longer),
                          one.longer_seeds,
                          one.factor,
                          number_or_null(one.floor),
                          one.seeds_needed,
                          sentence_of(one),
                          study});
  }
  return all;
}

}  // namespace ablate::db
