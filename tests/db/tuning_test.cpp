// Tables of a study whose values are chosen by dev ([grid.tune]).
#include <cmath>
#include <nlohmann/json.hpp>

#include "db/report/printers.h"
#include "tests/db/tuned_study.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

using Labels = std::vector<std::vector<std::string>>;

const std::string kChosen =
    "study: 4 trials; mean ± standard deviation of n = 2\n\n"
    "attention  train.learning_rate (of 3)  test/accuracy (%)\n"
    "softmax    0.003                       71.0 ± 1.4\n"
    "linear     0.01 ^                      41.0 ± 1.4\n"
    "\n"
    "note: train.learning_rate: the tried value with the best mean of dev/accuracy over seeds (the first of equal means); "
    "results on test are read only for this value. A parameter that is named in --rows or --cols shows all values\n"
    "note: ^ the largest or the smallest tried value (1 of 2 choices): a better value may lie beyond it\n"
    "note: values are compared on 2 seeds: without one of them, another value wins in 1 of 2 choices\n"
    "note: " +
    kOneBudget + "\n";

}  // namespace

TEST_CASE("each cell shows the value with the best mean on dev, and only the test numbers of this value") {
  const Tuned study(kPoints);
  const auto table = study.table();
  CHECK(table.row_paths == std::vector<std::string>{"attention"});
  CHECK(to_text(table, Format::kText) == kChosen);
  CHECK(has(to_text(table, Format::kMarkdown),
            "| attention | train.learning_rate (of 3) | test/accuracy (%) |\n| --- | --- | --- |\n| softmax | 0.003 | 71.0 ± "
            "1.4 |\n| linear | 0.01 ^ | 41.0 ± 1.4 |\n"));
  CHECK(to_text(table, Format::kCsv) ==
        "attention,train.learning_rate,train.learning_rate of,train.learning_rate compared,train.learning_rate "
        "edge,metric,unit,mean,sd,interval,n,failed,reason,published,ratio,published_ratio,unsettled,checked\n"
        "softmax,0.003,3,3,false,test/accuracy,%,71,1.4142135623730951,,2,0,,,,,false,\n"
        "linear,0.01,3,3,true,test/accuracy,%,41,1.4142135623730951,,2,0,,,,,false,\n");
  const auto json = nlohmann::json::parse(to_text(table, Format::kJson));
  CHECK(json["tuned"] == nlohmann::json{"train.learning_rate"});
  CHECK(json["cells"][1]["tuned"]["train.learning_rate"] ==
        nlohmann::json({{"values", {0.01}}, {"of", 3}, {"compared", 3}, {"edge", true}}));
  CHECK(json["cells"][0]["samples"] == nlohmann::json({{1, 70.0}, {2, 72.0}}));
  CHECK(json["rows"] == nlohmann::json{"attention"});
}

TEST_CASE("test numbers of values that are not chosen have no effect") {
  const std::string others =
      " WHERE metric = (SELECT id FROM metric WHERE name = 'test/accuracy') AND attempt IN (SELECT a.id FROM attempt a JOIN "
      "resolved r ON r.trial = a.trial WHERE (json_extract(r.json, '$.attention.plugin') || "
      "json_extract(r.json, '$.train.learning_rate')) NOT IN ('softmax0.003', 'linear0.01'))";
  for (const auto& change : {"UPDATE result SET value = NULL" + others, "UPDATE result SET value = -1e300" + others,
                             "UPDATE result SET value = 1e300" + others, "DELETE FROM result" + others}) {
    const Tuned study(kPoints);
    study.change(change);
    INFO(change);
    for (const auto format : {Format::kText, Format::kCsv, Format::kJson})
      CHECK(to_text(study.table(), format) == to_text(Tuned(kPoints).table(), format));
    CHECK(to_text(study.table(), Format::kText) == kChosen);
  }
}

TEST_CASE("the choice follows the dev metric's direction; among equal values, the first value is chosen") {
  CHECK(Tuned(kPoints, "min").table().chosen.at(0).values.at(0).text == "0.01");  // 70 < 75 < 81
  auto equal = kPoints;
  for (auto& point : equal) point.dev = 50;
  for (auto& rate : {&equal[0], &equal[1]}) rate->rate = 2e-3;  // listed before 3e-3 and 1e-2
  const auto table = Tuned(equal).table();
  CHECK(table.choice(0, 0, 0).values.at(0).text == "0.002");
  CHECK(table.choice(1, 0, 0).values.at(0).text == "0.001");
}

