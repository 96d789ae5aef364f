// Contents of figures, number by number, before anything is drawn.
#include "db/questions/figures/figures.h"

#include <cmath>

#include "tests/db/costs.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

using Shape = FigureSeries::Shape;

/// Curves of the training loss over three steps: softmax with two seeds, linear with one, and delta without a curve.
class Curves {
 public:
  Curves() {
    Store store(file_);
    const auto a = trial("softmax", {}, 1), b = trial("softmax", {}, 2), c = trial("linear", {}, 1), d = trial("delta", {}, 1);
    put(store, "study", {a, b, c, d});
    store.put_metrics({{"train/loss", "", "min", ""}});
    put_curve(store, a, {{10, 4}, {20, 2}, {30, 1}}, 100);
    put_curve(store, b, {{10, 2}, {20, 4}}, 300);
    put_curve(store, c, {{10, 5}, {20, std::nan("")}, {30, 3}}, 200);
    put_curve(store, d, {}, 200);
  }

  Figure figure(const std::string& x = "", TableRequest table = {}) const {
    if (table.experiments.empty()) table.experiments = {"study"};
    return make_figure(Reader(file_), figures::curves, {std::move(table), x});
  }
  std::string error(const std::string& x, const TableRequest& table) const {
    return error_of([&] { figure(x, table); });
  }

 private:
  static void put_curve(Store& store, const nlohmann::json& resolved, const std::vector<std::pair<int, double>>& points,
                        double step_ms) {
    auto attempt = done(resolved, 50);
    attempt.results["train/step_time"] = step_ms;
    attempt.results["train/loss"] = 1;
    for (const auto& [step, value] : points) attempt.curve.push_back({"train/loss", step, value});
    store.put_attempt(attempt);
  }

  Folder folder_;
  std::filesystem::path file_ = folder_ / "a.db";
};

/// Returns the front figure of accuracy against step time in ms, with a point for each attention.
Figure front_of(const std::vector<std::tuple<std::string, double, double>>& rows, const std::string& x = "") {
  Folder folder;
  std::vector<nlohmann::json> trials;
  for (const auto& [name, ms, accuracy] : rows) trials.push_back(trial(name, {}, 1));
  {
    Store store(folder / "a.db");
    put(store, "study", trials);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto attempt = took(trials[i], std::get<1>(rows[i]));
      attempt.results["test/accuracy"] = std::get<2>(rows[i]);
      attempt.main_metric = "test/accuracy";
      store.put_attempt(attempt);
    }
  }
  return make_figure(Reader(folder / "a.db"), figures::front, {{.experiments = {"study"}}, x});
}

bool has_note(const Figure& figure, const std::string& part) {
  for (const auto& note : figure.notes)
    if (has(note, part)) return true;
  return false;
}

}  // namespace

TEST_CASE("a curve is the mean over seeds at the steps that all seeds have, with the deviation as a band") {
  const auto figure = Curves().figure();
  REQUIRE(figure.panels.size() == 1);
  const auto& panel = figure.panels[0];
  CHECK(panel.x.label == "step");
  CHECK(panel.y.label == "train/loss");
  REQUIRE(panel.series.size() == 2);
  const auto& softmax = panel.series[0];
  CHECK(softmax.name == "softmax");
  CHECK(softmax.shape == Shape::kLine);
  REQUIRE(softmax.points.size() == 2);  // seed 2 ended before step 30
  CHECK(softmax.points[0].x == 10);
  CHECK(softmax.points[0].y == 3);
  CHECK(softmax.points[0].y_low == Approx(3 - std::sqrt(2)));
  CHECK(softmax.points[0].y_high == Approx(3 + std::sqrt(2)));
  CHECK(softmax.points[1].x == 20);
  CHECK(has_note(figure, "steps that some seeds lack are left out: softmax"));
  CHECK(has(figure.caption, "standard deviation over seeds"));
}

TEST_CASE("a curve of one seed has no band, NaN is a gap, and a note reports a missing curve") {
  const auto figure = Curves().figure();
  const auto& linear = figure.panels[0].series[1];
  CHECK(linear.name == "linear");
  REQUIRE(linear.points.size() == 3);
  CHECK(linear.points[0].y == 5);
  CHECK(std::isnan(linear.points[0].y_low));
  CHECK(std::isnan(linear.points[1].y));
  CHECK(has_note(figure, "no band, only one trial: linear"));
  CHECK(has_note(figure, "no curve: delta"));
}

TEST_CASE("a curve by seconds is at the mean time of its trials") {
  const auto figure = Curves().figure("seconds");
  const auto& softmax = figure.panels[0].series[0];
  CHECK(figure.panels[0].x.label == "training time (s)");
  CHECK(softmax.points[0].x == Approx(10 * (0.1 + 0.3) / 2));
  CHECK(softmax.points[1].x == Approx(20 * (0.1 + 0.3) / 2));
}

