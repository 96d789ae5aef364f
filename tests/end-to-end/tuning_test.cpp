// [grid.tune] from the TOML file to the table.
#include <csignal>
#include <map>
#include <sstream>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

const std::string kAttentions = kTiny + "[grid]\nseeds = 2\nattention.plugin = [\"softmax\", \"linear\"]\n";
const std::string kRates = "train.learning_rate = [1e-4, 1e-2, 3e-2]\n";

const std::string kApart = kAttentions + "[grid.tune]\nseeds = [101, 102]\n" + kRates;

/// Returns the best row on dev for each attention. If rows are equal, the first row is best.
std::map<std::string, json> best_of(const json& means) {
  std::map<std::string, json> best;
  for (const auto& row : means)
    if (auto& so_far = best[row["attention"]]; so_far.is_null() || row["dev"] > so_far["dev"]) so_far = row;
  return best;
}

/// Checks that each attention is reported on seeds 1 and 2 only at the value that was best on seeds 101 and 102.
void check_reported(Workplace& place) {
  const auto means = place.query(
      "SELECT attention, \"train.learning_rate\" AS rate, avg(\"dev/accuracy\") AS dev FROM trials WHERE seed > 100 GROUP BY "
      "1, "
      "2 ORDER BY 1, 2");
  REQUIRE(means.size() == 6);
  const auto best = best_of(means);
  const auto reported = place.query(
      "SELECT attention, \"train.learning_rate\" AS rate, count(*) AS n, avg(\"test/accuracy\") AS test FROM trials WHERE seed "
      "< 100 GROUP BY 1, 2");
  REQUIRE(reported.size() == 2);
  const auto table = json::parse(place.run({"table", "tiny", "--format", "json"}).out);
  REQUIRE(table["cells"].size() == 2);
  for (const auto& row : reported) {
    CHECK(row["rate"] == best.at(row["attention"])["rate"]);
    CHECK(row["n"] == 2);
    for (const auto& cell : table["cells"]) {
      if (cell["row"]["attention"] != row["attention"]) continue;
      CHECK(cell["mean"].get<double>() == Approx(row["test"].get<double>()));
      CHECK(cell["n"] == 2);
      CHECK(cell["tuned"]["train.learning_rate"]["values"] == json{row["rate"]});
      CHECK(cell["tuned"]["train.learning_rate"]["of"] == 3);
    }
  }
}

}  // namespace

TEST_CASE("an axis becomes a tuned parameter, and nothing runs again") {
  Workplace place;
  const auto plain = place.run({"run", place.study(kAttentions + kRates).string()});
  INFO(plain.err);
  REQUIRE(plain.exit_code == 0);
  const auto all = json::parse(place.run({"table", "tiny", "--format", "json"}).out);
  CHECK(all["cells"].size() == 6);
  CHECK(all["tuned"].empty());

  CHECK_FALSE(says(place.run({"run", place.study(kAttentions + kRates).string(), "--dry-run"}).out, "dev chooses"));

  const auto file = place.study(kAttentions + "[grid.tune]\n" + kRates).string();
  CHECK(says(place.run({"run", file, "--dry-run"}).out,
             "dev chooses, for each setting of the other parameters: train.learning_rate; values are compared on 2 seeds\n"));
  const auto tuned = place.run({"run", file});
  CHECK(says(tuned.err, "tiny: 0 done, 12 done before, 0 failed"));
  const auto chosen = json::parse(place.run({"table", "tiny", "--format", "json"}).out);
  REQUIRE(chosen["cells"].size() == 2);

  // Repeats dev's choice: the value with the best mean of dev/accuracy.
  const auto means = place.query(
      "SELECT attention, \"train.learning_rate\" AS rate, avg(\"dev/accuracy\") AS dev, avg(\"test/accuracy\") AS test FROM "
      "trials GROUP BY 1, 2 ORDER BY 1, 2");
  REQUIRE(means.size() == 6);
  const auto best = best_of(means);
  for (const auto& cell : chosen["cells"]) {
    const auto& expected = best.at(cell["row"]["attention"]);
    CHECK(cell["row"].size() == 1);
    CHECK(cell["tuned"]["train.learning_rate"]["values"] == json{expected["rate"]});
    CHECK(cell["tuned"]["train.learning_rate"]["of"] == 3);
    CHECK(cell["mean"].get<double>() == Approx(expected["test"].get<double>()));
    CHECK(cell["n"] == 2);
  }
  CHECK(says(place.run({"table", "tiny"}).out, "train.learning_rate (of 3)"));
  const auto named = json::parse(place.run({"table", "tiny", "--cols", "train.learning_rate", "--format", "json"}).out);
  CHECK(named["cells"].size() == 6);
  CHECK(place.query("SELECT count(DISTINCT cell) AS n FROM members")[0]["n"] == 2);
}

