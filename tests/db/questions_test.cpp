// Commands that query the run history.
#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/registry/abi_check.h"
#include "core/registry/folders.h"
#include "tests/db/commands.h"

using namespace ablate;
using namespace ablate::db;

TEST_CASE("names in JSON are complete, and cannot steer a terminal") {
  Commands run;
  const std::string name =
      "x\x1b[31m\x7f\xc2\x9b"
      "31m\xe2\x82\xac";
  {
    Store store(run.file());
    const auto strange = trial("linear", {}, 7);
    put(store, name, {strange});
    store.put_attempt(failed(strange, name));
  }
  for (const std::string line : {"attempts --format json", "show 3 --format json", "table --all --format json",
                                 "query \"SELECT experiments, reason FROM trials\" --format json"}) {
    const auto text = run(line);
    INFO(line);
    for (const char c : text) CHECK((c == '\n' || (c >= ' ' && c <= '~')));
    CHECK(has(text, "\\u20ac"));
    CHECK_NOTHROW(nlohmann::json::parse(text));
  }
}

TEST_CASE("the table command") {
  Commands run;
  const auto text = run("table quickstart --rows attention,attention.rates --cols task --metric test/accuracy,train/step_time");
  CHECK(run.exit_code == 0);
  CHECK(has(text, "attention  attention.rates  test/accuracy (%) task=image "));
  CHECK(has(text, " train/step_time (ms) task=image\n"));
  CHECK(has(text, "softmax    -                85.50"));
  CHECK(has(text, "adamra     1/8              failed: signal 11 (Segmentation fault)"));
  CHECK(nlohmann::json::parse(run("table --format json"))["cells"].size() == 2);
  CHECK(has(run("table quickstart --format cvs"), "did you mean csv?"));
  CHECK(has(run("table quickstrat"), "did you mean quickstart?"));
}

TEST_CASE("names may be written in several ways, and all wrong names are reported at once") {
  Commands run;
  const auto text = run("table quickstart --rows \"attention.plugin, attention.rates \" --cols task.plugin,");
  CHECK(has(text, "attention  attention.rates  task=image"));
  CHECK(has(text, "quickstart: 2 trials; test/accuracy (%)"));
  const auto wrong = run("table --rows atention,zzzzzzzzz --cols tsk --metric accuracy,step_tme,qqqqqqqqqqqq");
  CHECK(has(wrong, "--rows: no trial has a parameter \"atention\" (did you mean attention?)\n"));
  CHECK(has(wrong, "\"zzzzzzzzz\" (known: attention, "));
  CHECK(has(wrong, "--cols: no trial has a parameter \"tsk\" (did you mean task?)\n"));
  CHECK(has(wrong, "\"accuracy\" (did you mean test/accuracy, dev/accuracy?)\n"));
  CHECK(has(wrong, "\"step_tme\" (did you mean train/step_time?)\n"));
  CHECK(has(wrong, "\"qqqqqqqqqqqq\" (known: dev/accuracy, test/accuracy, train/loss, train/step_time)"));
  CHECK(has(run("query 'SELECT \"attention.plugin\" FROM trials'"), "did you mean \"attention\"?"));
}

TEST_CASE("an invalid request for a table is refused with the nearest valid name") {
  Commands run;
  CHECK(has(run("table --interval nan"), "found nan, expected a number from 0 to 1000"));
  CHECK(has(run("table --interval 0.2 --baseline attention=softmax"), "--baseline"));
  CHECK(run.exit_code != 0);
  CHECK(has(run("table --rows attention,attention.plugin"), "--rows: attention is in --rows already"));
  CHECK(has(run("table --metric test/accuracy,test/accuracy"),
            "--metric: test/accuracy is named already, expected each metric once"));
  CHECK(has(run("table --rows attention --cols attention"), "--cols: attention is in --rows already"));
  CHECK(has(run("table --rows attention --baseline attention=sotfmax"), "(did you mean attention=softmax?)"));
  const auto none = run("table --rows attention.rates --baseline attention.rates=nope");
  CHECK(has(none, "expected one of attention.rates=-, attention.rates=1/8"));
  CHECK_FALSE(has(none, "did you mean"));
}

