// Verdicts on claims ([[claim]]), from a table's numbers.
#include "db/report/claims.h"

#include "db/report/printers.h"
#include "tests/db/longer_study.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;
using Catch::Detail::Approx;
using Expect = Claim::Expect;
using Verdict = ClaimAnswer::Verdict;

namespace {

/// Returns six seeds of a row, each with another value. Only seeds 1 and 2 have longer trials, with the result `longer`.
std::vector<LongerPoint> row(const std::string& attention, double value, double longer = kNotPlanned, double spread = 0) {
  std::vector<LongerPoint> points;
  for (int seed = 1; seed <= 6; ++seed)
    points.push_back(
        {attention, seed, value + 0.1 * seed + (seed % 2 == 0 ? spread : -spread), seed <= 2 ? longer : kNotPlanned});
  return points;
}

std::vector<ClaimAnswer> answers(const std::vector<std::vector<LongerPoint>>& rows, const std::vector<Claim>& claims) {
  std::vector<LongerPoint> all;
  for (const auto& one : rows) all.insert(all.end(), one.begin(), one.end());
  return judge(claims, Longer(all).table());
}

Claim claim(Expect expect, double by = 0, const std::string& family = "") {
  return {.problem = "p", .row = "attention=a", .against = "attention=b", .expect = expect, .by = by, .family = family};
}

Verdict verdict(const std::vector<LongerPoint>& a, const std::vector<LongerPoint>& b, const Claim& one) {
  return answers({a, b}, {one}).front().verdict;
}

}  // namespace

TEST_CASE("a claim holds if the test finds the difference, and longer trials have at least half of this difference") {
  const auto more = claim(Expect::kGreater);
  CHECK(verdict(row("a", 70, 80), row("b", 60, 74.9), more) == Verdict::kHolds);     // 10, then 5.1
  CHECK(verdict(row("a", 70, 80), row("b", 60, 75.1), more) == Verdict::kOnlyHere);  // 10, then 4.9
  CHECK(verdict(row("a", 70, 80), row("b", 60, 85), more) == Verdict::kOnlyHere);    // the order is reversed
  CHECK(verdict(row("a", 70), row("b", 60), more) == Verdict::kOnlyHere);            // no longer trial
  CHECK(verdict(row("a", 70, 80), row("b", 60), more) == Verdict::kOnlyHere);        // no common seed
  CHECK(verdict(row("a", 60, 70), row("b", 70, 80), more) == Verdict::kRefuted);
  CHECK(verdict(row("a", 60, 70), row("b", 70, 80), claim(Expect::kSmaller)) == Verdict::kHolds);
  CHECK(verdict(row("a", 70, 80), row("b", 60, 70), claim(Expect::kSmaller)) == Verdict::kRefuted);
  CHECK(verdict(row("a", 60.5, 70, 3), row("b", 60, 70, -3), more) == Verdict::kUndecided);
}

TEST_CASE("a claim of no difference holds by two one-sided exact tests, and is refuted by the interval") {
  const auto same = claim(Expect::kNoDifferent, 2);
  const auto found = answers({row("a", 60.5, 70), row("b", 60, 69)}, {same}).front();
  CHECK(found.verdict == Verdict::kHolds);
  CHECK(found.p == Approx(1.0 / 64));  // all six differences are above -2, and all below 2
  CHECK(verdict(row("a", 60.5, 73), row("b", 60, 69), same) == Verdict::kOnlyHere);  // 4 apart with more steps
  CHECK(verdict(row("a", 60.5), row("b", 60), same) == Verdict::kOnlyHere);
  CHECK(verdict(row("a", 70, 70), row("b", 60, 60), same) == Verdict::kRefuted);
  CHECK(verdict(row("a", 50, 70), row("b", 60, 60), same) == Verdict::kRefuted);
  CHECK(verdict(row("a", 60.5, 70, 3), row("b", 60, 70, -3), same) == Verdict::kUndecided);
  // The larger of the two p counts: the differences are above -2, but their mean, 1.5, is not significantly below 2.
  CHECK(answers({row("a", 61.5, 70, 1), row("b", 60, 70)}, {same}).front().p > 0.05);
}

TEST_CASE("the claims of a family are corrected together") {
  const std::vector<std::vector<LongerPoint>> rows = {row("a", 70, 80), row("b", 60, 70), row("c", 50, 60)};
  auto of_c = claim(Expect::kGreater);
  of_c.against = "attention=c";
  const auto together = answers(rows, {claim(Expect::kGreater), of_c});
  CHECK(together[0].p == Approx(1.0 / 32));
  CHECK(together[0].p_holm == Approx(2.0 / 32));
  CHECK(together[0].verdict == Verdict::kUndecided);
  auto other = of_c;
  other.family = "c";
  const auto apart = answers(rows, {claim(Expect::kGreater), other});
  CHECK(apart[0].p_holm == Approx(1.0 / 32));
  CHECK(apart[0].verdict == Verdict::kHolds);
  CHECK(apart[1].verdict == Verdict::kHolds);
}

