// Ratios to a baseline and published numbers in a table.
#include <cmath>
#include <nlohmann/json.hpp>

#include "db/report/printers.h"
#include "tests/db/costs.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

TEST_CASE("ratios to a baseline row, measured and published side by side") {
  const Costs costs;
  auto asked = request({"attention", "attention.rates"}, {"task.length"});
  asked.statistics["baseline"] = {"attention=softmax"};
  asked.published = true;
  const auto table = costs.table(asked);
  CHECK(table.cell(0, 0, 1).number("ratio") == Approx(1));
  CHECK(table.cell(1, 0, 0).number("ratio") == Approx(0.1));
  CHECK(table.cell(1, 0, 2).number("ratio") == Approx(0.025));
  CHECK(table.cell(1, 0, 2).number("published_ratio") == Approx(5.0 / 800));
  CHECK(
      to_text(table, Format::kMarkdown) ==
      "study: 6 trials; train/step_time (ms); ratio of means to attention=softmax; n = 1\n\n"
      "| attention | attention.rates | task.length=100 | published | task.length=200 | published | task.length=400 | published "
      "|\n| --- | --- | --- | --- | --- | --- | --- | --- |\n"
      "| softmax | - | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 | 1.0000 |\n"
      "| adamra | 1/2 | 0.100 | 0.025 | 0.050 | 0.013 | 0.025 | 0.0063 |\n\n"
      "- note: published: A paper\n");
}

TEST_CASE("ratios to a baseline column; without --published there are no published ratios") {
  const Costs costs;
  auto asked = request({"attention"}, {"task.length"});
  asked.statistics["baseline"] = {"task.length=100"};
  const auto table = costs.table(asked);
  CHECK(table.cell(0, 0, 2).number("ratio") == Approx(16));
  CHECK(table.cell(1, 0, 2).number("ratio") == Approx(4));
  CHECK(std::isnan(table.cell(0, 0, 2).number("published_ratio")));
}

TEST_CASE("if there are several baseline rows, each row uses the baseline row with the same other parameters") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  std::vector<nlohmann::json> trials;
  for (const int batch : {1, 8})
    for (const auto* attention : {"softmax", "adamra"})
      trials.push_back(
          at_length(attention, *attention == 'a' ? std::vector<std::string>{"1/2"} : std::vector<std::string>{}, 100, batch));
  put(store, "study", trials);
  const double times[] = {10, 5, 80, 20};
  for (std::size_t i = 0; i < 4; ++i) store.put_attempt(took(trials[i], times[i]));
  auto asked = request({"attention", "attention.rates", "train.batch"}, {});
  asked.statistics["baseline"] = {"attention=softmax"};
  const auto table = make_table(Reader(file), asked);
  REQUIRE(table.rows.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& row = table.rows[i];
    CHECK(table.cell(i, 0, 0).number("ratio") == Approx(row[0] == "softmax" ? 1 : row[2] == "1" ? 0.5 : 0.25));
  }
  asked.rows = {"attention", "train.batch"};
  asked.statistics["baseline"] = {"train.batch=1"};
  CHECK(make_table(Reader(file), asked).cell(1, 0, 0).n == 1);
}

TEST_CASE("a rate of a baseline may be written as a decimal") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  const std::vector<nlohmann::json> trials = {at_length("adamra", {"1/4"}, 100), at_length("adamra", {"1/2"}, 100)};
  put(store, "study", trials);
  store.put_attempt(took(trials[0], 10));
  store.put_attempt(took(trials[1], 20));
  auto asked = request({"attention.rates"}, {});
  for (const std::string rate : {"1/4", "0.25", "2/8"}) {
    asked.statistics["baseline"] = {"attention.rates=" + rate};
    CHECK(make_table(Reader(file), asked).cell(1, 0, 0).number("ratio") == Approx(2));
  }
}

TEST_CASE("a note reports costs that were measured on several machines") {
  const Costs costs;
  {
    Store store(costs.file);
    auto elsewhere = took(costs.trials[0], 90);
    elsewhere.environment = {{"host", "there"}, {"processor", "another"}};
    store.put_attempt(elsewhere);
  }
  const auto table = costs.table(request({"attention"}, {"task.length"}));
  CHECK(table.cell(0, 0, 0).mean == 90);  // the latest done attempt
  CHECK(table.notes ==
        std::vector<std::string>{"measured on 2 machines, whose costs are not comparable: here (unknown), there (another)"});
  auto accuracy = request({"attention"}, {"task.length"});
  accuracy.metrics = {"test/accuracy"};
  CHECK(costs.table(accuracy).notes.empty());
}

