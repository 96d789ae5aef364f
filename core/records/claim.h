// A claim of a study ([[claim]]): a comparison that is named before the trials run, and judged by `ablate claims`.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace ablate {

struct Claim {
  enum class Expect { kGreater, kSmaller, kNoDifferent };
  static constexpr std::array<std::string_view, 3> kExpectations = {"greater", "smaller", "no different"};

  std::string problem;  ///< the question, in a few words
  std::string row;      ///< settings of a row: "attention=adamra attention.heads=2"
  std::string against;  ///< settings of the row that `row` is compared with; "": the floor of the test examples of `row`
  std::string metric;   ///< "": the metric that judges the trials
  Expect expect = Expect::kGreater;
  double by = 0;       ///< for kNoDifferent: the largest difference that counts as none, in the metric's unit; above 0
  std::string family;  ///< claims of one family are corrected together; all claims with "" are one family

  bool is_of_floor() const { return against.empty(); }
  bool operator==(const Claim&) const = default;
};

constexpr std::string_view to_text(Claim::Expect expect) { return Claim::kExpectations[static_cast<std::size_t>(expect)]; }

}  // namespace ablate
