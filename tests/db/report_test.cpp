// Data of the page of `ablate report`.
#include <cmath>
#include <limits>
#include <set>

#include "db/questions/tables/report_data.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;
using nlohmann::ordered_json;

namespace {

const std::string kHostile = "</script><img src=x onerror=alert(1)>\"'\xE2\x80\xA8&";

/// Two experiments that share a trial. That trial failed, and then ran again with NaN. One trial of the first experiment
/// never ran.
class Reported {
 public:
  Reported() {
    Store store(file_);
    auto odd = trial("adamra", {"1/4"}, 2);
    odd["task"]["text"] = kHostile;
    odd["seed"] = 9007199254740993;
    trials_ = {trial("softmax", {}, 1), trial("softmax", {}, 2), trial("adamra", {"1/4"}, 1), odd, trial("linear", {}, 1)};
    put(store, "first", trials_);
    put(store, "second", {trials_[1]});
    auto with_curve = done(trials_[0], 0.1 + 0.2);
    for (int step = 1; step <= 1000; ++step) with_curve.curve.push_back({"train/loss", step, 1.0 / step});
    store.put_attempt(with_curve);
    store.put_attempt(failed(trials_[1], kHostile));
    auto again = done(trials_[1], 70);
    again.environment = {{"host", "there"}};
    again.results["test/accuracy"] = std::numeric_limits<double>::quiet_NaN();
    store.put_attempt(again);
    store.put_attempt(failed(trials_[2], "out of memory"));
    store.put_attempt(failed(trials_[3], "out of memory", "timeout"));
  }

  ordered_json operator()(const std::vector<std::string>& experiments, const std::vector<ReportTable>& tables = {}) const {
    return report_data(Reader(file_), {experiments, tables});
  }
  std::string key(std::size_t trial) const { return key_of(trials_[trial]).substr(0, 16); }

 private:
  Folder folder_;
  std::filesystem::path file_ = folder_ / "a.db";
  std::vector<nlohmann::json> trials_;
};

/// Returns the names that a column of the trials refers to by index; "-" for no name.
std::vector<std::string> named(const ordered_json& report, const char* column, const char* list) {
  std::vector<std::string> all;
  for (const int place : report["trials"][column].get<std::vector<int>>())
    all.push_back(place < 0 ? "-" : report[list][static_cast<std::size_t>(place)].get<std::string>());
  return all;
}

const ordered_json& one_of(const ordered_json& list, const char* name, const std::string& value) {
  for (const auto& one : list)
    if (one[name] == value) return one;
  throw std::out_of_range(value);
}

}  // namespace

