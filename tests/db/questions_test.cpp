// The four commands as a person types them; what they print goes through a file in place of stdout.
#include "tools/ablate/questions/questions.h"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

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

  /// What the command prints.
  std::string operator()(const std::string& line) {
    CLI::App app;
    exit_code = -1;
    add_questions(
        app, [this] { return file(); }, exit_code);
    const auto path = folder_ / "out";
    std::fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    REQUIRE(std::freopen(path.c_str(), "w", stdout) != nullptr);
    std::string message;
    try {
      app.parse(line);
    } catch (const Error& error) {
      message = error.what();
    }
    std::fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    return message + content(path);
  }

  int exit_code = -1;

 private:
  Folder folder_;
};

}  // namespace

TEST_CASE("table") {
  Commands run;
  const auto text = run("table quickstart --rows attention,attention.rates --cols task --metric test/accuracy,train/step_time");
  CHECK(run.exit_code == 0);
  CHECK(has(text, "attention  attention.rates  test/accuracy (%): image"));
  CHECK(has(text, "softmax    -                85.50"));
  CHECK(has(text, "adamra     1/8              failed: signal 11 (Segmentation fault)"));
  CHECK(nlohmann::json::parse(run("table --format json"))["cells"].size() == 2);
  CHECK(has(run("table quickstart --format cvs"), "did you mean csv?"));
  CHECK(has(run("table quickstrat"), "did you mean quickstart?"));
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
  const auto json = nlohmann::json::parse(run("runs --json"));
  CHECK(json.size() == 2);
  CHECK(json[1]["value"] == 85.5);
  CHECK(json[0]["value"].is_null());
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
