#include <cmath>
#include <nlohmann/json.hpp>

#include "db/questions/tables/make_table.h"
#include "db/report/printers.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

Table table_of(const std::filesystem::path& file, const TableRequest& request) { return make_table(Reader(file), request); }

using Labels = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("a cell is the mean and sample deviation over seeds") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  std::vector<nlohmann::json> trials;
  for (const int seed : {1, 2, 3}) trials.push_back(trial("softmax", {}, seed));
  for (const int seed : {1, 2, 3}) trials.push_back(trial("adamra", {"1/2", "1/4"}, seed));
  put(store, "study", trials);
  const double accuracies[] = {70, 71, 75, 80, 81, 79};
  for (std::size_t i = 0; i < 6; ++i) store.put_attempt(done(trials[i], accuracies[i]));

  SECTION("the defaults: rows by the parameters that vary, and test accuracy in the cells") {
    const auto table = table_of(file, {{"study"}, {}, {}, {}});
    CHECK(table.row_paths == std::vector<std::string>{"attention"});  // attention.rates has one value
    CHECK(table.column_paths.empty());
    CHECK(table.rows == Labels{{"softmax"}, {"adamra"}});
    CHECK(table.cell(0, 0, 0).n == 3);
    CHECK(table.cell(0, 0, 0).mean == Approx(72));
    CHECK(table.cell(0, 0, 0).deviation == Approx(std::sqrt(7.0)));  // (4 + 1 + 9) / 2
    CHECK(table.cell(1, 0, 0).mean == Approx(80));
    CHECK(table.cell(1, 0, 0).deviation == Approx(1));
    CHECK(table.notes.empty());
    CHECK(to_text(table, Format::kText) ==
          "study: 6 trials; mean ± standard deviation of n = 3\n\n"
          "attention  test/accuracy (%)\n"
          "softmax    72.0 ± 2.6\n"
          "adamra     80.0 ± 1.0\n");
  }
  SECTION("intervals of the mean, by Student's t: wider if splits overlap") {
    // Student's t with 2 degrees of freedom at 97.5 % is 4.302653.
    auto table = table_of(file, {.experiments = {"study"}, .statistics = {{"interval", {"0.0"}}}});
    CHECK(table.cell(1, 0, 0).number("interval") == Approx(4.302653 / std::sqrt(3.0)));
    CHECK(to_text(table, Format::kText) ==
          "study: 6 trials; mean ± half its 95 % interval of n = 3\n\n"
          "attention  test/accuracy (%)\n"
          "softmax    72.0 ± 6.6\n"
          "adamra     80.0 ± 2.5\n");
    table = table_of(file, {.experiments = {"study"}, .statistics = {{"interval", {"0.25"}}}});
    CHECK(table.cell(1, 0, 0).number("interval") == Approx(4.302653 * std::sqrt(1.0 / 3 + 0.25)));
    CHECK(nlohmann::json::parse(to_text(table, Format::kJson))["cells"][1]["interval"] ==
          Approx(table.cell(1, 0, 0).number("interval")));
    CHECK(std::isnan(table_of(file, {.experiments = {"study"}}).cell(1, 0, 0).number("interval")));
  }
  SECTION("columns, several metrics, an absent parameter") {
    const auto table = table_of(file, {{"study"}, {"attention.rates"}, {"task"}, {"test/accuracy", "train/step_time"}});
    CHECK(table.rows == Labels{{"-"}, {"1/2,1/4"}});
    CHECK(table.columns == Labels{{"image"}});
    CHECK(table.cell(0, 1, 0).mean == Approx(28));
    CHECK(to_text(table, Format::kMarkdown) ==
          "study: 6 trials; mean ± standard deviation of n = 3\n\n"
          "| attention.rates | test/accuracy (%) task=image | train/step_time (ms) task=image |\n"
          "| --- | --- | --- |\n"
          "| - | 72.0 ± 2.6 | 28.0 ± 2.6 |\n"
          "| 1/2,1/4 | 80.0 ± 1.0 | 20.0 ± 1.0 |\n");
    CHECK(
        to_text(table, Format::kCsv) ==
        "attention.rates,task,metric,unit,mean,sd,interval,n,failed,reason,published,ratio,published_ratio,unsettled,checked\n"
        ",image,test/accuracy,%,72,2.6457513110645907,,3,0,,,,,false,\n"
        ",image,train/step_time,ms,28,2.6457513110645907,,3,0,,,,,false,\n"
        "\"1/2,1/4\",image,test/accuracy,%,80,1,,3,0,,,,,false,\n"
        "\"1/2,1/4\",image,train/step_time,ms,20,1,,3,0,,,,,false,\n");
    auto alike = table;  // parameters with the names of other columns
    alike.row_paths = {"n"}, alike.column_paths = {"mean"};
    const auto lines = [](const std::string& csv) { return csv.substr(csv.find('\n')); };
    CHECK(to_text(alike, Format::kCsv).starts_with("n,mean,metric,unit,mean,sd,"));
    CHECK(lines(to_text(alike, Format::kCsv)) == lines(to_text(table, Format::kCsv)));
    const auto json = nlohmann::json::parse(to_text(table, Format::kJson));
    CHECK(json["cells"].size() == 4);
    CHECK(json["cells"][2]["row"]["attention.rates"] == "1/2,1/4");
    CHECK(json["cells"][0]["row"]["attention.rates"].is_null());
    CHECK(json["cells"][2]["column"]["task"] == "image");
    CHECK(json["cells"][2]["mean"] == 80);
    CHECK(json["cells"][2]["n"] == 3);
  }
  SECTION("the latest done attempt counts, and a later failure does not") {
    store.put_attempt(done(trials[0], 76));
    store.put_attempt(failed(trials[0], "signal 9"));
    const auto table = table_of(file, {{"study"}, {}, {}, {}});
    CHECK(table.cell(0, 0, 0).n == 3);
    CHECK(table.cell(0, 0, 0).mean == Approx(74));
  }
  SECTION("unknown names are errors with the nearest name") {
    CHECK(has(error_of([&] { table_of(file, {{"stduy"}, {}, {}, {}}); }), "did you mean study?"));
    CHECK(has(error_of([&] { table_of(file, {{"study"}, {"attention.rate"}, {}, {}}); }), "did you mean attention.rates?"));
    CHECK(has(error_of([&] { table_of(file, {{"study"}, {}, {"tsk"}, {}}); }), "did you mean task?"));
    CHECK(has(error_of([&] { table_of(file, {{"study"}, {}, {}, {"test/acuracy"}}); }), "did you mean test/accuracy?"));
  }
}