TEST_CASE("a band can be Student's interval, and a legend can have a paper's names") {
  const auto figure = Curves().figure(
      "",
      {.experiments = {"study"}, .statistics = {{"interval", {"0"}}, {"rename", {"softmax=Ours (v. 2)", "train/loss=Loss"}}}});
  const auto& panel = figure.panels[0];
  CHECK(panel.series[0].name == "Ours (v. 2)");
  CHECK(panel.y.label == "Loss");
  // t(0.975, 1 degree) = 12.7062; the deviation sqrt(2), divided by the square root of the 2 seeds, is 1.
  CHECK(panel.series[0].points[0].y_high == Approx(3 + 12.7062).epsilon(1e-5));
  CHECK(has(figure.caption, "95 % interval"));
}

TEST_CASE("by seconds, a curve of the step time and a curve without a final value are drawn, too") {
  Folder folder;
  const auto one = trial("softmax", {}, 1);
  {
    Store store(folder / "a.db");
    put(store, "study", {one});
    store.put_metrics({{"train/loss", "", "min", ""}});
    auto attempt = done(one, 50);
    attempt.results["train/step_time"] = 500;
    attempt.curve = {{"train/loss", 2, 3}, {"train/step_time", 4, 7}};
    store.put_attempt(attempt);
  }
  const Reader reader(folder / "a.db");
  const auto only_point = [&](const std::string& metric) {
    return make_figure(reader, figures::curves, {{.experiments = {"study"}, .metrics = {metric}}, "seconds"})
        .panels.at(0)
        .series.at(0)
        .points.at(0);
  };
  CHECK(only_point("train/loss").x == 1);
  CHECK(only_point("train/loss").y == 3);
  CHECK(only_point("train/step_time").x == 2);
  CHECK(only_point("train/step_time").y == 7);
}

TEST_CASE("curves without any points are refused with the nearest names") {
  const Curves study;
  CHECK(has(study.error("", {.experiments = {"study"}, .metrics = {"test/accuracy"}}),
            "no trial has a curve of test/accuracy (known: train/loss)"));
  CHECK(has(study.error("", {.experiments = {"study"}, .metrics = {"train/los"}}), "train/loss"));
  CHECK(
      has(study.error("second", {.experiments = {"study"}}), "found second, expected step or seconds (did you mean seconds?)"));
  CHECK(has(study.error("", {.experiments = {"studi"}}), "did you mean study?"));
}

TEST_CASE("the front is a staircase through the rows that no other row improves on in both metrics") {
  const auto figure = front_of({{"slow", 10, 90}, {"fast", 5, 80}, {"behind", 12, 85}, {"twin", 5, 70}});
  REQUIRE(figure.panels.size() == 1);
  const auto& series = figure.panels[0].series;
  REQUIRE(series.size() == 5);
  CHECK(figure.names_at_points);
  CHECK(series[0].shape == Shape::kStaircase);
  const std::vector<std::pair<double, double>> stairs = {{5, 80}, {10, 80}, {10, 90}};
  REQUIRE(series[0].points.size() == stairs.size());
  for (std::size_t i = 0; i < stairs.size(); ++i) {
    CHECK(series[0].points[i].x == stairs[i].first);
    CHECK(series[0].points[i].y == stairs[i].second);
  }
  CHECK(series[1].name == "slow");
  CHECK(series[1].points[0].x == 10);
  CHECK(series[1].points[0].y == 90);
  CHECK_FALSE(series[1].points[0].hollow);
  CHECK_FALSE(series[2].points[0].hollow);
  CHECK(series[3].points[0].hollow);
  CHECK(series[4].points[0].hollow);
  CHECK(figure.panels[0].x.label == "train/step_time (ms)");
}