TEST_CASE("a tuned parameter that is named in rows or columns is an ordinary parameter") {
  const Tuned study(kPoints);
  const auto rows = study.table({{"study"}, {"attention", "train.learning_rate"}, {}, {}});
  CHECK(rows.rows.size() == 6);
  CHECK(rows.tuned_paths.empty());
  CHECK(rows.notes == std::vector<std::string>{kOneBudget});
  const auto columns = study.table({{"study"}, {}, {"train.learning_rate"}, {}});
  CHECK(columns.columns == Labels{{"0.001"}, {"0.003"}, {"0.01"}});
  CHECK(columns.cell(1, 0, 0).mean == 97);
  // The same holds in a table of the whole history, and in a history that does not record cells.
  CHECK(study.table({{}, {}, {}, {}}).rows.size() == 6);
  CHECK(Tuned(kPoints, "max", false).table().rows.size() == 6);
}

TEST_CASE("a value takes part in the choice once all of its seeds are done") {
  auto points = kPoints;
  points[3].dev = kNone;                   // softmax, 0.003: the second seed is missing
  points[8].dev = points[10].dev = kNone;  // linear: two values lack a seed
  Tuned study(points);
  {
    Store store(study.file());
    store.put_attempt(failed(Tuned::settings(points[8]), "loss is nan at step 12"));
  }
  auto table = study.table();
  CHECK(to_text(table, Format::kText) ==
        "study: 4 trials; mean ± standard deviation of n = 2\n\n"
        "attention  train.learning_rate (of 3)  test/accuracy (%)\n"
        "softmax    0.001 ^                     99.00 ± 0.00\n"
        "linear     0.001 ^                     97.00 ± 0.00\n"
        "\n"
        "note: train.learning_rate: the tried value with the best mean of dev/accuracy over seeds (the first of equal means); "
        "results on test are read only for this value. A parameter that is named in --rows or --cols shows all values\n"
        "note: ^ the largest or the smallest tried value (2 of 2 choices): a better value may lie beyond it\n"
        "note: values are compared on 2 seeds: without one of them, another value wins in 1 of 2 choices\n"
        "note: not compared, because some of their trials are not done: attention=softmax train.learning_rate=0.003 (1 "
        "missing), attention=linear train.learning_rate=0.003 (1 failed), attention=linear train.learning_rate=0.01 (1 "
        "missing)\n"
        "note: " +
            kOneBudget + "\n");
  CHECK(table.choice(1, 0, 0).of == 3);
  CHECK(table.choice(1, 0, 0).compared == 1);

  for (auto& point : points)
    if (point.attention == "linear" && point.seed == 1) point.dev = kNone;
  const Tuned open(points);
  table = open.table();
  CHECK(table.choice(1, 0, 0).values.empty());
  CHECK(table.cell(1, 0, 0).n == 0);  // done seeds are not shown yet either
  const auto text = to_text(table, Format::kText);
  CHECK(has(text, "  undecided  "));
  CHECK(has(text, "  missing 3/6\n"));
  CHECK(has(text, "note: 1 choice is open: no value has all of its trials done, and no result is shown\n"));
  const auto json = nlohmann::json::parse(to_text(table, Format::kJson));
  CHECK(json["cells"][1]["tuned"]["train.learning_rate"]["values"].empty());
  CHECK(json["cells"][1]["samples"].empty());
  CHECK(has(to_text(table, Format::kCsv), "linear,,3,0,false,test/accuracy,%,,,,0,3,missing 3/6,"));
}

TEST_CASE("with columns, each row has a choice in each column; a row that averages over cells has a choice in each cell") {
  std::vector<TunedPoint> points;
  for (const int pool : {1, 2})
    for (const double rate : {1e-3, 3e-3, 1e-2})
      for (const auto* attention : {"softmax", "linear"}) {
        const bool best = rate == (pool == 1 ? 3e-3 : 1e-2);
        points.push_back({attention, rate, 1, best ? 80.0 : 20.0, best ? 50.0 + pool : 0, pool});
      }
  const Tuned study(points);
  CHECK(has(to_text(study.table({{"study"}, {}, {"task.pool"}, {}}), Format::kMarkdown),
            "| attention | train.learning_rate (of 3) task.pool=1 | task.pool=1 | train.learning_rate (of 3) task.pool=2 | "
            "task.pool=2 |\n| --- | --- | --- | --- | --- |\n| softmax | 0.003 | 51.00 | 0.01 ^ | 52.00 |\n"));
  const auto table = study.table({{"study"}, {"attention"}, {}, {}});
  CHECK(table.cell(0, 0, 0).mean == 51.5);
  CHECK(has(to_text(table, Format::kText), "softmax    0.003, 0.01 ^"));
  CHECK(has(to_text(table, Format::kCsv), "softmax,0.003 0.01,3,3,true,"));
  CHECK(table.notes.at(2) == "values are compared on one seed: another seed may choose another value");
  CHECK(table.notes.at(3) == "a cell averages over task.pool = 1, 2; add it to --rows");
}

