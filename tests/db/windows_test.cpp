// `ablate windows`: results at all values from which dev chooses ([grid.tune]).
#include <cmath>
#include <nlohmann/json.hpp>

#include "db/questions/tables/rate_windows.h"
#include "db/report/answer_rows.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

struct Run {
  std::string attention;
  double rate;
  int seed;
  double dev, test;  ///< NaN: the trial failed
  bool shuffle = true;
};

constexpr double kFailed = std::numeric_limits<double>::quiet_NaN();

/// A study of attentions that tunes the learning rate, and shuffling if that varies.
class TunedStudy {
 public:
  explicit TunedStudy(const std::vector<Run>& runs, const std::string& direction = "max") {
    Store store(file());
    store.put_metrics({{"test/accuracy", "%", direction, ""}, {"dev/accuracy", "%", direction, ""}});
    store.put_metrics({{"test/loss", "nats", "min", ""}, {"dev/loss", "nats", "min", ""}});
    const auto experiment = store.put_experiment({"study", "", "study.toml", "[grid]", {}});
    std::vector<GridTrial> grid;
    std::map<std::string, std::int64_t> cells;
    for (const auto& run : runs)
      grid.push_back({key_of(settings(run)), settings(run), cells.try_emplace(run.attention, cells.size()).first->second});
    store.put_trials(experiment, grid);
    for (const auto& run : runs) {
      auto attempt = std::isnan(run.dev) ? failed(settings(run), "diverged") : done(settings(run), run.test);
      if (!std::isnan(run.dev))
        attempt.results = {{"dev/accuracy", run.dev}, {"test/accuracy", run.test}, {"dev/loss", run.dev}, {"test/loss", 1}};
      attempt.main_metric = "test/accuracy";
      store.put_attempt(attempt);
    }
  }
  RateWindows windows(std::optional<double> within = {}, const TableRequest& request = {.experiments = {"study"}}) const {
    return rate_windows(Reader(file()), request, within);
  }

 private:
  static nlohmann::json settings(const Run& run) {
    auto resolved = trial(run.attention, {}, run.seed);
    resolved["train"]["learning_rate"] = run.rate;
    resolved["train"]["shuffle"] = run.shuffle;
    return resolved;
  }
  std::filesystem::path file() const { return folder_ / "a.db"; }
  Folder folder_;
};

/// Returns runs of one seed, one run for each dev number. Each rate is twice the rate before.
std::vector<Run> curve(const std::vector<double>& devs) {
  std::vector<Run> runs;
  double rate = 1e-3;
  for (const double dev : devs) {
    runs.push_back({"softmax", rate, 1, dev, 100 - dev});
    rate *= 2;
  }
  return runs;
}

std::string within_of(const RateWindow& window) {
  std::string text;
  for (const auto& point : window.points) text += point.within ? '|' : '.';
  return text;
}

}  // namespace

TEST_CASE("windows: each row has all values in order, with the value that dev chose and the window around it") {
  const TunedStudy study({{"softmax", 1e-2, 1, 70, 98},
                          {"softmax", 1e-2, 2, 70, 98},
                          {"softmax", 1e-3, 1, 90, 99},
                          {"softmax", 1e-3, 2, 60, 99},
                          {"softmax", 3e-3, 1, 80, 70},
                          {"softmax", 3e-3, 2, 82, 72},
                          {"linear", 1e-2, 1, 65, 40},
                          {"linear", 1e-2, 2, 66, 42},
                          {"linear", 1e-3, 1, 50, 97},
                          {"linear", 1e-3, 2, 50, 97},
                          {"linear", 3e-3, 1, 60, 96},
                          {"linear", 3e-3, 2, 60, 96}});
  const auto all = study.windows();
  REQUIRE(all.windows.size() == 2);
  REQUIRE(all.metrics.size() == 2);
  CHECK(all.metrics[0].name == "dev/accuracy");
  CHECK(all.label_paths == std::vector<std::string>{"attention"});
  const auto& softmax = all.windows[0];
  CHECK(softmax.labels == std::vector<std::string>{"softmax"});
  CHECK(softmax.path == "train.learning_rate");
  REQUIRE(softmax.points.size() == 3);
  CHECK(softmax.points[0].number == 1e-3);
  CHECK(softmax.points[2].number == 1e-2);
  CHECK(softmax.points[0].cells[0].mean == Approx(75));
  CHECK(softmax.points[0].cells[0].deviation == Approx(std::sqrt(450.0)));
  CHECK(softmax.points[0].cells[1].mean == Approx(99));
  CHECK(softmax.points[1].chosen);
  CHECK_FALSE(softmax.points[0].chosen);
  CHECK_FALSE(softmax.edge);
  CHECK(softmax.tolerance == Approx(std::sqrt(2.0)));  // the deviation of 80 and 82
  CHECK(within_of(softmax) == ".|.");
  CHECK(all.windows[1].edge);
  CHECK(all.windows[1].points[2].chosen);

  CHECK(within_of(study.windows(6).windows[0]) == "||.");
  CHECK(study.windows(6).windows[0].factor == Approx(3));
  CHECK(within_of(study.windows(11).windows[0]) == "|||");
  CHECK(study.windows(11).windows[0].low == "0.001");
  CHECK(study.windows(11).windows[0].high == "0.01");
}