TEST_CASE("a run of a study that tunes prints the accuracy of its trials on dev, not on test") {
  Workplace place;
  const auto one = kTiny + "[attention]\nplugin = \"softmax\"\n";
  const auto plain = place.run({"run", place.study(one).string()});
  CHECK(says(plain.err, "test/accuracy "));
  const auto tuned = place.run({"run", place.study(one + "[grid.tune]\ntrain.learning_rate = [1e-4, 1e-2]\n").string()});
  CHECK(says(tuned.err, "dev/accuracy "));
  CHECK_FALSE(says(tuned.err, "test/accuracy"));
}

TEST_CASE("a study that tunes a parameter with only one value is refused before anything runs") {
  Workplace place;
  const auto refused = place.run({"run", place.study(kAttentions + "[grid.tune]\ntrain.learning_rate = [1e-4]\n").string()});
  CHECK(refused.exit_code == 2);
  CHECK(says(refused.err, "train.learning_rate is tuned, but has only one value: give it several values"));
  CHECK_FALSE(place.has_database());
}

TEST_CASE("values are chosen on separate seeds first, and only chosen values run on the other seeds") {
  Workplace place;
  const auto file = place.study(kApart).string();
  const auto before = place.run({"run", file, "--dry-run"}).out;
  CHECK(says(before,
             "tiny: 16 trials; 12 that tune, on seeds 101, 102, then 4 that are reported, 4 of them at values not "
             "chosen yet\n"));

  // Runs only the first phase, as if a run had ended between the two phases.
  std::vector<std::string> tuning{"run", file};
  std::istringstream lines(before);
  for (std::string line; std::getline(lines, line);)
    if (says(line, "seed=10")) tuning.insert(tuning.end(), {"--only", line.substr(7, 12)});
  REQUIRE(tuning.size() == 2 + 2 * 12);
  const auto first = place.run(tuning);
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  CHECK(says(first.err, "tiny: 12 done, 0 done before, 0 failed"));
  CHECK(place.query("SELECT count(*) AS n FROM trials WHERE seed < 100")[0]["n"] == 0);
  const auto open = json::parse(place.run({"table", "tiny", "--format", "json"}).out);
  for (const auto& cell : open["cells"]) CHECK(cell["n"] == 0);

  const auto between = place.run({"run", file, "--dry-run"}).out;
  CHECK(says(between, "tiny: 16 trials; 12 that tune, on seeds 101, 102, then 4 that are reported\n"));
  CHECK(says(between, "4 of them are to run\n"));

  const auto second = place.run({"run", file});
  INFO(second.err);
  CHECK(second.exit_code == 0);
  CHECK(says(second.err, "tiny: dev has chosen in 2 of 2 settings"));
  CHECK(says(second.err, "tiny: 4 done, 12 done before, 0 failed"));
  check_reported(place);
  CHECK(says(place.run({"run", file}).err, "tiny: 0 done, 16 done before, 0 failed"));
}