TEST_CASE("several metrics with their own columns are shown one below the other") {
  const Costs costs;
  auto asked = request({"attention"}, {"task.length"});
  asked.metrics = {"train/step_time", "test/accuracy"};
  CHECK(to_text(costs.table(asked), Format::kMarkdown) ==
        "study: 6 trials; n = 1\n\n"
        "train/step_time (ms)\n\n"
        "| attention | task.length=100 | task.length=200 | task.length=400 |\n| --- | --- | --- | --- |\n"
        "| softmax | 100.0 | 400.0 | 1600 |\n| adamra | 10.0 | 20.0 | 40 |\n\n"
        "test/accuracy (%)\n\n"
        "| attention | task.length=100 | task.length=200 | task.length=400 |\n| --- | --- | --- | --- |\n"
        "| softmax | 50.00 | 50.00 | 50.00 |\n| adamra | 50.00 | 50.00 | 50.00 |\n");
}

TEST_CASE("a baseline that matches several rows is refused") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  const std::vector<nlohmann::json> trials = {trial("adamra", {"1/2"}, 1), trial("adamra", {"1/4"}, 1),
                                              trial("softmax", {}, 1)};
  put(store, "study", trials);
  for (const auto& one : trials) store.put_attempt(took(one, 10));
  auto asked = request({"attention", "attention.rates"}, {});
  asked.statistics["baseline"] = {"attention=adamra"};
  CHECK(error_of([&] { make_table(Reader(file), asked); }) ==
        "--baseline attention=adamra matches 2 rows for attention=softmax attention.rates=-, expected one; add --baseline "
        "PATH=VALUE for attention.rates");
}

TEST_CASE("an unknown baseline is refused with the known rows and parameters") {
  const Costs costs(false);
  auto asked = request({"attention"}, {"task.length"});
  asked.statistics["baseline"] = {"attention=sofmax"};
  CHECK(costs.error(asked) ==
        "--baseline attention=sofmax: found no row that has it, expected one of attention=adamra, attention=softmax (did you "
        "mean "
        "attention=softmax?)");
  asked.statistics["baseline"] = {"train.batch=1"};
  CHECK(costs.error(asked) ==
        "--baseline train.batch=1: found the parameter train.batch, expected one of the rows (attention) or of the columns "
        "(task.length); --rows can add it");
  asked.rows = {"attention", "attention.rates"};
  asked.statistics["baseline"] = {"attention.rate=1/4"};
  CHECK(costs.error(asked) ==
        "--baseline attention.rate=1/4: found the parameter attention.rate, expected one of the rows (attention, "
        "attention.rates) or of the columns (task.length); did you mean attention.rates=1/4?");
  asked.statistics["baseline"] = {"attention=softmax", "task.length=100"};
  CHECK(
      costs.error(asked) ==
      "--baseline attention=softmax task.length=100: found a parameter of the rows and one of the columns, expected all of the "
      "rows (attention, attention.rates) or all of the columns (task.length); leave one out");
  asked.rows = {"attention", "task.length"};
  asked.columns = {"train.batch"};
  asked.statistics["baseline"] = {"train.batch=2"};
  CHECK(costs.error(asked) == "--baseline train.batch=2: found no column that has it, expected one of train.batch=1");
  asked.rows = {"task.length"};
  asked.columns = {"attention", "attention.rates"};
  asked.statistics["baseline"] = {"softmax"};
  CHECK(has(costs.error(asked), "expected PATH=VALUE"));
  asked.statistics.erase("baseline");
  asked.statistics["exponent"];
  asked.columns = {"attention"};
  asked.rows = {"task.length"};
  CHECK(has(costs.error(asked), "--exponent: the columns are attention"));
  asked.statistics.erase("exponent");
  asked.published = true;
  CHECK_FALSE(costs.table(asked).published);  // the table has no empty column
  CHECK(costs.table(asked).notes ==
        std::vector<std::string>{"no [[published]] of a study gives these metrics for these trials"});
}

TEST_CASE("published numbers are replaced when the study runs again") {
  const Costs costs;
  {
    Store store(costs.file);
    const auto id = put(store, "study", costs.trials);
    store.put_published(id, {{key_of(costs.trials[0]), "train/step_time", 7, "Another"}});
  }
  auto asked = request({"attention"}, {"task.length"});
  asked.published = true;
  const auto table = costs.table(asked);
  CHECK(table.cell(0, 0, 0).published == 7);
  CHECK(std::isnan(table.cell(0, 0, 1).published));
}
