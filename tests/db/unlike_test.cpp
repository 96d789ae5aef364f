// Attempts at one trial that should have equal numbers. If the numbers differ, commands that show these attempts report it.
#include <SQLiteCpp/SQLiteCpp.h>

#include <nlohmann/json.hpp>

#include "db/history/keeping.h"
#include "db/history/unlike_attempts.h"
#include "tests/db/commands.h"
#include "tools/ablate/keeping/keeping.h"

using namespace ablate;
using namespace ablate::db;

namespace {

void add_all(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  add_questions(app, database, exit_code);
  add_merge(app, database, exit_code);
  add_db(app, database, exit_code);
}

const auto kTrial = trial("softmax", {}, 1);
constexpr std::int64_t kLater_us = 1'700'000'100'000'000;

/// Returns a repetition of the first attempt in the history of Commands.
Attempt again() {
  auto attempt = done(kTrial, 85.5);
  attempt.started_us = kLater_us;
  attempt.results["train/step_time"] = 99;  // measured by the host, and different each time
  for (int step = 1; step <= 100; ++step) attempt.curve.push_back({"train/loss", step, 100.0 / step});
  return attempt;
}

/// Returns the lines about different numbers in the output of attempts, show, db check and table.
std::vector<std::string> lines_about_it(Commands& run) {
  std::vector<std::string> lines;
  for (const auto* command : {"attempts", "show 1", "show 3", "db check", "table quickstart --rows attention"}) {
    const auto text = run(command) + run.errors;
    INFO(text);
    CHECK(run.exit_code == 0);
    for (const auto* mark : {"other numbers than attempt", "have different numbers in the same environment"})
      for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1))
        lines.push_back(text.substr(text.rfind('\n', at) + 1, text.find('\n', at) - text.rfind('\n', at) - 1));
  }
  return lines;
}

}  // namespace

TEST_CASE("different numbers for one key in one environment are marked in attempts, show, db check and tables") {
  Commands run;
  run.add = add_all;
  auto attempt = again();
  SECTION("a result") {
    attempt.results["test/accuracy"] = 61;
    Store(run.file()).put_attempt(attempt);
    const auto lines = lines_about_it(run);
    REQUIRE(lines.size() == 6);
    CHECK(has(lines[0], "done, other numbers than attempt 1"));
    CHECK(has(lines[1], "done, other numbers than attempt 3"));
    for (const int i : {2, 3, 4})
      CHECK(has(lines[static_cast<std::size_t>(i)], "attempts 3 and 1 at trial " + key_of(kTrial).substr(0, 12) +
                                                        " have different numbers in the same environment: test/accuracy 61 "
                                                        "and 85.5"));
    CHECK(has(lines[5], "the table uses the latest: attempt 3 instead of 1"));
    CHECK(nlohmann::json::parse(run("attempts --format json"))[0]["unlike"] == 1);
  }
  SECTION("another way of waiting for threads, which changes no number") {
    for (const auto* variables : {"{}", R"({"OMP_WAIT_POLICY": "PASSIVE"})"}) {
      attempt.environment["variables"] = nlohmann::json::parse(variables);
      attempt.results["test/accuracy"] = attempt.results["test/accuracy"] - 1;
      Store(run.file()).put_attempt(attempt);
    }
    CHECK(has(lines_about_it(run).at(0), "other numbers than attempt 3"));
  }
  SECTION("a point of a curve, which tables do not show") {
    attempt.curve[49].value += 1e-12;
    Store(run.file()).put_attempt(attempt);
    const auto lines = lines_about_it(run);
    REQUIRE(lines.size() == 5);
    CHECK(has(lines[4], "train/loss at step 50 "));
  }
}

TEST_CASE("attempts that are equal, or need not be equal, are not marked") {
  Commands run;
  run.add = add_all;
  auto attempt = again();
  attempt.results["test/new"] = 1;
  SECTION("equal numbers, a metric that the other attempt lacks, another host and revision") {
    attempt.environment["host"] = "there", attempt.environment["git"] = "c0ffee";
    attempt.environment["resumed"] = {{"step", 5}, {"attempt", "aa"}};
  }
  SECTION("another library") {
    attempt.results["test/accuracy"] = 61;
    attempt.environment["libraries"]["glibc"] = "2.99";
  }
  SECTION("a checkpoint of another processor") {
    attempt.results["test/accuracy"] = 61;
    attempt.environment["resumed"] = {{"step", 5}, {"processor", "Q"}};
  }
  SECTION("a checkpoint of another environment") {
    attempt.results["test/accuracy"] = 61;
    attempt.environment["resumed"] = {{"step", 5}, {"environments", {{{"kernels", "avx2"}}}}};
  }
  SECTION("an attempt that is not done") {
    attempt.results["test/accuracy"] = 61;
    attempt.outcome = "interrupted";
  }
  Store(run.file()).put_attempt(attempt);
  CHECK(lines_about_it(run).empty());
}

TEST_CASE("a merge that adds different numbers for done trials warns once, and a second merge does not warn") {
  Commands run;
  run.add = add_all;
  const auto other = run.file().parent_path() / "other.db";
  {
    Store store(other);
    const auto second = trial("linear", {}, 1);
    put(store, "quickstart", {kTrial, second});
    auto attempt = again();
    attempt.results["test/accuracy"] = 61;
    store.put_attempt(attempt);
    store.put_attempt(done(second, 50));
  }
  run("merge " + other.string());
  CHECK(run.exit_code == 0);
  CHECK(has(run.errors, "warning: attempts 3 and 1 at trial"));
  CHECK(has(run.errors, "test/accuracy 61 and 85.5. The latest attempt counts"));
  CHECK(!has(run.errors, "more"));
  run("merge " + other.string());
  CHECK(run.errors.empty());
}

TEST_CASE("a note of a table names the attempt that counts once, followed by all other attempts at its trial") {
  Commands run;
  auto attempt = again();
  attempt.results["test/accuracy"] = 60;
  Store(run.file()).put_attempt(attempt);
  attempt.started_us = kLater_us + 1;
  attempt.results["test/accuracy"] = 61;
  Store(run.file()).put_attempt(attempt);
  CHECK(has(run("table quickstart --rows attention"), "the table uses the latest: attempt 4 instead of 3 and 1. "));
}

TEST_CASE("a merge names attempts whose numbers another program changed in one file; the numbers here stay") {
  Commands run;
  run.add = add_all;
  const auto copy = run.file().parent_path() / "copy.db";
  back_up(run.file(), copy);
  const auto change = [&](const std::string& sql) { SQLite::Database(copy.string(), SQLite::OPEN_READWRITE).exec(sql); };
  change("UPDATE result SET value = value + 1 WHERE metric IN (SELECT id FROM metric WHERE kind = 'cost' AND owner = 'host')");
  run("merge " + copy.string());
  CHECK(run.errors.empty());
  change("UPDATE curve SET value = 7 WHERE step = 50");
  CHECK(has(run("merge " + copy.string()), "0 attempts of 0 trials came, 2 were there already"));
  CHECK(run.exit_code == 0);
  CHECK(has(run.errors, "warning: 1 attempt has other numbers in " + copy.string() + ", first trial "));
  CHECK(has(run.errors, ": train/loss at step 50 2 here and 7 there. The numbers here stay; "));
  change("UPDATE result SET value = 99 WHERE metric = (SELECT id FROM metric WHERE name = 'test/accuracy')");
  run("merge " + copy.string());
  CHECK(has(run.errors, "test/accuracy 85.5 here and 99 there. "));
  CHECK(has(run("table quickstart --rows attention"), "85.50"));
}
