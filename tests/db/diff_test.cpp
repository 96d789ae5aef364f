// `ablate diff` shows only differences.
#include <nlohmann/json.hpp>

#include "tests/db/commands.h"

using namespace ablate;
using namespace ablate::db;

namespace {

const std::string kCodeA(64, 'a'), kCodeB(64, 'b');

/// Adds attempts 3 to 6 to the attempts of Commands. Attempts 3 and 4 differ in rate, seed, code, data and machine. Attempt 5
/// repeats 3. Attempt 6 has the settings of 3 and another key, as after an edit of code.
class Diffs : public Commands {
 public:
  Diffs() {
    Store store(file());
    const auto a = trial("adamra", {"1/2"}, 1), b = trial("adamra", {"1/4"}, 2);
    put(store, "first", {a, trial("softmax", {}, 1)});
    put(store, "second", {b});
    auto one = attempt_of(a, 60.25, kCodeA);
    auto other = attempt_of(b, 61.5, kCodeB);
    other.environment = {{"host", "there"}, {"torch", "2.11.0"}, {"variables", {{"MKL_CBWR", "AVX2"}}}};
    store.put_parts({{key_of(a), identity("da")}, {key_of(b), identity("db")}});
    store.put_attempt(one);
    store.put_attempt(other);
    store.put_attempt(one);
    auto edited = attempt_of(a, 62, kCodeB);
    edited.key = std::string(64, 'e');
    const auto id = store.put_experiment({"edited", "", "e.toml", "", {}});
    store.put_trials(id, {{edited.key, a}});
    store.put_attempt(edited);
  }

  static Identity identity(const std::string& data) {
    return {{{"seed", 1}}, {{"plugins", nlohmann::json::object()}, {"data", data}, {"runtime", 4}, {"torch", "2.11.0"}}};
  }
  static Attempt attempt_of(const nlohmann::json& resolved, double accuracy, const std::string& code) {
    auto attempt = done(resolved, accuracy);
    attempt.plugins = {{"attention", "adamra", "1.0.0", code, "b1nary", "/lib/adamra.so"}};
    return attempt;
  }
};

}  // namespace

TEST_CASE("diff shows only the differences of two attempts: parameters, code, data, environment, final values") {
  Diffs run;
  CHECK(run("diff 3 4 --format csv") ==
        "what,attempt 3,attempt 4\n"
        "attention.rates,1/2,1/4\n"
        "seed,1,2\n"
        "code of attention adamra," +
            kCodeA + "," + kCodeB +
            "\n"
            "data,da,db\n"
            "environment.host,here,there\n"
            "environment.variables.MKL_CBWR,,AVX2\n"
            "test/accuracy,60.25,61.5\n"
            "train/step_time,39.75,38.5\n");
  CHECK(run.exit_code == 0);
  const auto text = run("diff 3 4");
  CHECK(has(text, "code of attention adamra        aaaaaaaaaaaa  bbbbbbbbbbbb\n"));
  CHECK(has(text, "environment.variables.MKL_CBWR  -             AVX2\n"));
}

TEST_CASE("attempts can be named by trials' keys; a failed attempt differs in its outcome") {
  Diffs run;
  const auto key = key_of(trial("adamra", {"1/2"}, 1)).substr(0, 12);
  CHECK(run("diff " + key + " 3") == "nothing differs between attempt 5 and attempt 3\n");
  const auto failed = run("diff 1 2 --format csv");
  CHECK(has(failed, "outcome,done,failed\nreason,,signal 11 (Segmentation fault)\n"));
  CHECK(has(failed, "test/accuracy,85.5,\n"));
  CHECK(has(failed, "attention,softmax,adamra\n"));
  CHECK_FALSE(has(failed, "code of"));  // the two have no common plugin
}

TEST_CASE("if there is no difference, a line says so, and other formats have no rows") {
  Diffs run;
  CHECK(run("diff 3 5") == "nothing differs between attempt 3 and attempt 5\n");
  CHECK(run.exit_code == 0);
  CHECK(run("diff 3 5 --format json") == "[]\n");
  CHECK(run.errors == "nothing differs between attempt 3 and attempt 5\n");
  CHECK(run("diff first first") == "nothing differs between experiment first and experiment first\n");
}

TEST_CASE("experiments differ in sets of values, trials and code; means are over trials with the same settings") {
  Diffs run;
  CHECK(run("diff first second --format csv") ==
        "what,experiment first,experiment second\n"
        "trials,2,1\n"
        "done,2,1\n"
        "trials that the other lacks,2,1\n"
        "attention,\"adamra, softmax\",adamra\n"
        "attention.rates,\"1/2, -\",1/4\n"
        "seed,1,2\n"
        "code of attention adamra," +
            kCodeA + "," + kCodeB +
            "\n"
            "data,da,db\n"
            "environment.host,here,there\n"
            "environment.variables.MKL_CBWR,,AVX2\n");
  CHECK(run("diff first edited --format csv") ==
        "what,experiment first,experiment edited\n"
        "trials,2,1\n"
        "done,2,1\n"
        "trials that the other lacks,1,0\n"
        "attention,\"adamra, softmax\",adamra\n"
        "attention.rates,\"1/2, -\",1/2\n"
        "code of attention adamra," +
            kCodeA + "," + kCodeB +
            "\n"
            "\"test/accuracy, mean of 1 shared trial\",60.25,62\n"
            "\"train/step_time, mean of 1 shared trial\",39.75,38\n");
}

TEST_CASE("attempts that cannot be compared are refused with the nearest name") {
  Diffs run;
  const auto refuses = [&](const std::string& line, const std::string& message) {
    INFO(line);
    CHECK(has(run(line), message));
    CHECK(run.exit_code == -1);
  };
  refuses("diff first secnd", "has no experiment \"secnd\" (did you mean second?)");
  refuses("diff first 3", "first is an experiment and 3 is not");
  refuses("diff 3 first", "first is an experiment and 3 is not");
  refuses("diff 3 99", "has no attempt 99");
  refuses("diff 3", "B is required");
}