TEST_CASE("windows: a window ends at the first neighbour that is outside the tolerance or incomplete") {
  CHECK(within_of(TunedStudy(curve({80, 50, 81, 80.5, 60})).windows(2).windows[0]) == "..||.");
  CHECK(within_of(TunedStudy(curve({80, kFailed, 81, 80.5, 60})).windows(2).windows[0]) == "..||.");
  CHECK(within_of(TunedStudy(curve({80, 50, 49, 50.5, 60}), "min").windows(2).windows[0]) == ".|||.");
  const TunedStudy survivor({{"softmax", 1e-3, 1, 80, 20},
                             {"softmax", 1e-3, 2, kFailed, 20},
                             {"softmax", 2e-3, 1, 79, 21},
                             {"softmax", 2e-3, 2, 79.5, 21}});
  CHECK(within_of(survivor.windows(2).windows[0]) == ".|");  // the mean of the only surviving seed is not the value's mean
  const auto one = TunedStudy(curve({80, 50, 81})).windows();
  CHECK(within_of(one.windows[0]) == "...");
  CHECK(has(one.windows[0].unknown, "one seed"));
}

TEST_CASE("windows: the window uses the metric by which dev chose, for any requested metric") {
  // By the loss, which equals the accuracy here, the first value would be the best.
  const auto all = TunedStudy(curve({50, 80, 81, 60})).windows(2, {.experiments = {"study"}, .metrics = {"test/loss"}});
  REQUIRE(all.windows.size() == 1);
  const auto& window = all.windows[0];
  CHECK(window.judge == "dev/accuracy");
  CHECK(within_of(window) == ".||.");
  CHECK(window.points[2].chosen);
  std::vector<std::string> names;
  for (const auto& metric : all.metrics) names.push_back(metric.name);
  CHECK(names == std::vector<std::string>{"dev/loss", "test/loss", "dev/accuracy"});
}

TEST_CASE("windows: with two tuned parameters, the other parameter is chosen again at each value") {
  std::vector<Run> runs;
  const double devs[2][3] = {{60, 70, 50}, {65, 55, 52}};
  for (const bool shuffle : {false, true})
    for (std::size_t i = 0; i < 3; ++i)
      runs.push_back({"softmax", 1e-3 * std::pow(2.0, static_cast<double>(i)), 1, devs[shuffle ? 1 : 0][i], 1, shuffle});
  const auto all = TunedStudy(runs).windows(6);
  REQUIRE(all.windows.size() == 2);
  const auto& rates = all.windows[0].path == "train.shuffle" ? all.windows[1] : all.windows[0];
  const auto& shuffles = all.windows[0].path == "train.shuffle" ? all.windows[0] : all.windows[1];
  REQUIRE(rates.points.size() == 3);
  CHECK(rates.points[0].cells[0].mean == Approx(65));  // from runs with shuffling
  CHECK(rates.points[1].cells[0].mean == Approx(70));  // from runs without shuffling
  CHECK(rates.points[2].cells[0].mean == Approx(52));
  CHECK(within_of(rates) == "||.");
  REQUIRE(shuffles.points.size() == 2);
  CHECK(shuffles.points[0].cells[0].mean + shuffles.points[1].cells[0].mean == Approx(135));
}

TEST_CASE("windows: rows for people and for programs, with failures") {
  const auto all = TunedStudy(curve({80, kFailed, 81, 80.5, 60})).windows(2);
  const auto people = window_rows(all, true), data = window_rows(all, false);
  REQUIRE(people.rows.size() == 5);
  for (const auto* rows : {&people, &data})
    for (const auto& row : rows->rows) CHECK(row.size() == rows->names.size());
  CHECK(people.rows[1].at(people.names.size() - 3) == "failed: diverged");
  CHECK(people.rows[2].back() == "0.004 to 0.008 (x 2)");
  CHECK(people.rows[3].back() == "within");
  CHECK(data.rows[2][1] == 0.004);
  CHECK(data.rows[1][2].is_null());
}

TEST_CASE("windows: a study without tuned parameters is refused") {
  const TunedStudy study({{"softmax", 1e-3, 1, 90, 99}, {"linear", 1e-3, 1, 90, 99}});
  CHECK(has(error_of([&] { study.windows(); }), "found no parameter that dev chooses in study"));
}
