// Figures of a grid's varied parameters: heat maps, rate windows, effects.
#include <cmath>

#include "db/questions/figures/figures.h"
#include "tests/db/costs.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

bool has_note(const Figure& figure, const std::string& part) {
  for (const auto& note : figure.notes)
    if (has(note, part)) return true;
  return false;
}

}  // namespace

TEST_CASE("a heat map has the first row at the top, and lists cells without a value") {
  Folder folder;
  std::vector<nlohmann::json> trials;
  for (const double rate : {0.001, 0.01})
    for (const int length : {10, 20}) {
      auto one = at_length("softmax", {}, length);
      one["train"]["learning_rate"] = rate;
      trials.push_back(one);
    }
  {
    Store store(folder / "a.db");
    put(store, "study", trials);
    for (std::size_t i = 0; i < 3; ++i) store.put_attempt(done(trials[i], 10.0 * static_cast<double>(i)));
    store.put_attempt(failed(trials[3], "out of memory"));
  }
  const Reader reader(folder / "a.db");
  TableRequest request{.experiments = {"study"}, .rows = {"train.learning_rate"}, .columns = {"task.length"}};
  request.metrics = {"test/accuracy"};
  const auto figure = make_figure(reader, figures::heat, {request});
  const auto& panel = figure.panels.at(0);
  CHECK(panel.x.names == std::vector<std::string>{"10", "20"});
  CHECK(panel.y.names == std::vector<std::string>{"0.01", "0.001"});
  CHECK(panel.heat.values[1] == std::vector<double>{0, 10});
  CHECK(panel.heat.values[0][0] == 20);
  CHECK(std::isnan(panel.heat.values[0][1]));
  CHECK(has_note(figure, "no value of test/accuracy: 0.01 at length 20"));
  // If exactly two parameters vary, the request need not name them.
  CHECK(make_figure(reader, figures::heat, {{.experiments = {"study"}}}).panels.at(0).heat.values.size() == 2);
  CHECK(has(error_of([&] { make_figure(reader, figures::heat, {{.experiments = {"study"}, .rows = {"seed"}}}); }),
            "expected one parameter each"));
}

TEST_CASE("windows show each row's dev means over the tuned values, and the point of the chosen value is filled") {
  Folder folder;
  std::vector<nlohmann::json> trials;
  {
    Store store(folder / "a.db");
    store.put_metrics({{"test/accuracy", "%", "max", ""}, {"dev/accuracy", "%", "max", ""}});
    const auto id = store.put_experiment({"study", "", "study.toml", "[grid]", {}});
    std::vector<GridTrial> grid;
    for (const double rate : {0.001, 0.003, 0.01})
      for (const int seed : {1, 2}) {
        auto one = trial("softmax", {}, seed);
        one["train"]["learning_rate"] = rate;
        grid.push_back({key_of(one), one, 0});
        trials.push_back(one);
      }
    store.put_trials(id, grid);
    const double dev[] = {70, 72, 90, 94, 80, 80};
    for (std::size_t i = 0; i < trials.size(); ++i) {
      auto attempt = done(trials[i], 0);
      attempt.results = {{"dev/accuracy", dev[i]}, {"test/accuracy", 50}};
      attempt.main_metric = "test/accuracy";
      store.put_attempt(attempt);
    }
  }
  const auto figure = make_figure(Reader(folder / "a.db"), figures::windows, {{.experiments = {"study"}}});
  REQUIRE(figure.panels.size() == 1);
  const auto& panel = figure.panels[0];
  CHECK(panel.x.label == "train.learning_rate");
  CHECK(panel.x.log);
  CHECK(panel.x.ticks == std::vector<double>{0.001, 0.003, 0.01});
  CHECK(panel.y.label == "dev/accuracy (%)");
  REQUIRE(panel.series.size() == 1);
  const auto& points = panel.series[0].points;
  REQUIRE(points.size() == 3);
  const double means[] = {71, 92, 80};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(points[i].y == means[i]);
    CHECK(points[i].hollow == (i != 1));
  }
  CHECK(points[1].y_high == Approx(92 + std::sqrt(8)));
}

TEST_CASE("effects have a line for each value of each parameter, with the most important parameter at the top") {
  Folder folder;
  {
    Store store(folder / "a.db");
    std::vector<nlohmann::json> trials;
    for (const auto* attention : {"softmax", "linear"})
      for (const int pool : {2, 4})
        for (const int seed : {1, 2}) {
          auto one = trial(attention, {}, seed);
          one["task"]["pool"] = pool;
          trials.push_back(one);
        }
    put(store, "study", trials);
    // softmax is better by 20, and pool 2 is better by 2.
    const double accuracy[] = {82, 82, 80, 80, 62, 62, 60, 60};
    for (std::size_t i = 0; i < trials.size(); ++i) {
      auto attempt = done(trials[i], accuracy[i]);
      attempt.main_metric = "test/accuracy";
      store.put_attempt(attempt);
    }
  }
  const Reader reader(folder / "a.db");
  const auto figure = make_figure(reader, figures::effects, {{.experiments = {"study"}}});
  REQUIRE(figure.panels.size() == 1);
  const auto& panel = figure.panels[0];
  CHECK(panel.x.label == "test/accuracy (%)");
  CHECK(panel.y.names == std::vector<std::string>{"task.pool 4", "task.pool 2", "attention linear", "attention softmax"});
  std::vector<double> means(4);
  for (const auto& series : panel.series)
    for (const auto& point : series.points) means.at(static_cast<std::size_t>(point.y)) = point.x;
  CHECK(means == std::vector<double>{70, 72, 61, 81});
  CHECK(has(error_of([&] { make_figure(reader, figures::effects, {{.experiments = {"study"}, .rows = {"attention"}}}); }),
            "plot effects: found --rows"));
}
