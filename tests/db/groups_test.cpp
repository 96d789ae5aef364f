// Metrics over a group of the examples, and the metric that judges trials.
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "core/util/flatten.h"
#include "db/questions/attempts/list_attempts.h"
#include "db/questions/exports/query.h"
#include "db/questions/tables/make_table.h"
#include "db/report/printers.h"
#include "db/report/summary.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

nlohmann::json on(const std::string& task, const std::string& attention, int seed) {
  auto resolved = trial(attention, {}, seed);
  resolved["task"]["plugin"] = task;
  return resolved;
}

/// A history of three tasks: a classifier, a language model, and recall with groups by number of pairs and by place.
struct Tasks {
  Folder folder;
  std::filesystem::path file = folder / "a.db";
  Store store{file};

  Tasks() {
    store.put_metrics({{"test/bits_per_byte", "bits", "min", "of the test split"}});
    for (const int pairs : {4, 8, 16})
      store.put_metrics({{"test/accuracy@pairs=" + std::to_string(pairs), "%", "max", "of a group"}});
    store.put_metrics({{"test/accuracy@place=end", "%", "max", "of a group"}});
    add("image", {{"test/accuracy", 80}}, "test/accuracy");
    add("lm", {{"test/accuracy", 30}, {"test/bits_per_byte", 1.9}}, "test/bits_per_byte");
    add("recall",
        {{"test/accuracy", 60},
         {"test/accuracy@pairs=4", 90},
         {"test/accuracy@pairs=8", 70},
         {"test/accuracy@pairs=16", 20},
         {"test/accuracy@place=end", 50}},
        "test/accuracy");
  }
  void add(const std::string& task, const std::map<std::string, double>& results, const std::string& main_metric) {
    const auto resolved = on(task, "softmax", 7);
    put(store, task, {resolved});
    auto attempt = done(resolved, 0);
    attempt.results = results;
    attempt.main_metric = main_metric;
    store.put_attempt(attempt);
  }
  Table table(const std::string& experiment, const std::vector<std::string>& metrics = {}) const {
    return make_table(Reader(file),
                      {experiment.empty() ? std::vector<std::string>() : std::vector{experiment}, {}, {}, metrics});
  }
  std::string error(const std::string& metric) const {
    return error_of([&] { table("recall", {metric}); });
  }
  std::vector<std::string> names(const std::string& experiment, const std::vector<std::string>& metrics = {}) const {
    std::vector<std::string> all;
    for (const auto& metric : table(experiment, metrics).metrics) all.push_back(metric.name);
    return all;
  }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a metric of a group is an ordinary metric, and a name without a size selects all groups, by size") {
  const Tasks tasks;
  const auto table = tasks.table("recall", {"test/accuracy@pairs=8"});
  CHECK(table.cell(0, 0, 0).mean == 70);
  CHECK(has(to_text(table, Format::kText), "test/accuracy@pairs=8 (%)"));
  CHECK(has(to_text(table, Format::kCsv), "\ntest/accuracy@pairs=8,%,70,,,1,"));
  CHECK(nlohmann::json::parse(to_text(table, Format::kJson))["cells"][0]["metric"] == "test/accuracy@pairs=8");
  CHECK(tasks.names("recall", {"test/accuracy@pairs"}) ==
        Names{"test/accuracy@pairs=4", "test/accuracy@pairs=8", "test/accuracy@pairs=16"});
  std::string rows;
  run_query(tasks.file, "SELECT \"test/accuracy@pairs=16\" FROM trials WHERE task = 'recall'", Format::kCsv,
            [&](std::string_view part) { rows += part; });
  CHECK(rows == "test/accuracy@pairs=16\n20\n");
}

TEST_CASE("a missing group is refused with the existing groups") {
  const Tasks tasks;
  const auto pairs = "(did you mean test/accuracy@pairs=4, test/accuracy@pairs=8, test/accuracy@pairs=16?)";
  CHECK(has(tasks.error("test/accuracy@pairs=5"), pairs));
  CHECK(has(tasks.error("test/accuracy@pears=8"),
            "(did you mean test/accuracy@pairs=4, test/accuracy@pairs=8, test/accuracy@pairs=16, test/accuracy@place=end?)"));
  CHECK(has(tasks.error("accuracy"), "(did you mean test/accuracy, dev/accuracy?)"));
  CHECK(has(tasks.error("qqqqqqqqqqqqqq"), "(known: dev/accuracy, test/accuracy, test/bits_per_byte, train/step_time)"));
}

