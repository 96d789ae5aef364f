// The four commands as a person types them; what they print goes through a file in place of stdout.
#include "tools/ablate/questions/questions.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/registry/folders.h"
#include "db/process.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

class Commands {
 public:
  Commands() {
    Store store(file());
    const auto a = trial("softmax", {}, 1), b = trial("adamra", {"1/8"}, 1);
    put(store, "quickstart", {a, b});
    auto attempt = done(a, 85.5);
    for (int step = 1; step <= 100; ++step) attempt.curve.push_back({"train/loss", step, 100.0 / step});
    attempt.plugins = {{"attention", "softmax", "1.0.0", "c0de", "b1nary", "/lib/softmax.so"}};
    store.put_attempt(attempt);
    auto crash = failed(b, "signal 11 (Segmentation fault)");
    crash.signal = 11;
    crash.output = "last words\x1b[31m\n";
    store.put_attempt(crash);
  }

  std::filesystem::path file() const { return folder_ / "a.db"; }

  /// The message of what it throws, and what the command prints.
  std::string operator()(const std::string& line) {
    return captured([&](CLI::App& app) { app.parse(line); });
  }
  /// Of words, which may be empty.
  std::string words(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());
    return captured([&](CLI::App& app) { app.parse(std::move(words)); });
  }

  int exit_code = -1;
  std::string errors;  ///< what the last command printed to stderr

 private:
  std::string captured(const std::function<void(CLI::App&)>& parse) {
    CLI::App app;
    exit_code = -1;
    add_questions(
        app, [this] { return file(); }, exit_code);
    const auto path = folder_ / "out";
    std::fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    const int kept_errors = dup(STDERR_FILENO);
    REQUIRE(std::freopen(path.c_str(), "w", stdout) != nullptr);
    REQUIRE(std::freopen((folder_ / "err").c_str(), "w", stderr) != nullptr);
    std::string message;
    try {
      parse(app);
    } catch (const Error& error) {
      message = error.what();
    } catch (const CLI::ParseError& error) {
      message = error.what();
    }
    for (auto* stream : {stdout, stderr}) std::fflush(stream);
    dup2(kept, STDOUT_FILENO);
    dup2(kept_errors, STDERR_FILENO);
    close(kept);
    close(kept_errors);
    errors = content(folder_ / "err");
    return message + content(path);
  }

  Folder folder_;
};

}  // namespace