TEST_CASE("if cells have different numbers of values, each cell shows its own number") {
  auto points = kPoints;
  std::erase_if(points, [](const TunedPoint& point) { return point.attention == "linear" && point.rate == 1e-3; });
  CHECK(has(to_text(Tuned(points).table(), Format::kText),
            "attention  train.learning_rate  test/accuracy (%)\n"
            "softmax    0.003 (of 3)         71.0 ± 1.4\n"
            "linear     0.01 (of 2) ^        41.0 ± 1.4\n"));
}

TEST_CASE("a plugin can be chosen as well, together with its parameters") {
  Folder folder;
  const auto file = folder / "a.db";
  {
    Store store(file);
    store.put_metrics(usual_metrics());
    const auto experiment = store.put_experiment({"study", "", "", "", {}});
    std::vector<GridTrial> grid;
    for (const auto& [attention, rates] :
         {std::pair<std::string, std::vector<std::string>>{"softmax", {}}, {"adamra", {"1/2"}}, {"adamra", {"1/2", "1/4"}}})
      for (const int pool : {1, 2}) {
        auto resolved = trial(attention, rates, 1);
        resolved["task"]["pool"] = pool;
        grid.push_back({key_of(resolved), resolved, pool});
      }
    store.put_trials(experiment, grid);
    const double dev[] = {70, 10, 50, 20, 60, 30}, test[] = {1, 9, 9, 9, 9, 2};
    for (std::size_t i = 0; i < grid.size(); ++i) {
      auto attempt = done(grid[i].resolved.get(), test[i]);
      attempt.results["dev/accuracy"] = dev[i];
      attempt.main_metric = "test/accuracy";
      store.put_attempt(attempt);
    }
  }
  const auto table = make_table(Reader(file), {{"study"}, {}, {}, {"test/accuracy"}});
  const auto text = to_text(table, Format::kMarkdown);
  CHECK(has(text, "| task.pool | attention (of 2) | attention.rates (of 3) | test/accuracy (%) |\n"));
  CHECK(has(text, "| 1 | softmax | - | 1"));
  CHECK(has(text, "| 2 | adamra | 1/2,1/4 | 2"));
  CHECK_FALSE(table.choice(0, 0, 1).edge);
  // If --rows names the plugin, each plugin has its own row, and rates are chosen for each plugin.
  CHECK(has(to_text(make_table(Reader(file), {{"study"}, {"task.pool", "attention"}, {}, {"test/accuracy"}}), Format::kText),
            "1          adamra     1/2,1/4"));
}

TEST_CASE("a trial that was imported without a cell does not change the other choices, and is shown without a choice") {
  auto points = kPoints;
  points.push_back({"softmax", 1e-2, 7, 99, 11, 1, true});  // better on dev than all others
  points.push_back({"local", 2e-3, 1, kNone, 0, 1, true});
  const auto table = Tuned(points).table({{"study"}, {"attention"}, {}, {}});
  CHECK(table.tuned_paths == std::vector<std::string>{"train.learning_rate"});
  REQUIRE(table.rows == Labels{{"softmax"}, {"linear"}, {"local"}});
  const auto values_of = [&](std::size_t row) {
    std::vector<double> values;
    for (const auto& sample : table.cell(row, 0, 0).samples) values.push_back(sample.value);
    return values;
  };
  CHECK(values_of(0) == std::vector<double>{70, 72, 11});
  CHECK(values_of(1) == std::vector<double>{40, 42});
  CHECK(table.cell(0, 0, 0).settings == 2);
  CHECK(table.cell(2, 0, 0).failures.at(0).outcome == "missing");
  const auto text = to_text(table, Format::kText);
  CHECK(has(text, "softmax    0.003, 0.01 (of 3)"));
  CHECK(has(text, "linear     0.01 (of 3) ^"));
  CHECK(has(text, "local      0.002 (of 1)"));
  CHECK(has(text, "note: shown, but not compared: 2 trials imported without the study's grid\n"));
}