TEST_CASE("every trial is shown by the metric that judges it") {
  Tasks tasks;
  CHECK(tasks.names("image") == Names{"test/accuracy"});
  CHECK(tasks.names("lm") == Names{"test/bits_per_byte"});
  CHECK(tasks.names("recall") == Names{"test/accuracy"});
  CHECK(tasks.names("") == Names{"test/accuracy", "test/bits_per_byte"});
  const auto list = list_attempts(Reader(tasks.file), {});
  CHECK(list.metrics.size() == 2);
  REQUIRE(list.lines.size() == 3);
  CHECK(list.lines[1].metric == "test/bits_per_byte");
  CHECK(list.lines[1].value == 1.9);
  CHECK(list.lines[2].metric == "test/accuracy");
  CHECK(list.lines[2].value == 80);
  // A table can be made of a metric whose best value is the smallest.
  const auto other = on("lm", "linear", 7);
  put(tasks.store, "lm", {on("lm", "softmax", 7), other});
  auto attempt = done(other, 0);
  attempt.results = {{"test/bits_per_byte", 2.5}};
  attempt.main_metric = "test/bits_per_byte";
  tasks.store.put_attempt(attempt);
  const auto table = tasks.table("lm");
  REQUIRE(table.rows.size() == 2);
  CHECK(table.cell(0, 0, 0).mean + table.cell(1, 0, 0).mean == Approx(1.9 + 2.5));
}

TEST_CASE("a metric of a group is shown only on request") {
  Tasks tasks;
  tasks.add("slices", {{"test/accuracy@pairs=4", 90}}, "");
  CHECK(tasks.table("slices").cell(0, 0, 0).n == 0);
  tasks.add("marked", {{"test/accuracy@pairs=4", 90}, {"test/bits_per_byte", 2}}, "test/accuracy@pairs=4");
  CHECK(tasks.names("marked") == Names{"test/bits_per_byte"});
}

TEST_CASE("a path without its section is refused with the full path") {
  const Tasks tasks;
  auto resolved = on("image", "compressed", 1);
  resolved["attention"]["compression"] = {{"plugin", "rbf"}, {"basis", 4}};
  Store store(tasks.file);
  put(store, "mixtures", {resolved});
  const auto rows = [&](const std::string& path) {
    return error_of([&] { make_table(Reader(tasks.file), {{}, {path}, {}, {}}); });
  };
  CHECK(has(rows("compression"), "no trial has a parameter \"compression\" (did you mean attention.compression?)"));
  CHECK(has(rows("compression.plugin"), "(did you mean attention.compression?)"));
  CHECK(has(rows("compression.basis"), "(did you mean attention.compression.basis?)"));
  CHECK(make_table(Reader(tasks.file), {{"mixtures"}, {"attention.compression.plugin"}, {}, {}}).rows[0][0] == "rbf");
  CHECK(has(error_of([&] { run_query(tasks.file, "SELECT compression FROM trials", Format::kCsv, [](std::string_view) {}); }),
            "(did you mean \"attention.compression\"?)"));
}

TEST_CASE("a cell stores its samples, and their summary is correct") {
  Folder folder;
  Store store(folder / "a.db");
  std::vector<nlohmann::json> trials;
  for (const int seed : {3, 1, 2}) trials.push_back(trial("softmax", {}, seed));
  put(store, "study", trials);
  for (std::size_t i = 0; i < 2; ++i) store.put_attempt(done(trials[i], 70 + 4 * static_cast<double>(i)));
  store.put_attempt(failed(trials[2], "signal 11\nand more"));
  const auto table = make_table(Reader(folder / "a.db"), {{"study"}, {"attention"}, {}, {}});
  const auto& cell = table.cell(0, 0, 0);
  REQUIRE(cell.samples.size() == 2);
  CHECK(cell.samples[0].seed == 3);
  CHECK(cell.samples[1].seed == 1);
  CHECK(cell.samples[1].value == 74);
  CHECK(cell.failures.at(0).reason == "signal 11\nand more");
  CHECK(nlohmann::json::parse(to_text(table, Format::kJson))["cells"][0]["samples"].dump() == "[[3,70.0],[1,74.0]]");
  const auto summary = summary_of(cell.samples);
  CHECK(summary.n == 2);
  CHECK(summary.mean == 72);
  CHECK(summary.deviation == Approx(std::sqrt(8.0)));
  CHECK(summary_of({}).n == 0);
  CHECK(std::isnan(summary_of({}).mean));
  CHECK(std::isnan(summary_of(std::span(cell.samples).first(1)).deviation));
}

TEST_CASE("a list of sections has one path for each section, counted from 0") {
  auto resolved = on("image", "mixed", 1);
  resolved["attention"]["parts"] = {{{"plugin", "local"}, {"heads", 2}}, {{"plugin", "linear"}, {"heads", 6}}};
  const auto leaves = flatten(resolved);
  CHECK(leaves.at("attention.parts.0") == "local");
  CHECK(leaves.at("attention.parts.1.heads") == 6);
  CHECK(history_path("attention.parts.1.plugin") == "attention.parts.1");
}