TEST_CASE("table") {
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

TEST_CASE("names are taken as people write them, and all that are wrong are told at once") {
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
  CHECK(has(run("query 'SELECT \"attention.plugin\" FROM runs'"), "did you mean \"attention\"?"));
}

TEST_CASE("trials of an earlier grid") {
  Commands run;
  {
    Store store(run.file());
    put(store, "quickstart", {trial("adamra", {"1/8"}, 1), trial("adamra", {"1/8"}, 2)});
  }
  const auto text = run("runs quickstart");
  CHECK(has(text, "quickstart (earlier grid)  attention=softmax"));
  CHECK(has(text, "quickstart                 attention=adamra"));
  CHECK(nlohmann::json::parse(run("runs --json"))[1]["latest_grid"] == false);
  CHECK(run("table quickstart --format csv").find("softmax") == std::string::npos);
  CHECK(run.errors == "note: 1 trial of earlier grids is left out; `ablate runs quickstart` shows all that ran\n");
  CHECK(has(run("show 1"), "  # the study has changed since: its latest grid does not have this trial\n"));
}

TEST_CASE("the line that repeats a run tells when it would not") {
  Commands run;
  const auto study = (run.file().parent_path() / "study.toml").string();
  const auto asked = trial("linear", {}, 1);
  {
    Store store(run.file());
    store.put_trials(store.put_experiment({"mine", "", study, "[grid]\n", {}}), {{key_of(asked), asked}});
    auto attempt = done(asked, 50);
    // Folders that have to be named, one of them twice and one for a shell; and one that is looked at anyway.
    for (const auto* path : {"/my plugins/linear.so", "/my plugins/image.so", "/other/gate.so"})
      attempt.plugins.push_back({"attention", path, "1.0.0", "c", "b", path});
    attempt.plugins.push_back({"task", "image", "1.0.0", "c", "b", (plugin_folders({}).back().path / "image.so").string()});
    store.put_attempt(attempt);
  }
  const auto repeat = "repeat      ABLATE_DB=repeat.db ablate run " + study +
                      " --plugins '/my plugins' --plugins /other --only " + key_of(asked).substr(0, 12);
  CHECK(has(run("show 3"), repeat + "  # the study is no longer there\n"));
  std::ofstream(study) << "[grid]\n";
  CHECK(has(run("show 3"), repeat + "\n"));
  CHECK(nlohmann::json::parse(run("show 3 --json"))["repeat_note"] == "");
  std::ofstream(study) << "[grid]\nseeds = 2\n";
  CHECK(has(run("show 3"), repeat + "  # the study has changed since: its file is not what was run\n"));
}

TEST_CASE("a reason of many lines is one in tables and lists, whole in show") {
  Commands run;
  const std::string first = "found " + std::string(100, 'x'), rest = "\n  second \x1b[2J, \"line\"\n";
  {
    Store store(run.file());
    store.put_attempt(failed(trial("adamra", {"1/8"}, 1), "\n" + first + rest));
  }
  const auto cut = "failed: " + first.substr(0, 79) + "…";
  CHECK(has(run("table quickstart"), cut + "\n"));
  CHECK(has(run("runs"), cut + "  "));
  const auto csv = run("table quickstart --format csv");
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 3);
  const auto whole = run("show 3");
  CHECK(has(whole, "outcome     " + cut + "\n"));
  CHECK(has(whole, "the whole reason\n\n" + first + "\n  second [2J, \"line\"\n"));
}

TEST_CASE("what was not measured is not 0") {
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
  CHECK(nlohmann::json::parse(run("show 3 --json"))["cpu_s"].is_null());
  CHECK(has(run("show 1"), "2.5 s wall, CPU 2.2 s\n"));
  CHECK(run("query 'SELECT cpu_s, peak_resident_mib FROM attempts ORDER BY run' --format csv") ==
        "cpu_s,peak_resident_mib\n2.25,64\n2.25,64\n,\n");
}

TEST_CASE("runs") {
  Commands run;
  const auto text = run("runs quickstart");
  CHECK(has(text, "attention=adamra"));
  CHECK(text.find("attention=adamra") < text.find("attention=softmax"));
  CHECK(has(text, "test/accuracy (%)"));
  CHECK(has(text, "2.5 s"));
  CHECK_FALSE(has(run("runs --failed"), "softmax"));
  CHECK(has(run("runs -n 1"), "the latest 1 of 2"));
  CHECK(has(run("runs -n -3"), "-n: found -3, expected how many runs to show, such as 20, or 0 for all"));
  CHECK(has(run("runs -n many"), "found many, expected how many runs"));
  const auto json = nlohmann::json::parse(run("runs --json"));
  CHECK(json.size() == 2);
  CHECK(json[1]["value"] == 85.5);
  CHECK(json[0]["value"].is_null());
}

