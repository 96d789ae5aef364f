// `ablate effects` and `ablate windows` with a user's arguments.
#include <nlohmann/json.hpp>

#include "tests/db/commands.h"
#include "tools/ablate/keeping/keeping.h"

using namespace ablate;
using namespace ablate::db;

namespace {

/// Adds an experiment to Commands' history: a full grid of two attentions, two pools and two seeds, with accuracies 52 to 57.
class Grids : public Commands {
 public:
  Grids() {
    Store store(file());
    std::vector<nlohmann::json> trials;
    std::vector<double> values;
    for (const int seed : {1, 2})
      for (const int pool : {1, 3})
        for (const auto* attention : {"linear", "softmax"}) {
          auto resolved = trial(attention, {}, seed);
          resolved["task"]["pool"] = pool;
          trials.push_back(resolved);
          values.push_back(50 + seed + pool + (attention == std::string("softmax") ? 2 : 0));
        }
    put(store, "grid", trials);
    for (std::size_t i = 0; i < trials.size(); ++i) store.put_attempt(done(trials[i], values[i]));
  }
};

}  // namespace

TEST_CASE("ablate effects: means and importance, or changes, in every format") {
  Grids run;
  CHECK(run("effects grid --metric test/accuracy --format csv") ==
        "metric,parameter,importance,value,mean,low,high,n,without number,why not known\n"
        "test/accuracy,attention,0.5,linear,53.5,53.5,53.5,4,0,\n"
        "test/accuracy,attention,0.5,softmax,55.5,55.5,55.5,4,0,\n"
        "test/accuracy,task.pool,0.5,1,53.5,53.5,53.5,4,0,\n"
        "test/accuracy,task.pool,0.5,3,55.5,55.5,55.5,4,0,\n");
  CHECK(run.exit_code == 0);
  CHECK(has(run.errors, "note: means over n matched settings"));
  CHECK(has(run("effects grid --metric test/accuracy"), "attention  50.0 %      linear"));
  const auto changes =
      nlohmann::json::parse(run("effects grid --metric test/accuracy --reference attention=linear,task.pool=1 --format json"));
  REQUIRE(changes.size() == 2);
  CHECK(changes[0]["to"] == "softmax");
  CHECK(changes[0]["difference"] == 2);
  CHECK(changes[1]["parameter"] == "task.pool");
  CHECK(changes[0]["significance"] == "too few seeds");
  CHECK(changes[1]["significance"] == "untested");  // a task with another pool is another task
  for (const auto* format : {"text", "markdown", "csv", "json", "latex", "typst", "html"})
    CHECK(has(run("effects grid --format " + std::string(format)), "softmax"));
}

TEST_CASE("ablate effects: the means of imported tuned cells are the means of their own trials") {
  Commands run;
  run.add = [](CLI::App& app, const DatabaseFile& database, int& exit_code) {
    add_questions(app, database, exit_code);
    add_import(app, database, exit_code);
  };
  run("import " ABLATE_SOURCE_DIR "/experiments/results/compression-lookup.csv");
  REQUIRE(run.exit_code == 0);
  const auto rows = nlohmann::json::parse(
      run("effects compression-lookup --metric test/accuracy --where attention=compressed --format json"));
  const auto own = nlohmann::json::parse(
      run("table compression-lookup --rows attention.compression --metric test/accuracy --where attention=compressed --format "
          "json"));
  std::size_t compared = 0;
  for (const auto& row : rows)
    for (const auto& cell : own["cells"])
      if (row["parameter"] == "attention.compression" && row["value"] == cell["row"]["attention.compression"]) {
        double sum = 0;
        for (const auto& sample : cell["samples"]) sum += sample[1].get<double>();
        CHECK(row["n"] == 72);
        CHECK(row["mean"].get<double>() == Approx(sum / 72).epsilon(1e-12));  // every value has run with all settings
        ++compared;
      }
  CHECK(compared == 5);
}

TEST_CASE("ablate effects and windows refuse impossible queries, and suggest the nearest names") {
  Grids run;
  CHECK(has(run("effects"), "has 2 experiments"));
  CHECK(has(run("effects grit"), "grid"));
  CHECK(has(run("effects grid --metric test/acuracy"), "did you mean test/accuracy?"));
  CHECK(has(run("effects grid --reference attention=linaer,task.pool=1"), "did you mean attention=linear?"));
  CHECK(has(run("effects grid --reference atention=linear"), "did you mean attention?"));
  CHECK(
      has(run("effects grid --reference attention=linear"), "found several settings, expected one; add a value of task.pool"));
  CHECK(has(run("effects grid --where pool=9"), "task.pool"));
  CHECK(has(run("effects grid --format jsn"), "did you mean json?"));
  CHECK(has(run("windows"), "has 2 experiments"));
  CHECK(has(run("windows grid"), "found no parameter that dev chooses in grid"));
  CHECK(has(run("windows grid --within -1"), "expected a number of at least 0"));
  CHECK(has(run("windows grid --within x"), "expected a number of at least 0"));
  CHECK(run.exit_code == -1);
}
