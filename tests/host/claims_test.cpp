// [[claim]]: comparisons that a study names before its trials run.
#include "core/host/study/claims.h"

#include "core/host/launch/planned_study.h"
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using ablate::Claim;
using studies::errors;
using studies::load;
using Names = std::vector<std::string>;

namespace {

// Lines 1 to 8 of a study. Text that a test appends is in [[claim]], from line 9 on.
const std::string kClaim =
    "[experiment]\nsmallest = 5.0\n[task]\nplugin = \"image\"\n[grid]\nseeds = 6\nattention.plugin = [\"softmax\", "
    "\"linear\"]\n"
    "[[claim]]\n";
const std::string kRows = "problem = \"which\"\nrow = \"attention=softmax\"\nagainst = \"attention=linear\"\n";

}  // namespace

TEST_CASE("a study's claims are read, also from its stored text") {
  const auto text = kClaim + kRows + "expect = \"no different\"\nby = 2\nfamily = \"pairs\"\nmetric = \"test/loss\"\n";
  const auto study = load(text);
  REQUIRE(study.claims.size() == 1);
  for (const auto& claim : {study.claims.front(), ablate::claims_of(text, "a.toml", {}).claims.at(0)}) {
    CHECK(claim.problem == "which");
    CHECK(claim.row == "attention=softmax");
    CHECK(claim.against == "attention=linear");
    CHECK(claim.expect == Claim::Expect::kNoDifferent);
    CHECK(claim.by == 2);
    CHECK(claim.family == "pairs");
    CHECK(claim.metric == "test/loss");
  }
  const auto of_floor = load(kClaim + "problem = \"p\"\nrow = \"attention=softmax\"\nfloor = true\nexpect = \"greater\"\n");
  CHECK(of_floor.claims.at(0).is_of_floor());
  CHECK_THROWS_AS(ablate::claims_of("not TOML", "a.toml", {}), ablate::ConfigError);
  CHECK_THROWS_AS(ablate::claims_of("[[claim]]\nexpct = 1\n", "a.toml", {}), ablate::ConfigError);
  const auto context = ablate::claims_of(text + "[train]\nsteps = 60\n[model]\nlayers = 2\n", "a.toml", {"train.steps=90"});
  CHECK(context.name == "a");
  CHECK(context.context ==
        std::vector<std::pair<std::string, std::string>>{
            {"task", "image"}, {"task.length", ""}, {"model.layers", "2"}, {"model.d_model", ""}, {"train.steps", "90"}});
  CHECK(studies::labels(study) == studies::labels(load(kClaim.substr(0, kClaim.find("[[claim]]")))));
}

TEST_CASE("a wrong claim is refused at its place") {
  const auto greater = std::string("expect = \"greater\"\n");
  CHECK(errors(kClaim + kRows) ==
        Names{"8:1: this claim does not state what is expected; write expect = greater, smaller, no different"});
  CHECK(errors(kClaim + kRows + "expect = \"more\"\n") ==
        Names{"12:10: expect = \"more\": expected greater, smaller, no different"});
  CHECK(
      errors(kClaim + kRows + "expect = \"no different\"\n") ==
      Names{"8:1: expect = \"no different\" needs the largest difference that counts as none, in the metric's unit: by = 2.0"});
  CHECK(errors(kClaim + kRows + greater + "by = 2\n") ==
        Names{"13:1: by belongs to expect = \"no different\", found expect = \"greater\"; leave it out"});
  CHECK(errors(kClaim + kRows + greater + "by = 0\n") ==
        Names{"13:6: by = 0: expected a number above 0, in the metric's unit"});
  CHECK(errors(kClaim + "problem = \"p\"\nrow = \"attention=softmax\"\n" + greater) ==
        Names{"8:1: a claim is about two rows, or about a row and the floor (floor = true); write row = \"attention=adamra\", "
              "against = \"attention=softmax\", expect = \"greater\""});
  CHECK(errors(kClaim + kRows + greater + "floor = true\n").size() == 1);
  CHECK(errors(kClaim + kRows + greater + "familly = \"x\"\n") ==
        Names{"13:1: unknown key familly in [[claim]] (did you mean family?)"});
  CHECK(errors(kClaim + "problem = \"p\"\nrow = \"attention=softmax\"\nagainst = \"attention=adamra\"\n" + greater) ==
        Names{"11:11: attention=adamra: found 0 rows of the grid with these settings, expected one, as in row = "
              "\"attention=adamra\", against = \"attention=softmax\", expect = \"greater\""});
  CHECK(errors(kClaim + "problem = \"p\"\nrow = \"model.layers=2\"\nagainst = \"attention=linear\"\n" + greater) ==
        Names{"10:7: model.layers=2: found 2 rows of the grid with these settings, expected one; name more settings"});
  CHECK(errors(kClaim + kRows + greater + "metric = \"test/acuracy\"\n") ==
        Names{"13:10: unknown metric test/acuracy (did you mean test/accuracy?)"});
  const auto about = [&](const std::string& row) {
    return errors(kClaim + "problem = \"p\"\nrow = \"" + row + "\"\nagainst = \"attention=linear\"\n" + greater +
                  "[grid.tune]\ntrain.learning_rate = [1e-3, 3e-3]\n");
  };
  CHECK(about("attention=softmax seed=1").front() ==
        "10:7: attention=softmax seed=1: a claim is about all seeds of a row; leave seed out");
  CHECK(about("attention=softmax train.learning_rate=1e-3").front() ==
        "10:7: attention=softmax train.learning_rate=1e-3: dev chooses train.learning_rate in each row; leave it out");
  CHECK(about("attention=linear train.steps=1000") == Names{"8:1: row and against are the same row; expected two"});
  CHECK(about("attention=softmax train.dropout=0").size() == 1);
  const auto one = "[[claim]]\n" + kRows + greater;
  CHECK(errors(kClaim + kRows + greater + one).size() == 1);
  CHECK(errors(kClaim + kRows + greater, {"experiment.smallest=-1"}).size() == 1);
  auto without = kClaim + kRows + greater;
  without.erase(without.find("smallest = 5.0\n"), 15);
  CHECK(errors(without)[0].starts_with("7:1: claims need [experiment] smallest"));
}

TEST_CASE("a family needs enough seeds for its size") {
  const auto text = [](int seeds, int claims) {
    auto study = load(kClaim + kRows + "expect = \"greater\"\n", {"seeds=" + std::to_string(seeds)});
    study.claims.resize(static_cast<std::size_t>(claims), study.claims.front());
    return ablate::too_few_seeds_text(study);
  };
  CHECK(text(6, 1) == "");  // 2/2^6 = 0.031
  CHECK(text(5, 1) ==
        "1 claim of the study cannot be decided with 5 common seeds: the exact test's least p, times the claims, is 0.062. "
        "Expected at "
        "least 6 seeds in grid.seeds, or fewer claims");
  CHECK(text(7, 3) == "");  // 3 * 2/2^7 = 0.047
  CHECK(text(7, 4) != "");
  CHECK(text(12, 102) == "");
  CHECK(text(12, 103) != "");
}
