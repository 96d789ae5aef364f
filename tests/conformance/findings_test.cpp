// Verdicts of a check: passed, failed, or unchecked if there was nothing to compare.
#include <fmt/format.h>

#include "core/trial/conformance/engine/finding.h"
#include "tests/support/catch.h"

using namespace ablate;

namespace {

std::vector<Check> checked(const Checks::Look& look) {
  Checks checks;
  checks.run("x", "y", kExact, look);
  return checks.all();
}

}  // namespace

TEST_CASE("a check that compared nothing is unchecked, with a reason") {
  const auto nothing = checked([](Finding&) {});
  REQUIRE(nothing.size() == 1);
  CHECK(nothing[0].verdict == Verdict::kUnchecked);
  CHECK(nothing[0].found == "it found nothing to look at");
  const auto left = checked([](Finding& finding) { finding.leave("no parameter leads there"); });
  REQUIRE(left.size() == 1);
  CHECK(left[0].verdict == Verdict::kUnchecked);
  CHECK(left[0].found == "no parameter leads there");
  CHECK(checked([](Finding& finding) { finding.saw(); }).at(0).passed());
  CHECK(checked([](Finding& finding) { finding.finite(ones({2}), ""); }).at(0).passed());
  CHECK(checked([](Finding& finding) { finding.near(std::vector<Tensor>{}, {}, ""); }).at(0).verdict == Verdict::kUnchecked);
}

TEST_CASE("parts that a check left out are reported beside its finding, once for each reason") {
  const auto both = checked([](Finding& finding) {
    for (int i = 0; i < 3; ++i) finding.leave("it draws");
    finding.near(ones({2}), ones({2}), "");
  });
  REQUIRE(both.size() == 2);
  CHECK(both[0].passed());
  CHECK(both[1].verdict == Verdict::kUnchecked);
  CHECK(both[1].found == "it draws");
  const auto wrong = checked([](Finding& finding) {
    finding.leave("it draws");
    finding.near(zeros({2}), ones({2}), "here");
  });
  REQUIRE(wrong.size() == 2);
  CHECK(wrong[0].failed());
}

TEST_CASE("a check reports the worst fault, or the first fault if it stops there") {
  int shown = 0;
  const auto found = [&](bool stops) {
    shown = 0;
    Checks checks;
    if (stops) checks.stop_at_first();
    checks.run("x", "y", kRounding, [&](Finding& finding) {
      for (const double off : {0.0, 0.25, 0.5}) {
        finding.off_by(off, fmt::format("at {}", off));
        ++shown;
      }
    });
    CHECK(checks.all().at(0).failed());
    return checks.all().at(0).found;
  };
  CHECK(found(false) == "off by 0.5, 1e-10 allowed: at 0.5");
  CHECK(shown == 3);
  CHECK(found(true) == "off by 0.25, 1e-10 allowed: at 0.25");
  CHECK(shown == 1);
}

TEST_CASE("NaN is reported without its sign, and NaN on both sides is wrong") {
  const auto nan = zeros({2}) / -zeros({2});
  const auto found = [](const Tensor& one, const Tensor& other) {
    return checked([&](Finding& finding) { finding.near(one, other, "here"); }).at(0).found;
  };
  CHECK(found(nan, ones({2})) == "wrong: here, [0]: nan, expected 1");
  CHECK(found(nan, nan) == "wrong: here, [0]: nan, expected a number, but the other value is not a number either");
}

TEST_CASE("an exception has no tolerance") {
  const auto thrown = checked([](Finding&) { throw std::runtime_error("no"); });
  CHECK(thrown.at(0).why == "");
}

TEST_CASE("a median finds an error in most numbers, but not an error in a few numbers") {
  const auto passes = [](const Tensor& found, const Tensor& expected) {
    return checked([&](Finding& finding) { finding.near_median(found, expected, "x", {0.01, "a test"}); }).at(0).passed();
  };
  const auto right = arange(9, TensorOptions(kDouble)) - 4;
  auto places = right.clone();
  places.narrow(0, 0, 4).add_(10);
  CHECK(passes(places, right));
  CHECK_FALSE(passes(right + 0.1, right));
  CHECK_FALSE(passes(right.narrow(0, 0, 8), right));
  CHECK_FALSE(passes(zeros({3}, kDouble) + 0.1, zeros({3}, kDouble)));
}

TEST_CASE("an excuse covers errors up to its tolerance, but no exact comparison and no NaN") {
  const auto excused = [](double off, const Allowed& allowed) {
    Checks checks;
    checks.run("x", "y", kRounding, [&](Finding& finding) {
      finding.excuse(0.1, "as published");
      finding.off_by(off, "here", allowed);
    });
    return checks.all().at(0);
  };
  CHECK(excused(0.05, kRounding).passed());
  CHECK(excused(0.05, kRounding).found == "off by 0.05, 0.1 allowed: here");
  CHECK(excused(0.05, kRounding).why == "as published");
  CHECK(excused(0.2, kRounding).found == "off by 0.2, 0.1 allowed: here");
  CHECK(excused(0.2, {0.3, "half precision"}).passed());
  for (const auto& [off, allowed] : {std::pair{0.2, kRounding}, {0.05, kExact}, {std::nan(""), kRounding}})
    CHECK(excused(off, allowed).failed());
}

TEST_CASE("numbers are reported if they are wrong, but not if they are close enough") {
  const auto text = [](double found) {
    return checked([&](Finding& finding) {
             finding.near(zeros({1}, kDouble) + found, ones({1}, kDouble), "here", {0.1, "a test"});
           })
        .at(0)
        .found;
  };
  CHECK(text(1.05) == "off by 0.05, 0.1 allowed: here, [0]");
  CHECK(text(1.5) == "off by 0.5, 0.1 allowed: here, [0]: 1.5, expected 1");
}
