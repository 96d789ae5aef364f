// Numbers of papers, read from a study and assigned to their trials.
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using studies::errors;
using Names = std::vector<std::string>;

namespace {

// Lines 1 to 11 of a study. Text that a test appends starts at line 12.
const std::string kGrid = R"([task]
plugin = "image"
[grid]
seeds = 2
rows = [
  { attention.plugin = "softmax" },
  { attention.plugin = "adamra", attention.rates = ["1/2", "1/8"], attention.compression.plugin = "rbf" },
  { attention.plugin = "adamra", attention.rates = ["1/4"], attention.compression.plugin = "rbf" },
]
[[published]]
source = "A paper, Table 1"
)";

const std::string kMetric = "\"test/accuracy\" = ";

Names wrong(const std::string& line) { return errors(kGrid + "values = [{ " + line + " }]\n"); }

}  // namespace

TEST_CASE("a published number belongs to every trial that its settings match") {
  const auto study = studies::load(
      kGrid + "values = [\n  { attention.plugin = \"softmax\", " + kMetric +
      "38.2, \"train/step_time\" = 82, \"test/leading@length=8\" = 3 },\n  { attention.rates = [0.5, 0.125], " + kMetric +
      "46 },\n]\n[[published]]\nsource = \"Another\"\nvalues = [{ attention.rates = [\"1/4\"], seed = "
      "2, \"attention/adamra/router_entropy\" = 0.5 }]\n");
  REQUIRE(study.trials.size() == 6);  // 3 rows x 2 seeds, seeds fastest
  std::vector<std::string> found;
  for (const auto& [trial, metric, value, source] : study.published)
    found.push_back(std::to_string(trial) + " " + metric + " " + std::to_string(value).substr(0, 4) + " " + source);
  CHECK(found == Names{"0 test/accuracy 38.2 A paper, Table 1", "0 train/step_time 82.0 A paper, Table 1",
                       "0 test/leading@length=8 3.00 A paper, Table 1", "1 test/accuracy 38.2 A paper, Table 1",
                       "1 train/step_time 82.0 A paper, Table 1", "1 test/leading@length=8 3.00 A paper, Table 1",
                       "2 test/accuracy 46.0 A paper, Table 1", "3 test/accuracy 46.0 A paper, Table 1",
                       "5 attention/adamra/router_entropy 0.50 Another"});
}

TEST_CASE("published numbers do not change a trial") {
  const auto with = studies::load(kGrid + "values = [{ attention.plugin = \"softmax\", " + kMetric + "38.2 }]\n");
  const auto without = studies::load(kGrid.substr(0, kGrid.find("[[published]]")));
  for (std::size_t i = 0; i < 6; ++i) CHECK(with.trials[i].resolved() == without.trials[i].resolved());
}

TEST_CASE("a published number at one value of a tuned parameter is refused: dev chooses the value") {
  const std::string tuned =
      "[task]\nplugin = \"image\"\n[attention]\nplugin = \"softmax\"\n[grid.tune]\ntrain.learning_rate = [1e-3, 1e-2]\n"
      "[[published]]\nsource = \"A paper\"\nvalues = [{ ";
  CHECK(errors(tuned + "attention.plugin = \"softmax\", " + kMetric + "38.2 }]\n").empty());
  CHECK(errors(tuned + "train.learning_rate = 1e-3, " + kMetric + "38.2 }]\n") ==
        Names{"9:19: train.learning_rate is tuned: dev chooses its value, and a published number belongs to the chosen value; "
              "leave the parameter out here, or make it an axis of [grid]"});
}

TEST_CASE("every mistake in a published number is reported at its place") {
  CHECK(wrong("attention.plugin = \"softmax\", \"test/acuracy\" = 1") ==
        Names{"12:43: unknown metric test/acuracy (did you mean test/accuracy?)"});
  CHECK(wrong("attention.plugin = \"sofmax\", " + kMetric + "1") ==
        Names{"12:32: the study uses no attention plugin \"sofmax\" (did you mean softmax?)"});
  CHECK(wrong("attention.rate = [\"1/4\"], " + kMetric + "1") ==
        Names{"12:23: unknown key rate in [attention] (did you mean rates?)"});
  CHECK(wrong("attention.rates = [\"1/3\"], " + kMetric + "1") ==
        Names{"12:11: this published line matches no trial: attention.rates = [\"1/3\"]; correct it or leave it out"});
  CHECK(wrong("attention.plugin = \"softmax\", " + kMetric + "\"38\"") ==
        Names{"12:61: test/accuracy = \"38\": expected a number"});
  CHECK(wrong("attention.plugin = \"softmax\", " + kMetric + "nan").size() == 1);
  CHECK(wrong("attention.plugin = \"softmax\", " + kMetric + "463") ==
        Names{"12:61: test/accuracy = 463: expected a share from 0 to 100, in percent"});
  CHECK(wrong("attention.plugin = \"softmax\", \"test/accuracy@pairs=8\" = -0.5").size() == 1);
  for (const auto* right :
       {"\"test/accuracy\" = 100", "\"test/accuracy\" = 0.0", "\"train/step_spread\" = 463", "\"test/loss\" = 463"})
    CHECK(wrong(std::string("attention.plugin = \"softmax\", ") + right).empty());
  CHECK(wrong("attention.plugin = \"softmax\"") ==
        Names{"12:11: this line gives no number; write a metric and its value, as in \"test/accuracy\" = 46.0"});
  CHECK(errors(kGrid + "values = [{ " + kMetric + "1 }, { attention.plugin = \"softmax\", " + kMetric + "2 }]\n") ==
        Names{"12:86: test/accuracy of this trial is published at FILE:12:31 already; keep one"});
  CHECK(errors(kGrid) ==
        Names{"10:1: [[published]] has no values; write values = [{ path = value, \"test/accuracy\" = 46.0 }]"});
  CHECK(errors(kGrid + "values = 3\n") ==
        Names{"12:10: values is a list of tables: [{ path = value, \"test/accuracy\" = 46.0 }]"});
  CHECK(errors(kGrid + "vales = []\nvalues = [{ seed = 1, " + kMetric + "1 }]\n") ==
        Names{"12:1: unknown key vales in [[published]] (did you mean values?)"});
  const auto bare = kGrid.substr(0, kGrid.find("[[published]]"));
  CHECK(errors(bare + "[[published]]\nvalues = [{ seed = 1, " + kMetric + "1 }]\n") ==
        Names{"10:1: [[published]] has no source; say which paper and table the numbers are from"});
  CHECK(errors(bare + "[published]\nsource = \"x\"\n") ==
        Names{"10:2: published is a list of tables; write [[published]], and in it source and values"});
}

TEST_CASE("an override may leave a published number without trials") {
  const auto text = kGrid + "values = [{ attention.rates = [\"1/4\"], " + kMetric + "45 }]\n";
  CHECK(studies::load(text).published.size() == 2);
  CHECK(studies::load(text, {"attention.rates=[\"1/16\"]"}).published.empty());
}