TEST_CASE("trials of an earlier grid") {
  Commands run;
  {
    Store store(run.file());
    put(store, "quickstart", {trial("adamra", {"1/8"}, 1), trial("adamra", {"1/8"}, 2)});
  }
  const auto text = run("attempts quickstart");
  CHECK(has(text, "quickstart (earlier grid)  attention=softmax"));
  CHECK(has(text, "quickstart                 attention=adamra"));
  CHECK(nlohmann::json::parse(run("attempts --format json"))[1]["latest_grid"] == false);
  CHECK(run("table quickstart --format csv").find("softmax") == std::string::npos);
  CHECK(run.errors == "note: 1 trial of earlier grids is left out; `ablate attempts quickstart` shows all trials that ran\n");
  CHECK(has(run("show 1"), "  # the study has changed since: its latest grid does not have this trial\n"));
}

TEST_CASE("the command that repeats an attempt has a warning if it would give another result") {
  Commands run;
  const auto study = (run.file().parent_path() / "study.toml").string();
  const auto asked = trial("linear", {}, 1);
  {
    Store store(run.file());
    store.put_trials(store.put_experiment({"mine", "", study, "[grid]\n", {}}), {{key_of(asked), asked}});
    auto attempt = done(asked, 50);
    // The command must name /my plugins (once for two plugins, quoted) and /other, and not a folder that is searched anyway.
    for (const auto* path : {"/my plugins/linear.so", "/my plugins/image.so", "/other/gate.so"})
      attempt.plugins.push_back({"attention", path, "1.0.0", "c", "b", path});
    const auto image = (plugin_folders({}).back().path / "image.so").string();
    attempt.plugins.push_back({"task", "image", "1.0.0", code_identity_in(image), "b", image});
    store.put_attempt(attempt);
    attempt.plugins.back().code_identity = "another";
    store.put_attempt(attempt);
  }
  const auto repeat = "repeat      ABLATE_DB=repeat.db ablate run " + study +
                      " --plugins '/my plugins' --plugins /other --only " + key_of(asked).substr(0, 12);
  CHECK(has(run("show 3"), repeat + "  # the study's file is missing\n"));
  std::ofstream(study) << "[grid]\n";
  CHECK(has(run("show 3"), repeat + "\n"));
  CHECK(has(run("show 4"),
            repeat + "  # the code of image has changed since, and so has the key: --dry-run shows the new key\n"));
  CHECK(nlohmann::json::parse(run("show 3 --format json"))["repeat_note"] == "");
  std::ofstream(study) << "[grid]\nseeds = 2\n";
  CHECK(has(run("show 3"), repeat + "  # the study has changed since: its file differs from the file that was run\n"));
}

TEST_CASE("the command that repeats an attempt names the plugins of the whole study, and warns of relative paths") {
  Commands run;
  const auto study = (run.file().parent_path() / "study.toml").string();
  auto ours = trial("softmax", {}, 2), foreign = trial("cosine", {"1/8"}, 2);
  foreign["task"]["data"] = "data/listops";
  {
    Store store(run.file());
    store.put_trials(store.put_experiment({"mine", "", study, "", {}}), {{key_of(ours), ours}, {key_of(foreign), foreign}});
    const auto own = plugin_folders({}).back().path / "softmax.so";
    for (const auto& [resolved, path] : {std::pair(ours, own.string()), {foreign, "/theirs/cosine.so"}}) {
      auto attempt = done(resolved, 50);
      attempt.plugins = {{"attention", path, "1.0.0", code_identity_in(path), "b", path}};
      store.put_attempt(attempt);
    }
  }
  std::ofstream{study};
  CHECK(has(run("show 3"), study + " --plugins /theirs --only " + key_of(ours).substr(0, 12) + "\n"));
  CHECK(has(run("show 4"),
            key_of(foreign).substr(0, 12) + "  # relative paths start at the folder in which the study was run\n"));
}

TEST_CASE("a reason of many lines is one line in tables and lists, and is complete in show") {
  Commands run;
  const std::string first = "found " + std::string(100, 'x'), rest = "\n  second \x1b[2J, \"line\"\n";
  {
    Store store(run.file());
    store.put_attempt(failed(trial("adamra", {"1/8"}, 1), "\n" + first + rest));
  }
  const auto cut = "failed: " + first.substr(0, 79) + "…";
  CHECK(has(run("table quickstart"), cut + "\n"));
  CHECK(has(run("attempts"), cut + "  "));
  const auto csv = run("table quickstart --format csv");
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 3);
  const auto whole = run("show 3");
  CHECK(has(whole, "outcome     " + cut + "\n"));
  CHECK(has(whole, "the whole reason\n\n" + first + "\n  second [2J, \"line\"\n"));
}