TEST_CASE("what is running stands on top, while its process lives") {
  Commands run;
  const auto b = trial("adamra", {"1/8"}, 1);
  Store store(run.file());
  store.put_running({{key_of(b), 1'700'000'000'000'000, 340, 1000, 1.2345}, {"0123456789abcdef", 0}});
  const auto text = run("runs");
  CHECK(has(text, "running, step 340/1000, loss 1.234"));
  CHECK(has(text, "0123456789ab"));  // a trial that nobody has put
  CHECK(text.find("running") < text.find("failed"));
  const auto json = nlohmann::json::parse(run("runs --json"));
  REQUIRE(json.size() == 4);
  CHECK(json[0]["outcome"] == "running");
  CHECK(json[0]["run"].is_null());
  CHECK(json[0]["step"] == 340);
  CHECK(json[0]["steps"] == 1000);
  CHECK(json[0]["metric"] == "train/loss");
  CHECK(json[0]["value"] == 1.2345);
  CHECK(json[0]["elsewhere"].is_null());
  CHECK(json[0]["wall_s"] > 1e7);
  CHECK(json[1]["value"].is_null());
  CHECK_FALSE(has(run("runs --failed"), "running"));
  CHECK(has(run("runs quickstart"), "running, step 340/1000"));
  CHECK_FALSE(has(run("runs quickstart"), "0123456789ab"));
  store.put_running({});
  CHECK_FALSE(has(run("runs"), "running"));
  {
    SQLite::Database others(run.file().string(), SQLite::OPEN_READWRITE);
    others.exec("INSERT INTO running VALUES ('" + this_host() + "', 1, 999999999, '" + key_of(b) + "', 0, 0, 0, NULL)");
    CHECK_FALSE(has(run("runs"), "running"));
    others.exec("INSERT INTO running VALUES ('node\x1b[2J7', 1, 5, '" + key_of(b) + "', 0, 3, 9, NULL)");
  }
  CHECK(has(run("runs"), "running on node[2J7, not seen from here, step 3/9  "));
}

TEST_CASE("how far a run got that is not done, with its curves") {
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
  CHECK(run("query 'SELECT step, steps FROM attempts ORDER BY run' --format csv") == "step,steps\n,\n,\n340,1000\n");
  CHECK(run("query 'SELECT count(*) AS n FROM curves WHERE attempt = 3' --format csv") == "n\n2\n");
}

TEST_CASE("an empty name of an experiment is none") {
  Commands run;
  for (const auto* command : {"table", "runs"})
    CHECK(has(run.words({command, ""}),
              "experiment: found an empty name, expected one of an experiment; without any all are meant"));
  CHECK(run.exit_code == -1);
  CHECK(has(run.words({"query", ""}), "the SQL is empty"));
}

TEST_CASE("names never steer the terminal") {
  Commands run;
  const std::string bad =
      "a\x1b[2J\nb\xc2\x9b"
      "31m\x7f";
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
       {"table --rows attention,attention.rates --published", "table --cols attention.rates --format markdown",
        "table --cols attention --format csv", "runs", "show 3", "show 4", "query", "query 'SELECT * FROM runs'",
        "query 'SELECT * FROM parameters' --format markdown"}) {
    INFO(line);
    const auto text = run(line) + run.errors;
    CHECK_FALSE(has(text, "\x1b"));
    CHECK_FALSE(has(text, "\x7f"));
    CHECK_FALSE(has(text, "\xc2\x9b"));
  }
}

TEST_CASE("show") {
  Commands run;
  const auto text = run("show 1");
  for (const auto* part : {"85.50", "▁", "█", "100.0 -> 1.000", "steps 1 to 100", "attention", "softmax", "code c0de", "2.11.0",
                           "ablate run experiments/quickstart.toml", "learning_rate", "64.0 MiB"})
    CHECK(has(text, part));
  const auto crash = run("show 2");
  CHECK(has(crash, "failed: signal 11 (Segmentation fault)"));
  CHECK(has(crash, "last words[31m\n"));
  CHECK(nlohmann::json::parse(run("show 1 --json"))["curves"]["train/loss"].size() == 100);
  CHECK(has(run("show 99"), "a number up to 2"));
}

TEST_CASE("query") {
  Commands run;
  CHECK(has(run("query"), "\"test/accuracy\""));
  CHECK(run("query \"SELECT attention FROM runs ORDER BY run\" --format csv") == "attention\nsoftmax\nadamra\n");
  CHECK(has(run("query \"DELETE FROM result\""), "only reads"));
}
