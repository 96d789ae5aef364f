// Tables of a study whose trials are repeated with more steps ([grid.longer]).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "db/questions/exports/export_trials.h"
#include "db/report/printers.h"
#include "tests/db/longer_study.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

/// At 60 steps, the attention `means` leads on every seed. At 300 steps, `clusters` leads. `plain` gains nothing.
const std::vector<LongerPoint> kTurning = {
    {"means", 1, 67, 83},
    {"means", 2, 68, 84},
    {"means", 3, 67, kNotPlanned},
    {"means", 4, 68, kNotPlanned},
    {"means", 5, 67, kNotPlanned},
    {"means", 6, 68, kNotPlanned},
    {"clusters", 1, 61, 90},
    {"clusters", 2, 62, 91},
    {"clusters", 3, 61, kNotPlanned},
    {"clusters", 4, 62, kNotPlanned},
    {"clusters", 5, 61, kNotPlanned},
    {"clusters", 6, 62, kNotPlanned},
    {"plain", 1, 30, 34},
    {"plain", 2, 31, 30},
    {"plain", 3, 30, kNotPlanned},
    {"plain", 4, 31, kNotPlanned},
    {"plain", 5, 30, kNotPlanned},
    {"plain", 6, 31, kNotPlanned},
};

}  // namespace

TEST_CASE("longer trials enter no mean; rows that gain are marked, and a note names rows whose order turns round") {
  const Longer study(kTurning);
  const auto table = study.table();
  CHECK(to_text(table, Format::kText) ==
        "study: 18 trials; mean ± standard deviation of n = 6\n\n"
        "attention  test/accuracy (%)\n"
        "means      67.50 ± 0.55 +\n"
        "clusters   61.50 ± 0.55 +\n"
        "plain      30.50 ± 0.55\n"
        "\n"
        "note: + with 5 times the steps, each seed gains, 5 or more on average: means by 16, clusters by 29. The marked values "
        "are "
        "points on a learning curve\n"
        "note: with 5 times the steps the order is reversed: means - clusters is 6, then -7\n");
  CHECK(table.cell(1, 0, 0).longer.size() == 2);
  CHECK(table.cell(1, 0, 0).longer[0].factor == 5);
  CHECK(has(to_text(table, Format::kCsv), ",longer"));
  // In a table of the whole history, longer trials enter no mean either.
  const auto whole = study.table({}, {"attention"});
  CHECK(whole.cell(0, 0, 0).n == 6);
  CHECK(whole.cell(0, 0, 0).longer.size() == 2);
}

TEST_CASE("a row is marked only if each seed gains, and the mean gain is at least the smallest difference") {
  const auto is_marked = [](const std::vector<LongerPoint>& points, const std::string& direction = "max") {
    return Longer(points, direction).table().cell(0, 0, 0).is_marked("+");
  };
  CHECK(is_marked({{"a", 1, 60, 69}, {"a", 2, 60, 61}}));  // 5 on average
  CHECK_FALSE(is_marked({{"a", 1, 60, 68}, {"a", 2, 60, 61}}));
  CHECK_FALSE(is_marked({{"a", 1, 60, 90}, {"a", 2, 60, 60}}));
  CHECK_FALSE(is_marked({{"a", 1, 60, 50}, {"a", 2, 60, 50}}));
  CHECK(is_marked({{"a", 1, 60, 50}, {"a", 2, 60, 50}}, "min"));
  CHECK_FALSE(is_marked({{"a", 1, 60, 90}, {"a", 2, 60, 90}}, "min"));
}

TEST_CASE("an order does not turn round if the rows do not differ, or if the longer difference has the same sign") {
  const auto notes = [](double of_b) {
    std::vector<LongerPoint> points;
    for (int seed = 1; seed <= 6; ++seed) {
      points.push_back({"a", seed, 60.0 + seed % 2, seed < 3 ? 80 : kNotPlanned});
      points.push_back({"b", seed, of_b + seed % 3, seed < 3 ? 90 : kNotPlanned});
    }
    return fmt::format("{}", fmt::join(Longer(points).table().notes, "\n"));
  };
  CHECK(has(notes(50), "the order is reversed"));
  CHECK_FALSE(has(notes(59.5), "the order is reversed"));
  CHECK_FALSE(has(notes(70), "the order is reversed"));
}

TEST_CASE("rows without a done longer trial are named, and a study without longer trials has one short note") {
  const auto notes = [](const std::vector<LongerPoint>& points) { return Longer(points).table().notes; };
  using Notes = std::vector<std::string>;
  CHECK(notes({{"a", 1, 60, 61}, {"b", 1, 60, kNotRun}}) ==
        Notes{"longer trials without a result, of all longer trials: b (1 of 1)"});
  CHECK(notes({{"a", 1, 60, kNotRun}, {"b", 1, 60, kNotRun}}) ==
        Notes{"longer trials without a result, of all longer trials: a (1 of 1), b (1 of 1)"});
  const Folder folder;
  Store store(folder / "a.db");
  const auto one = trial("a", {}, 1);
  put(store, "study", {one});
  auto attempt = done(one, 50);
  attempt.main_metric = "test/accuracy";
  store.put_attempt(attempt);
  CHECK(make_table(Reader(folder / "a.db"), {.experiments = {"study"}}).notes == Notes{kOneBudget});
}

TEST_CASE("an export has longer trials with their role") {
  const Longer study({{"a", 1, 60, 61}});
  std::string csv;
  export_trials(Reader(study.file()), {"study"}, ExportFormat::kCsv, [&](std::string_view text) { csv += text; }, {});
  CHECK(has(csv, "grid.tuned,grid.role"));
  CHECK(has(csv, ",longer,"));
}