TEST_CASE("missing measurements are not 0") {
  Commands run;
  {
    Store store(run.file());
    auto attempt = failed(trial("softmax", {}, 1), "Ctrl-C", "interrupted");
    attempt.cpu_s = 0, attempt.peak_resident_bytes = 0;
    store.put_attempt(attempt);
  }
  const auto text = run("show 3");
  CHECK(has(text, "2.5 s wall, CPU not measured\n"));
  CHECK(has(text, "memory      not measured\n"));
  CHECK(nlohmann::json::parse(run("show 3 --format json"))["cpu_s"].is_null());
  CHECK(has(run("show 1"), "2.5 s wall, CPU 2.2 s\n"));
  CHECK(run("query 'SELECT cpu_s, peak_resident_mib FROM attempts ORDER BY attempt' --format csv") ==
        "cpu_s,peak_resident_mib\n2.25,64\n2.25,64\n,\n");
}

TEST_CASE("the attempts command") {
  Commands run;
  const auto text = run("attempts quickstart");
  CHECK(has(text, "attention=adamra"));
  CHECK(text.find("attention=adamra") < text.find("attention=softmax"));
  CHECK(has(text, "test/accuracy (%)"));
  CHECK(has(text, "2.5 s"));
  CHECK_FALSE(has(run("attempts --failed"), "softmax"));
  CHECK(has(run("attempts -n 1"), "the latest 1 of 2"));
  CHECK(has(run("attempts -n -3"), "-n: found -3, expected a number of attempts to show, such as 20, or 0 for all"));
  CHECK(has(run("attempts -n many"), "found many, expected a number of attempts"));
  const auto json = nlohmann::json::parse(run("attempts --format json"));
  CHECK(json.size() == 2);
  CHECK(json[1]["value"] == 85.5);
  CHECK(json[0]["value"].is_null());
}

TEST_CASE("the show command") {
  Commands run;
  const auto text = run("show 1");
  for (const auto* part : {"85.50", "▁", "█", "100.0 -> 1.000", "steps 1 to 100", "attention", "softmax", "code c0de", "2.11.0",
                           "ablate run experiments/quickstart.toml", "learning_rate", "64 MiB resident at most"})
    CHECK(has(text, part));
  const auto crash = run("show 2");
  CHECK(has(crash, "failed: signal 11 (Segmentation fault)"));
  CHECK(has(crash, "last words[31m\n"));
  CHECK(nlohmann::json::parse(run("show 1 --format json"))["curves"]["train/loss"].size() == 100);
  CHECK(has(run("show 99"), "a number up to 2"));
}

TEST_CASE("the query command") {
  Commands run;
  CHECK(has(run("query"), "\"test/accuracy\""));
  CHECK(run("query \"SELECT attention FROM trials ORDER BY attempt\" --format csv") == "attention\nsoftmax\nadamra\n");
  CHECK(has(run("query \"DELETE FROM result\""), "only reads"));
}

TEST_CASE("an attempt whose environment or overrides are not JSON is shown with all other fields") {
  Commands run;
  const std::string bad = GENERATE(as<std::string>{}, "{\"host\": ", "[1, 2]", "", std::string(1'000'000, '['));
  {
    SQLite::Database database(run.file().string(), SQLite::OPEN_READWRITE);
    for (const auto* sql : {"UPDATE environment SET json = ?", "UPDATE experiment SET overrides = ?"}) {
      SQLite::Statement put(database, sql);
      put.bind(1, bad);
      put.exec();
    }
  }
  const auto text = run("show 1");
  CHECK(run.exit_code == 0);
  CHECK(has(text, "85.50"));
  CHECK(has(text, "damaged  found \""));
  CHECK(has(text, "\", expected a JSON object"));
  CHECK(nlohmann::json::parse(run("show 1 --format json"))["environment"].size() == 1);
}

TEST_CASE("a reason of many megabytes is shown cut to one line") {
  Commands run;
  {
    SQLite::Database database(run.file().string(), SQLite::OPEN_READWRITE);
    SQLite::Statement put(database, "UPDATE attempt SET reason = ? WHERE outcome = 'failed'");
    put.bind(1, std::string(10'000'000, 'x'));
    put.exec();
  }
  for (const auto* line : {"attempts", "table"}) CHECK(has(run(line), std::string(79, 'x') + "…"));
}

TEST_CASE("power: a difference must be above 0") {
  Commands run;
  for (const std::string value : {"nan", "inf", "0", "-1", "1%"}) {
    INFO(value);
    CHECK(has(run("power quickstart --against attention=softmax --difference " + value),
              "found " + value + ", expected a number above 0"));
  }
  CHECK(!has(run("power quickstart --against attention=softmax --difference 0.5"), "expected a number"));
}
