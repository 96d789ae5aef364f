// Running attempts, progress of attempts, and odd names in the output of commands.
#include <SQLiteCpp/SQLiteCpp.h>

#include <nlohmann/json.hpp>

#include "db/history/process.h"
#include "tests/db/commands.h"

using namespace ablate;
using namespace ablate::db;

TEST_CASE("a history without attempts is reported as in a table, and is no error") {
  const std::string words = "a.db has no trials yet: `ablate run FILE` makes some";
  Commands run;
  std::filesystem::remove(run.file());
  Store store(run.file());
  CHECK(has(run("table"), words));
  CHECK(run("attempts") == "");
  CHECK(run.exit_code == 0);
  CHECK(has(run.errors, words));
  CHECK(run("attempts --format json") == "[]\n");
  CHECK(has(run.errors, words));
  put(store, "study", {trial("softmax", {}, 1)});
  CHECK(has(run("attempts"), "outcome"));
  CHECK(run.errors == "");
}

TEST_CASE("running attempts are on top while their process lives") {
  Commands run;
  const auto b = trial("adamra", {"1/8"}, 1);
  Store store(run.file());
  store.put_running({{key_of(b), 1'700'000'000'000'000, 340, 1000, 1.2345}, {"0123456789abcdef", 0}});
  const auto text = run("attempts");
  CHECK(has(text, "running, step 340/1000, loss 1.234"));
  CHECK(has(text, "0123456789ab"));  // this trial is not in the history
  CHECK(text.find("running") < text.find("failed"));
  const auto json = nlohmann::json::parse(run("attempts --format json"));
  REQUIRE(json.size() == 4);
  CHECK(json[0]["outcome"] == "running");
  CHECK(json[0]["attempt"].is_null());
  CHECK(json[0]["step"] == 340);
  CHECK(json[0]["steps"] == 1000);
  CHECK(json[0]["metric"] == "train/loss");
  CHECK(json[0]["value"] == 1.2345);
  CHECK(json[0]["elsewhere"].is_null());
  CHECK(json[0]["wall_s"] > 1e7);
  CHECK(json[1]["value"].is_null());
  CHECK_FALSE(has(run("attempts --failed"), "running"));
  CHECK(has(run("attempts quickstart"), "running, step 340/1000"));
  CHECK_FALSE(has(run("attempts quickstart"), "0123456789ab"));
  store.put_running({});
  CHECK_FALSE(has(run("attempts"), "running"));
  {
    SQLite::Database others(run.file().string(), SQLite::OPEN_READWRITE);
    others.exec("INSERT INTO running VALUES ('" + this_host() + "', 1, 999999999, '" + key_of(b) + "', 0, 0, 0, NULL)");
    CHECK_FALSE(has(run("attempts"), "running"));
    others.exec("INSERT INTO running VALUES ('node\x1b[2J7', 1, 5, '" + key_of(b) + "', 0, 3, 9, NULL)");
  }
  CHECK(has(run("attempts"), "running on node[2J7, not visible from this host, step 3/9  "));
}

TEST_CASE("progress of an attempt that is not done, with its curves") {
  Commands run;
  {
    Store store(run.file());
    auto attempt = failed(trial("adamra", {"1/8"}, 1), "ran longer than 60 s", "timeout");
    attempt.step = 340, attempt.steps = 1000;
    attempt.curve = {{"train/loss", 170, 2.5}, {"train/loss", 340, 1.5}};
    store.put_attempt(attempt);
  }
  const auto text = run("show 3");
  CHECK(has(text, "got to      step 340 of 1000\n"));
  CHECK(has(text, "2.500 -> 1.500"));
  CHECK_FALSE(has(run("show 1"), "got to"));
  CHECK(run("query 'SELECT step, steps FROM attempts ORDER BY attempt' --format csv") == "step,steps\n,\n,\n340,1000\n");
  CHECK(run("query 'SELECT count(*) AS n FROM curves WHERE attempt = 3' --format csv") == "n\n2\n");
}

TEST_CASE("an empty text is not accepted as a name") {
  Commands run;
  const std::string why = ": found an empty text, perhaps from an unset variable; give a value, or leave the argument out";
  for (const auto* command : {"table", "attempts"}) CHECK(has(run.words({command, ""}), "EXPERIMENT" + why));
  for (const std::string option : {"--rows", "--cols", "--metric"}) CHECK(has(run.words({"table", option, ""}), option + why));
  CHECK(run.exit_code == -1);
  CHECK(has(run.words({"query", ""}), "the SQL is empty"));
}

TEST_CASE("names cannot steer the terminal") {
  Commands run;
  const std::string bad =
      "a\x1b[2J\nb\xc2\x9b"
      "31m\x7f\xe2\x80\xae\xe2\x81\xa6";
  const auto odd = trial(bad, {bad}, 1);
  {
    Store store(run.file());
    store.put_metrics({{"test/" + bad, "%" + bad, "max", bad}});
    const auto id = store.put_experiment({"e" + bad, bad, "f" + bad, "", {"x=" + bad}});
    store.put_trials(id, {{key_of(odd), odd}, {key_of(trial(bad, {}, 1)), trial(bad, {}, 1)}});
    store.put_published(id, {{key_of(odd), "test/" + bad, 5, bad}});
    auto attempt = failed(odd, bad);
    attempt.results["test/" + bad] = 1;
    attempt.curve = {{"train/" + bad, 1, 1.0}};
    attempt.environment[bad] = bad;
    attempt.output = bad;
    attempt.plugins = {{"attention", bad, bad, bad, bad, "/" + bad + "/x.so"}};
    store.put_attempt(attempt);
    attempt.outcome = "done";
    store.put_attempt(attempt);
    store.put_running({{bad, 0}});
  }
  for (const auto* line :
       {"table --all --rows attention,attention.rates --published", "table --all --cols attention.rates --format markdown",
        "table --all --cols attention --format csv", "table", "attempts", "show 3", "show 4", "query",
        "query 'SELECT * FROM trials'", "query 'SELECT * FROM parameters' --format markdown"}) {
    INFO(line);
    const auto text = run(line) + run.errors;
    CHECK_FALSE(has(text, "\x1b"));
    CHECK_FALSE(has(text, "\x7f"));
    CHECK_FALSE(has(text, "\xc2\x9b"));
    CHECK_FALSE(has(text, "\xe2\x80\xae"));
    CHECK_FALSE(has(text, "\xe2\x81\xa6"));
  }
}