TEST_CASE("a study of two phases resumes wherever it was interrupted") {
  Workplace place;
  const auto file = place.study(kApart).string();
  for (const int enough : {3, 13}) {  // kills the run once in each phase
    auto run = place.start({"run", file, "-j", "1"});
    for (int tries = 0; tries < 3000; ++tries) {
      const auto done = place.has_database() ? place.query("SELECT count(*) AS n FROM trials") : json();
      if (done.is_array() && done[0]["n"].get<int>() >= enough) break;
      usleep(20'000);
    }
    kill(run.pid(), SIGKILL);
    run.wait();
  }
  const auto rest = place.run({"run", file});
  INFO(rest.err);
  CHECK(rest.exit_code == 0);
  CHECK(place.query("SELECT count(*) AS n FROM trials WHERE outcome = 'done'")[0]["n"] == 16);
  check_reported(place);
}

TEST_CASE("a value that failed on a tuning seed is not reported, and settings without a value are counted") {
  Workplace place;
  const auto run = [&](const std::string& faults) {
    return place.run({"--plugins", kFaulty + "trial", "run",
                      place
                          .study(kTiny +
                                 "[attention]\nplugin = \"faulty\"\n[grid]\ntrain.learning_rate = [1e-3, 1e-2]\n"
                                 "[grid.tune]\nseeds = [101]\nattention.fault = [" +
                                 faults + "]\n")
                          .string()});
  };
  const auto some = run("\"throw\", \"none\"");
  INFO(some.err);
  CHECK(some.exit_code == 1);
  CHECK(says(some.err, "tiny: dev has chosen in 2 of 2 settings"));
  CHECK(says(some.err, "tiny: 4 done, 0 done before, 2 failed"));
  CHECK(place.query("SELECT \"attention.fault\" AS fault FROM trials WHERE seed = 1") ==
        json::parse(R"([{"fault": "none"}, {"fault": "none"}])"));
  const auto none = run("\"throw\", \"nan\"");
  CHECK(none.exit_code == 1);
  CHECK(says(
      none.err,
      "tiny: dev has chosen in 0 of 2 settings; in 2 settings nothing is reported: each value has a trial that is not done"));
  CHECK(place.query("SELECT count(*) AS n FROM trials WHERE seed = 1")[0]["n"] == 2);
}

TEST_CASE("a study of two phases can also begin in an empty file") {
  Workplace place;
  place.folder().write("ablate.db", "");
  const auto file = place.study(kApart).string();
  CHECK(place.run({"run", file, "--dry-run"}).exit_code == 0);
  const auto all = place.run({"run", file});
  INFO(all.err);
  CHECK(all.exit_code == 0);
  CHECK(says(all.err, "tiny: 16 done, 0 done before, 0 failed"));
  check_reported(place);
}

TEST_CASE("if too many tuning trials failed, the trials that were to be reported are counted as not started") {
  Workplace place;
  const auto file = place.study(kTiny +
                                "[attention]\nplugin = \"faulty\"\n[grid]\nseeds = 3\ntrain.learning_rate = [1e-3, 1e-2]\n"
                                "[grid.tune]\nseeds = [101]\nattention.fault = [\"none\", \"throw\"]\n");
  const auto ended = place.run({"--plugins", kFaulty + "trial", "run", file.string(), "-j", "1", "--max-failures", "2"});
  INFO(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(says(ended.err, "2 done, 0 done before, 2 failed, 6 not started (--max-failures)"));
}

TEST_CASE("a study that tunes on separate seeds is not split into shares") {
  Workplace place;
  const auto file = place.study(kApart).string();
  for (const auto& arguments :
       {std::vector<std::string>{"--share", "0/2"}, std::vector<std::string>{"--plan", "plan.json", "--shares", "2"}}) {
    std::vector<std::string> words{"run", file};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const auto refused = place.run(words);
    CHECK(refused.exit_code == 2);
    CHECK(says(refused.err, "study.toml:24:9: grid.tune.seeds: found in a study that is split into shares"));
  }
}
