// [grid.longer], [grid.tune] widen and [[claim]], from the TOML file to the answer.
#include <set>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

/// kTiny with [experiment] smallest.
const std::string kSized = [] {
  std::string text = kTiny;
  return text.insert(text.find("[experiment]\n") + 13, "smallest = 5.0\n");
}();
const std::string kTwo = "[grid]\nseeds = [1, 2, 3]\nattention.plugin = [\"softmax\", \"linear\"]\n";
const std::string kLonger = "[grid.longer]\nfactor = 2\n";

}  // namespace

TEST_CASE("longer trials run after the others, and a table shows them only as a control") {
  Workplace place;
  const auto file = place.study(kSized + kTwo + kLonger).string();
  const auto before = place.run({"run", file, "--dry-run"});
  INFO(before.err);
  CHECK(says(before.out, "tiny: 10 trials; 6 that are reported and 4 with 2 times the steps\n"));
  CHECK(says(before.out, "grid.longer: 4 trials with 2 times the steps, 57 % of all steps\n"));
  const auto ran = place.run({"run", file});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(says(ran.err, "tiny: 10 done, 0 done before, 0 failed"));
  CHECK(place.query("SELECT role, count(*) AS n FROM members GROUP BY 1 ORDER BY 1") ==
        json::parse(R"([{"role": "longer", "n": 4}, {"role": "reported", "n": 6}])"));
  const auto table = json::parse(place.run({"table", "tiny", "--format", "json"}).out);
  REQUIRE(table["cells"].size() == 2);
  const auto means = place.query(
      "SELECT attention, avg(\"test/accuracy\") AS mean FROM trials t JOIN members m ON m.trial = t.trial WHERE m.role = "
      "'longer' GROUP BY 1 ORDER BY 1 DESC");
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(table["cells"][i]["n"] == 3);
    CHECK(table["cells"][i]["longer"].get<double>() == Approx(means[i]["mean"].get<double>()));
  }
  CHECK(says(place.run({"run", file}).err, "tiny: 0 done, 10 done before, 0 failed"));
  // An export that is imported elsewhere gives the same table.
  Workplace other;
  place.run({"export", "tiny", "--format", "csv", "--out", (other.folder().path() / "tiny.csv").string()});
  REQUIRE(other.run({"import", (other.folder().path() / "tiny.csv").string()}).exit_code == 0);
  const auto there = json::parse(other.run({"table", "tiny", "--format", "json"}).out);
  REQUIRE(there["cells"].size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(there["cells"][i]["mean"] == table["cells"][i]["mean"]);
    CHECK(there["cells"][i]["longer"] == table["cells"][i]["longer"]);
  }
}

TEST_CASE("longer trials have the value that dev chose") {
  Workplace place;
  const auto file =
      place.study(kSized + kTwo + kLonger + "[grid.tune]\nseeds = [101]\ntrain.learning_rate = [1e-4, 1e-2]\n").string();
  const auto ran = place.run({"run", file});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(says(ran.err, "tiny: 14 done, 0 done before, 0 failed"));
  CHECK(
      place.query(
          "SELECT count(*) AS n FROM (SELECT DISTINCT attention, \"train.learning_rate\" FROM trials WHERE seed < 100)")[0]
                                                                                                                        ["n"] ==
      2);
}

TEST_CASE("values are added beyond an edge until the best value is no edge, or four were added") {
  Workplace place;
  const auto file = place
                        .study(kTiny +
                               "[grid]\nseeds = [1]\nattention.plugin = [\"softmax\", \"linear\"]\n[grid.tune]\nseeds = "
                               "[101]\nwiden = true\ntrain.learning_rate = [1e-4, 2e-4]\n")
                        .string();
  const auto ran = place.run({"run", file});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(says(ran.err, "added by grid.tune.widen"));
  const auto table = json::parse(place.run({"table", "tiny", "--format", "json"}).out);
  REQUIRE(table["cells"].size() == 2);
  for (const auto& cell : table["cells"]) {
    const auto& tuned = cell["tuned"]["train.learning_rate"];
    CHECK(tuned["of"].get<int>() > 2);
    CHECK((tuned["edge"] == false || tuned["of"] == 6));
    CHECK(cell["n"] == 1);
  }
  // Nothing is added by a second run.
  const auto again = place.run({"run", file});
  CHECK(says(again.err, "tiny: 0 done, "));
}

TEST_CASE("claims are judged by the history, and refused before the run if the seeds are too few") {
  Workplace place;
  const std::string claim =
      "[[claim]]\nproblem = \"which\"\nrow = \"attention=softmax\"\nagainst = \"attention=linear\"\nexpect = \"greater\"\n";
  const auto few = place.run({"run", place.study(kSized + kTwo + claim).string(), "--dry-run"});
  CHECK(few.exit_code == 2);
  CHECK(says(few.err, "1 claim of the study cannot be decided with 3 common seeds"));
  const auto file = place.study(kSized + kTwo + kLonger + claim).string();
  REQUIRE(place.run({"run", file, "--set", "seeds=6"}).exit_code == 0);
  const auto answers = place.run({"claims", "tiny", "--format", "json"});
  INFO(answers.err);
  REQUIRE(answers.exit_code == 0);
  const auto answer = json::parse(answers.out).at(0);
  CHECK(answer["problem"] == "which");
  CHECK(answer["n"] == 6);
  CHECK(answer["factor"] == 2);
  const auto difference = place.query(
      "SELECT avg(CASE attention WHEN 'softmax' THEN \"test/accuracy\" END) - avg(CASE attention WHEN 'linear' THEN "
      "\"test/accuracy\" END) AS d FROM trials t JOIN members m ON m.trial = t.trial WHERE m.role = 'reported'")[0]["d"];
  CHECK(answer["difference"].get<double>() == Approx(difference.get<double>()));
  CHECK(std::set<std::string>{"holds", "holds only at 6 steps", "refuted", "undecided"}.contains(answer["verdict"]));
  const auto none = Workplace().run({"claims", "tiny"});
  CHECK(none.exit_code == 2);
}