TEST_CASE("trials that are not done are shown with their state") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  std::vector<nlohmann::json> trials;
  for (const auto* attention : {"some", "crash", "slow", "none"})
    for (const int seed : {1, 2, 3}) trials.push_back(trial(attention, {}, seed));
  trials.push_back(trial("lone", {}, 1));
  put(store, "study", trials);
  store.put_attempt(done(trials[0], 70));
  store.put_attempt(failed(trials[1], "signal 11 (Segmentation fault)"));
  store.put_attempt(failed(trials[2], "loss is nan at step 12"));
  for (std::size_t i = 3; i < 6; ++i) store.put_attempt(failed(trials[i], "out | of memory"));
  for (std::size_t i = 6; i < 8; ++i) store.put_attempt(failed(trials[i], "ran longer than 60 s", "timeout"));
  store.put_attempt(failed(trials[8], "Ctrl-C", "interrupted"));
  store.put_attempt(failed(trials[12], "exit code 3"));

  const auto table = table_of(file, {{"study"}, {"attention"}, {}, {}});
  CHECK(to_text(table, Format::kText) ==
        "study: 13 trials; n = 1\n\n"
        "attention  test/accuracy (%)\n"
        "some       70.00, failed 2/3: signal 11 (Segmentation fault) (+ 1 with another reason)\n"
        "crash      failed 3/3: out | of memory\n"
        "slow       timeout 2/3, interrupted 1/3\n"
        "none       missing 3/3\n"
        "lone       failed: exit code 3\n");
  CHECK(has(to_text(table, Format::kMarkdown), "out \\| of memory"));
  CHECK(has(to_text(table, Format::kCsv), "slow,test/accuracy,%,,,,0,3,\"timeout 2/3, interrupted 1/3\",,,,false,\n"));
  CHECK(nlohmann::json::parse(to_text(table, Format::kJson))["cells"][1]["mean"].is_null());
}