TEST_CASE("a report has each trial of its experiments, by the attempt that counts, and the reasons of failures") {
  const Reported ask;
  const auto report = ask({"first", "second"});
  CHECK(report["trials"]["experiment"] == ordered_json({0, 0, 0, 0, 0, 1}));
  CHECK(report["trials"]["key"] == ordered_json({ask.key(0), ask.key(1), ask.key(2), ask.key(3), ask.key(4), ask.key(1)}));
  CHECK(report["trials"]["attempt"] == ordered_json({1, 3, 4, 5, 0, 3}));
  CHECK(named(report, "outcome", "outcomes") ==
        std::vector<std::string>{"done", "done", "failed", "timeout", "missing", "done"});
  CHECK(named(report, "reason", "reasons") == std::vector<std::string>{"-", "-", "out of memory", "out of memory", "-", "-"});
  CHECK(report["trials"]["started"][0] == 1'700'000'000);
  CHECK(report["trials"]["wall"][4].is_null());
  CHECK(report["environments"].size() == 2);
  CHECK(report["environments"][report["trials"]["environment"][1].get<std::size_t>()]["host"] == "there");
  CHECK(report["trials"]["environment"][4] == -1);

  std::set<std::int64_t> attempts;  // both attempts at the trial that the experiments share
  for (const auto& one : report["attempts"]) {
    CHECK((one[0] == 1 || one[0] == 5));
    attempts.insert(one[1].get<std::int64_t>());
  }
  CHECK(report["attempts"].size() == 4);
  CHECK(attempts == std::set<std::int64_t>{2, 3});
  CHECK(report["reasons"][report["attempts"][0][3].get<std::size_t>()] == kHostile);
}

TEST_CASE("a report lists parameters that differ, with their types, even integers that a double cannot represent") {
  const Reported ask;
  const auto report = ask({"first"});
  const auto& attention = one_of(report["parameters"], "path", "attention");
  CHECK(attention["differs"] == true);
  CHECK(attention["values"] == ordered_json({"softmax", "adamra", "linear"}));
  CHECK(attention["of"] == ordered_json({0, 0, 1, 1, 2}));
  const auto& rates = one_of(report["parameters"], "path", "attention.rates");
  CHECK(rates["of"] == ordered_json({-1, -1, 0, 0, -1}));
  CHECK(rates["numbers"] == ordered_json({0.25}));
  const auto& pool = one_of(report["parameters"], "path", "task.pool");
  CHECK(pool["differs"] == false);
  CHECK(pool["values"] == ordered_json({2}));
  CHECK_FALSE(pool.contains("of"));
  CHECK(one_of(report["parameters"], "path", "seed")["values"] == ordered_json({1, 2, "9007199254740993"}));
  CHECK(one_of(report["parameters"], "path", "task.text")["values"] == ordered_json::array({kHostile}));
  CHECK(one_of(report["parameters"], "path", "train.shuffle")["values"] == ordered_json::array({true}));
}

TEST_CASE("a report's metrics are exact, from done trials only, and NaN differs from a missing number") {
  const Reported ask;
  const auto report = ask({"first"});
  const auto& accuracy = one_of(report["metrics"], "name", "test/accuracy");
  CHECK(accuracy["values"] == ordered_json({0.1 + 0.2, "nan", nullptr, nullptr, nullptr}));
  CHECK(accuracy["direction"] == "max");
  CHECK(accuracy["cost"] == false);
  CHECK(one_of(report["metrics"], "name", "train/step_time")["cost"] == true);
  CHECK(report["metrics"].size() == 2);  // dev/accuracy has no values and is left out
}

TEST_CASE("a report's curves are thinned, and keep their first and last points") {
  const Reported ask;
  const auto report = ask({"first", "second"});
  REQUIRE(report["curves"].size() == 1);
  const auto& loss = report["curves"][0];
  CHECK(loss["metric"] == "train/loss");
  CHECK(loss["trial"] == ordered_json({0}));
  const auto& steps = loss["steps"][loss["of"][0].get<std::size_t>()];
  const auto& values = loss["values"][0];
  REQUIRE(steps.size() == report["points"].get<std::size_t>());
  REQUIRE(values.size() == steps.size());
  CHECK(steps.front() == 1);
  CHECK(steps.back() == 1000);
  for (std::size_t i = 0; i < steps.size(); ++i)
    CHECK(values[i].get<double>() == Approx(1 / steps[i].get<double>()).epsilon(5e-4));
}

TEST_CASE("each number of a report's table links to the trials behind it") {
  const Reported ask;
  const auto report =
      ask({"second", "first"}, {{"", {.experiments = {"first"}, .rows = {"attention"}, .metrics = {"train/step_time"}}},
                                {"wrong", {.experiments = {"first"}, .rows = {"no.such"}}}});
  const auto& table = report["tables"][0];
  CHECK(table["experiments"] == ordered_json({1}));
  const auto& block = table["blocks"][0];
  CHECK(block["header"][0]["text"] == "attention");
  CHECK(block["header"][1]["number"] == true);
  for (const auto& row : block["rows"]) {
    const auto label = row[0]["text"].get<std::string>();
    CHECK_FALSE(row[0].contains("cell"));
    const auto& cell = table["cells"][row[1]["cell"].get<std::size_t>()];
    const auto expected = label == "softmax"  ? ordered_json({1, 2})
                          : label == "adamra" ? ordered_json({3, 4})
                                              : ordered_json({5});
    CHECK(cell["trials"] == expected);
    if (label == "softmax") {
      CHECK(cell["n"] == 2);
      CHECK(cell["value"].get<double>() == Approx((100 - 0.3 + 30) / 2));
    } else {
      CHECK(cell["value"].is_null());
    }
    if (label == "adamra") CHECK(has(row[1]["failures"].get<std::string>(), "out of memory"));
  }
  CHECK(block["rows"].size() == 3);
  CHECK(report["tables"][1]["name"] == "wrong");
  CHECK(has(report["tables"][1]["failed"].get<std::string>(), "no.such"));
}

TEST_CASE("a table over several experiments links to each experiment's own trials, even if they share a trial") {
  const Reported ask;
  const auto report = ask({"second", "first"},
                          {{"", {.experiments = {"first", "second"}, .rows = {"attention"}, .metrics = {"train/step_time"}}}});
  const auto& table = report["tables"][0];
  CHECK(table["experiments"] == ordered_json({1, 0}));
  std::map<std::string, ordered_json> trials;
  for (const auto& row : table["blocks"][0]["rows"])
    trials[row[0]["text"].get<std::string>() + " " + row[1]["text"].get<std::string>()] =
        table["cells"][row[2]["cell"].get<std::size_t>()]["trials"];
  CHECK(trials.at("second softmax") == ordered_json({0}));
  CHECK(trials.at("first softmax") == ordered_json({1, 2}));
}

TEST_CASE("a report of an unknown experiment is refused") {
  const Reported ask;
  CHECK(has(error_of([&] { ask({"frist"}); }), "first"));
}