TEST_CASE("a front shows two parameters by colour and marker; with one parameter, each row has its own style") {
  Folder folder;
  Figure figure;
  const auto front = [&](const std::vector<nlohmann::json>& trials, const std::string& file) {
    {
      Store store(folder / file);
      put(store, "study", trials);
      for (std::size_t i = 0; i < trials.size(); ++i) store.put_attempt(took(trials[i], 5.0 + static_cast<double>(i)));
    }
    figure = make_figure(Reader(folder / file), figures::front,
                         {{.experiments = {"study"}, .rows = {"attention", "attention.rates"}}});
    auto series = figure.panels.at(0).series;
    std::erase_if(series, [](const auto& one) { return one.name.empty(); });
    std::vector<std::pair<std::size_t, std::size_t>> looks;
    for (const auto& one : series) looks.emplace_back(one.style, one.mark);
    return looks;
  };
  using Looks = std::vector<std::pair<std::size_t, std::size_t>>;
  CHECK((front({trial("adamra", {"1/2"}, 1), trial("adamra", {"1/4"}, 1), trial("linear", {"1/2"}, 1),
                trial("linear", {"1/4"}, 1)},
               "two.db") == Looks{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  REQUIRE(figure.keys.size() == 4);
  const std::pair<const char*, bool> keys[] = {{"adamra", false}, {"linear", false}, {"rates 1/2", true}, {"rates 1/4", true}};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(figure.keys[i].name == keys[i].first);
    CHECK(figure.keys[i].is_mark == keys[i].second);
    CHECK(figure.keys[i].number == i % 2);
  }
  CHECK((front({trial("adamra", {"1/2"}, 1), trial("adamra", {"1/4"}, 1)}, "one.db") ==
         Looks{{0, kMarkOfStyle}, {1, kMarkOfStyle}}));
  CHECK(figure.keys.empty());
}

TEST_CASE("the x of a front must be a known metric other than y") {
  CHECK(has(error_of([] { front_of({{"a", 1, 1}}, "memori"); }), "memori"));
  CHECK(has(error_of([] { front_of({{"a", 1, 1}}, "test/accuracy"); }), "which is the metric itself"));
}

TEST_CASE("growth has the lengths as ticks, and the exponent in each row's name") {
  const Costs costs;
  const auto figure = make_figure(Reader(costs.file), figures::growth, {{.experiments = {"study"}}});
  REQUIRE(figure.panels.size() == 1);
  const auto& panel = figure.panels[0];
  CHECK(panel.x.log);
  CHECK(panel.y.log);
  CHECK(panel.x.ticks == std::vector<double>{100, 200, 400});
  REQUIRE(panel.series.size() == 2);
  CHECK(panel.series[0].name == "softmax");
  CHECK(panel.series[0].tail == ", n^2.00");
  CHECK(panel.series[1].name == "adamra");
  CHECK(panel.series[1].tail == ", n^1.00");
  REQUIRE(panel.series[0].points.size() == 3);
  CHECK(panel.series[0].points[2].x == 400);
  CHECK(panel.series[0].points[2].y == 1600);
  CHECK(has(error_of([&] {
              make_figure(Reader(costs.file), figures::growth, {{.experiments = {"study"}, .columns = {"attention"}}});
            }),
            "plot growth: the columns are attention, expected one parameter with at least two numbers above 0"));
}

TEST_CASE("an unknown kind, an x that the kind does not accept, and an empty figure are refused") {
  CHECK(has(error_of([] { figure_kind("curve"); }), "no kind of figure \"curve\" (did you mean curves?)"));
  const Costs costs;
  CHECK(has(error_of([&] {
              make_figure(Reader(costs.file), figures::growth, {{.experiments = {"study"}}, "time"});
            }),
            "--x: found time, but growth has no --x"));
  Folder folder;
  const auto one = trial("softmax", {}, 1);
  {
    Store store(folder / "a.db");
    put(store, "study", {one});
    store.put_attempt(failed(one, "out of memory"));
  }
  CHECK(has(error_of([&] { make_figure(Reader(folder / "a.db"), figures::front, {{.experiments = {"study"}}}); }),
            "found no trial with all numbers of the figure"));
}

TEST_CASE("a curve of several settings has no band, and a note names a curve that lacks a seed") {
  Folder folder;
  const auto file = folder / "a.db";
  {
    Store store(file);
    const std::vector<nlohmann::json> trials = {trial("softmax", {}, 1), trial("softmax", {}, 2), trial("adamra", {"1/2"}, 1),
                                                trial("adamra", {"1/4"}, 1), trial("adamra", {"1/2"}, 2)};
    put(store, "study", trials);
    store.put_metrics({{"train/loss", "", "min", ""}});
    for (const std::size_t i : {0U, 2U, 3U, 4U}) {
      auto attempt = done(trials[i], 50);
      attempt.results["train/loss"] = 1;
      for (const int step : {10, 20}) attempt.curve.push_back({"train/loss", step, static_cast<double>(i == 4 ? 10 : i)});
      store.put_attempt(attempt);
    }
    store.put_attempt(failed(trials[1], "out of memory"));
  }
  TableRequest request;
  request.experiments = {"study"};
  request.rows = {"attention"};
  const auto figure = make_figure(Reader(file), figures::curves, {request, ""});
  REQUIRE(figure.panels.size() == 1);
  REQUIRE(figure.panels[0].series.size() == 2);
  CHECK(figure.panels[0].series[1].points[0].y == 4.5);  // the mean of 3 and 6; 6 is itself the mean of two seeds
  CHECK(std::isnan(figure.panels[0].series[1].points[0].y_low));
  const auto notes = nlohmann::json(figure.notes).dump();
  CHECK(has(notes, "no band, a mean over several settings: adamra"));
  CHECK(has(notes, "trials that are not done are left out: softmax: failed 1/2: out of memory"));
}