TEST_CASE("a note reports that a cell averages over another parameter than the seed") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  std::vector<nlohmann::json> trials;
  for (const double rate : {0.001, 0.01})
    for (const int seed : {1, 2}) {
      trials.push_back(trial("softmax", {}, seed));
      trials.back()["train"]["learning_rate"] = rate;
    }
  put(store, "study", trials);
  for (std::size_t i = 0; i < 4; ++i) store.put_attempt(done(trials[i], 50 + static_cast<double>(i)));
  const auto table = table_of(file, {{"study"}, {"attention"}, {}, {}});
  CHECK(table.notes == std::vector<std::string>{"a cell averages over train.learning_rate = 0.001, 0.01; add it to --rows"});
  CHECK(has(to_text(table, Format::kText), "\nnote: a cell averages over"));
  CHECK(table_of(file, {{"study"}, {"train.learning_rate"}, {}, {}}).notes.empty());
  CHECK(table_of(file, {{"study"}, {"attention"}, {"train.learning_rate"}, {}}).notes.empty());
  CHECK(table_of(file, {{"study"}, {}, {}, {}}).row_paths == std::vector<std::string>{"train.learning_rate"});
}

TEST_CASE("rows are in the grid's order for one experiment, and by size for the whole history") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  const std::vector<std::vector<std::string>> rates = {{"1/2"}, {"1/16"}, {}, {"1/8", "1/2"}, {"1/8", "1/16"}, {"1"}, {"1/10"}};
  std::vector<nlohmann::json> trials;
  for (const auto& rate : rates) trials.push_back(trial("x", rate, 1));
  put(store, "study", trials);
  const TableRequest by_rates{{"study"}, {"attention.rates"}, {}, {}};
  CHECK(table_of(file, by_rates).rows == Labels{{"1/2"}, {"1/16"}, {"-"}, {"1/8,1/2"}, {"1/8,1/16"}, {"1"}, {"1/10"}});
  CHECK(table_of(file, {{}, {"attention.rates"}, {}, {}}).rows ==
        Labels{{"-"}, {"1/16"}, {"1/10"}, {"1/8,1/16"}, {"1/8,1/2"}, {"1/2"}, {"1"}});

  trials.clear();
  for (const int steps : {1000, 90, 200}) {
    trials.push_back(trial("y", {}, 1));
    trials.back()["train"]["steps"] = steps;
  }
  put(store, "steps", trials);
  CHECK(table_of(file, {{}, {"train.steps"}, {}, {}}).rows == Labels{{"-"}, {"90"}, {"200"}, {"1000"}});
}

TEST_CASE("a task that varies makes the columns, and its own parameters make no rows") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  std::vector<nlohmann::json> trials;
  for (const auto* task : {"image", "listops"})
    for (const auto* attention : {"softmax", "linear"}) {
      trials.push_back(trial(attention, {}, 1));
      trials.back()["task"]["plugin"] = task;
      trials.back()["task"]["pool"] = std::string(task) == "image" ? 2 : 1;
    }
  trials.pop_back();
  put(store, "study", trials);
  const auto table = table_of(file, {{"study"}, {}, {}, {}});
  CHECK(table.row_paths == std::vector<std::string>{"attention"});
  CHECK(table.column_paths == std::vector<std::string>{"task"});
  CHECK(table.columns == Labels{{"image"}, {"listops"}});
  CHECK(table.cell(1, 0, 1).trials == 0);  // the grid has no such trial
  CHECK(has(to_text(table, Format::kText), "linear     missing"));
}