TEST_CASE("an answer is a sentence with its numbers") {
  auto found = answers({row("a", 70, 80), row("b", 60, 72)}, {claim(Expect::kGreater)});
  found.front().context = "lookup, 600 steps", found.front().steps = "600";
  CHECK(
      sentence_of(found.front()) ==
      "test/accuracy: attention=a is greater than attention=b by 10.000 points [10.000, 10.000] (lookup, 600 steps; n = 6, p = "
      "0.031 after Holm; with 5 times the steps 8 points, 2 seeds)");
  CHECK(verdict_text(found.front()) == "holds");
  found.front().verdict = Verdict::kOnlyHere;
  CHECK(verdict_text(found.front()) == "holds only at 600 steps");
  const auto open = answers({row("a", 60.5, 70, 3), row("b", 60, 70, -3)}, {claim(Expect::kGreater)});
  CHECK(has(sentence_of(open.front()), "undecided; the first minus the second is "));
  CHECK(open.front().seeds_needed > 6);  // Table::smallest is 5, and the differences deviate by about 6.6
  const auto without = answers({row("a", 60.5, kNotPlanned, 3), row("b", 60, kNotPlanned, -3)}, {claim(Expect::kGreater)});
  CHECK(without.front().seeds_needed == open.front().seeds_needed);  // also for a study without longer trials
  auto of_floor = claim(Expect::kGreater);
  of_floor.against = "";
  const auto floor = answers({row("a", 70), row("b", 60)}, {of_floor});
  CHECK(floor.front().verdict == Verdict::kUndecided);
  CHECK(has(sentence_of(floor.front()), "the floor of the row's test examples is not known"));
  const auto rows = claim_rows(found, "study", false);
  CHECK(rows.names.size() == rows.rows.front().size());
  CHECK(claim_rows(found, "study", true).rows.front()[5] == "holds only at 600 steps");
}

TEST_CASE("a claim about a floor compares each seed with the floor") {
  std::vector<LongerPoint> points = row("a", 30, 40);
  const auto more = row("b", 10, 11);
  points.insert(points.end(), more.begin(), more.end());
  auto table = Longer(points).table();
  for (auto& cell : table.cells) cell.floor = 10.5;
  Claim above{.problem = "p", .row = "attention=a", .expect = Expect::kGreater};
  const auto found = judge({above}, table).front();
  CHECK(found.verdict == Verdict::kHolds);
  CHECK(found.longer == Approx(29.5));
  CHECK(found.difference.n == 6);
  CHECK(has(sentence_of(found), "attention=a is greater than the floor by "));
  CHECK(has(sentence_of(found), "floor 10.5"));
  above.row = "attention=b";
  CHECK(judge({above}, table).front().verdict == Verdict::kUndecided);
}

TEST_CASE("a claim that cannot be tested counts in its family, and the other claims are still answered") {
  Claim none{.problem = "p", .row = "attention=x", .against = "attention=b"}, metric = claim(Expect::kGreater);
  metric.metric = "m";
  const auto found = answers({row("a", 70, 80), row("b", 60, 70)}, {none, claim(Expect::kGreater), metric});
  CHECK(found[0].verdict == Verdict::kUndecided);
  CHECK(has(found[0].untested, "claim attention=x: found no row"));
  CHECK(found[2].untested == "no trial has the metric m");
  CHECK(found[1].p == Approx(1.0 / 32));
  CHECK(found[1].p_holm == Approx(3.0 / 32));
  // A claim's parameter is ignored if no row of the table shows it: all rows have one value, checked with the study.
  auto longer = claim(Expect::kGreater);
  longer.row = "attention=a task.pool=2";
  CHECK(answers({row("a", 70, 80), row("b", 60, 70)}, {longer}).front().verdict == Verdict::kHolds);
  CHECK(answers({row("a", 70, 80), {}}, {claim(Expect::kGreater)}).front().untested != "");
}

TEST_CASE("half of a difference, and an interval that ends at the margin, are judged without rounding errors") {
  CHECK(verdict(row("a", 65.3, 62.65), row("b", 60, 60), claim(Expect::kGreater)) == Verdict::kHolds);  // 5.3, then 2.65
  CHECK(verdict(row("a", 62, 61), row("b", 60, 60), claim(Expect::kNoDifferent, 2)) != Verdict::kRefuted);
}