TEST_CASE("trials that new code has replaced, and trials that the grid no longer lists, do not count") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  const auto a = trial("softmax", {}, 1), b = trial("linear", {}, 1);
  put(store, "study", {a, b});
  store.put_attempt(done(a, 60));
  // The same settings have another key, because a plugin changed. Trial b never ran and is no longer in the grid.
  const auto id = store.put_experiment({"study", "", "", "", {}});
  store.put_trials(id, {{"new key", a}});
  auto attempt = done(a, 80);
  attempt.key = "new key";
  store.put_attempt(attempt);
  for (const auto& experiments : {std::vector<std::string>{"study"}, std::vector<std::string>()}) {
    const auto table = table_of(file, {experiments, {"attention"}, {}, {}});
    CHECK(table.rows == Labels{{"softmax"}});
    CHECK(table.cell(0, 0, 0).n == 1);
    CHECK(table.cell(0, 0, 0).mean == 80);
    REQUIRE(table.notes.size() == 1);
    CHECK(has(table.notes[0], "1 earlier trial is left out"));
  }
}

TEST_CASE("only the latest grid of a named experiment counts") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  std::vector<nlohmann::json> trials;
  for (const int seed : {1, 2, 3}) trials.push_back(trial("softmax", {}, seed));
  put(store, "study", trials);
  for (std::size_t i = 0; i < 3; ++i) store.put_attempt(done(trials[i], 70 + 10 * static_cast<double>(i)));
  CHECK(table_of(file, {{"study"}, {"attention"}, {}, {}}).cell(0, 0, 0).n == 3);
  put(store, "study", {trials[0], trials[1]});
  const auto table = table_of(file, {{"study"}, {"attention"}, {}, {}});
  CHECK(table.trials == 2);
  CHECK(table.cell(0, 0, 0).n == 2);
  CHECK(table.cell(0, 0, 0).mean == 75);
  CHECK(table.notes ==
        std::vector<std::string>{"1 trial of earlier grids is left out; `ablate attempts study` shows all trials that ran"});
  put(store, "study", {trials[0]});
  CHECK(has(to_text(table_of(file, {{"study"}, {"attention"}, {}, {}}), Format::kText),
            "note: 2 trials of earlier grids are left"));
  // In a table of the whole history, every trial that ran counts.
  CHECK(table_of(file, {{}, {"attention"}, {}, {}}).cell(0, 0, 0).n == 3);
}

TEST_CASE("a column's header names its parameter, and JSON keeps numbers") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  std::vector<nlohmann::json> trials;
  for (const int steps : {25, 50}) {
    trials.push_back(trial("softmax", {}, 1));
    trials.back()["train"]["steps"] = steps;
  }
  trials.push_back(trial("softmax", {}, 2));  // has no train.steps
  put(store, "study", trials);
  for (const auto& one : trials) store.put_attempt(done(one, 60));
  const auto table = table_of(file, {{"study"}, {"train.learning_rate", "train.shuffle"}, {"train.steps"}, {}});
  CHECK(to_text(table, Format::kText) ==
        "study: 3 trials; test/accuracy (%); n = 1\n\n"
        "train.learning_rate  train.shuffle  train.steps=25  train.steps=50  train.steps=-\n"
        "0.001                true           60.00           60.00           60.00\n");
  const auto json = nlohmann::json::parse(to_text(table, Format::kJson))["cells"];
  CHECK(json[0]["column"]["train.steps"] == 25);
  CHECK(json[0]["column"]["train.steps"].is_number_integer());
  CHECK(json[2]["column"]["train.steps"].is_null());
  CHECK(json[0]["row"]["train.learning_rate"] == 0.001);
  CHECK(json[0]["row"]["train.shuffle"] == true);
  CHECK(json[0]["sd"].is_null());
}

TEST_CASE("a history without trials or results causes no crash") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  CHECK(has(error_of([&] { table_of(file, {{}, {}, {}, {}}); }), "no trials yet"));
  store.put_experiment({"study", "", "", "", {}});
  CHECK(has(error_of([&] { table_of(file, {{"study"}, {}, {}, {}}); }), "no trials of study yet"));
  const auto a = trial("softmax", {}, 1);
  put(store, "study", {a});
  CHECK(has(to_text(table_of(file, {{"study"}, {}, {}, {}}), Format::kText), "missing"));
  store.put_attempt(done(a, std::nan("")));
  CHECK(has(to_text(table_of(file, {{"study"}, {}, {}, {}}), Format::kText), "nan"));
  CHECK(has(to_text(table_of(file, {{"study"}, {}, {}, {"dev/accuracy"}}), Format::kText), "no value"));
}
