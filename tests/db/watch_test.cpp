// `ablate watch`: the state of a grid in a history, its lines, and the curve of its losses.
#include <SQLiteCpp/SQLiteCpp.h>

#include <cmath>

#include "db/history/process.h"
#include "db/questions/attempts/watch_state.h"
#include "db/report/format.h"
#include "db/report/watch_lines.h"
#include "tests/db/commands.h"

using namespace ablate;
using namespace ablate::db;

namespace {

constexpr std::int64_t kSecond = 1'000'000, kBegan = 1'700'000'000 * kSecond, kNow = kBegan + 100 * kSecond;

void change(const std::filesystem::path& file, const std::string& sql) {
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec(sql);
}

Attempt at(Attempt attempt, std::int64_t started_us) {
  attempt.started_us = started_us;
  return attempt;
}

/// A grid of eight trials: one done in 10 s, two with a loss of nan, one refused in an earlier run, one interrupted, one that
/// runs, and two that wait.
struct Grid {
  Folder folder;
  std::filesystem::path file = folder / "a.db";
  Store store{file};
  std::vector<nlohmann::json> trials;
  RunningTrial running;

  Grid() {
    for (int seed = 1; seed <= 8; ++seed) trials.push_back(trial("softmax", {}, seed));
    put(store, "grid", trials);
    auto first = at(done(trials[0], 71), kBegan);
    first.wall_s = 10;
    store.put_attempt(first);
    store.put_attempt(at(failed(trials[1], "loss is nan at step 12"), kBegan + 1));
    store.put_attempt(at(failed(trials[2], "loss is nan at step 340"), kBegan + 2));
    store.put_attempt(at(failed(trials[3], "signal 11", "refused"), kBegan - kSecond));
    store.put_attempt(at(failed(trials[4], "interrupted by the user", "interrupted"), kBegan - kSecond));
    change(file, "UPDATE experiment SET listed_us = " + std::to_string(kBegan));
    running = {key_of(trials[5]), kNow - 20 * kSecond, 100, 400, 1.25};
    store.put_running({running});
  }
  WatchState state() const { return watch_state(Reader(file), "grid", kNow); }
};

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const auto& line : lines) all += line + "\n";
  return all;
}

}  // namespace

TEST_CASE("a trial that failed before a run is not queued, because the run skips it") {
  Grid grid;
  grid.store.put_attempt(at(failed(grid.trials[3], "loss is nan at step 9"), kBegan - 1));
  CHECK(grid.state().failed == 3);
  CHECK(grid.state().queued == 3);
}

TEST_CASE("each trial of a running grid is done, failed, queued or running") {
  const Grid grid;
  const auto state = grid.state();
  CHECK(state.is_running);
  CHECK(state.trials == 8);
  CHECK(state.done == 1);
  CHECK(state.failed == 2);
  CHECK(state.queued == 4);  // the trials that were refused or interrupted in an earlier run are run again
  REQUIRE(state.running.size() == 1);
  CHECK(state.running[0].label == "seed=6");
  CHECK(state.running[0].step == 100);
  CHECK(state.running[0].loss == 1.25);
  CHECK(state.running[0].elapsed_s == Approx(20));
  CHECK(state.running[0].left_s.value() == Approx(60));
  REQUIRE(state.failures.size() == 1);  // the same reason at two steps
  CHECK(state.failures[0].trials == 2);
  CHECK(state.failures[0].reason == "loss is nan at step 340");
  CHECK(state.failures[0].attempt == 3);
  CHECK(state.next == std::vector<std::string>{"seed=4", "seed=5", "seed=7"});
  CHECK(state.elapsed_s == Approx(100));
  CHECK(state.left_s.value() == Approx(60 + 4 * 10));  // one trial runs at a time
  REQUIRE(state.latest.size() == 5);
  CHECK(state.latest[0].attempt == 5);
}

TEST_CASE("imported trials do not count as work of the grid") {
  Grid grid;
  const auto before = grid.state();
  ImportedTrial ended{.experiment = "grid", .parameters = {{"seed", 20}}, .started_us = kBegan};
  auto cut = ended;
  cut.parameters["seed"] = 21, cut.outcome = "interrupted";
  ended.results = {{"test/accuracy", 70}};
  grid.store.import({"in.csv", {"seed"}, {}, {ended, cut}});
  const auto state = grid.state();
  CHECK(state.trials == before.trials);
  CHECK(state.done == before.done);
  CHECK(state.queued == before.queued);
  CHECK(state.left_s == before.left_s);
  CHECK(state.imported == 2);
  REQUIRE(state.latest.size() == before.latest.size());  // no imported trial ended here
  for (std::size_t i = 0; i < state.latest.size(); ++i) CHECK(state.latest[i].attempt == before.latest[i].attempt);
  CHECK(has(joined(watch_lines({state}, {}, "", {})), "running, 4 queued; 2 imported\n"));
  grid.store.import({"other.csv", {"seed"}, {}, {[&] {
                       auto elsewhere = ended;
                       elsewhere.experiment = "other";
                       return elsewhere;
                     }()}});
  CHECK(watch_summary(watch_state(Reader(grid.file), "other", kNow)) ==
        "other: 0 done, 0 failed, 1 imported; `ablate table other` prints the table");
}

TEST_CASE("if a trial has several attempts, the attempt with the latest turn counts, whatever its number") {
  Grid grid;
  grid.store.put_attempt(at(failed(grid.trials[4], "signal 9"), kBegan + 3));
  CHECK(grid.state().failed == 3);
  change(grid.file, "UPDATE attempt SET turn = 1 WHERE reason = 'signal 9'");  // as for an attempt that a merge added
  CHECK(grid.state().failed == 2);
}

TEST_CASE("the estimate assumes as many parallel trials as now, and the grid ends after its slowest trial") {
  Grid grid;
  auto slow = grid.running;
  slow.key = key_of(grid.trials[6]), slow.started_us = kNow - 100 * kSecond;  // it needs 300 s more
  grid.store.put_running({grid.running, slow});
  CHECK(grid.state().left_s.value() == Approx(300));
  slow.started_us = kNow - 20 * kSecond;
  grid.store.put_running({grid.running, slow});
  CHECK(grid.state().left_s.value() == Approx((60 + 60 + 3 * 10) / 2.0));
}

TEST_CASE("a trial is not shown as running if its process is dead or reports an ended trial") {
  Grid grid;
  grid.store.put_attempt(at(done(grid.trials[5], 70), grid.running.started_us));  // still listed as running
  CHECK(grid.state().is_running);
  CHECK(grid.state().running.empty());
  CHECK(grid.state().done == 2);
  grid.store.put_running({});
  auto state = grid.state();
  CHECK_FALSE(state.is_running);
  CHECK(state.failed == 3);  // no run is left to retry the refused trial
  CHECK(state.queued == 3);
  CHECK(watch_summary(state) == "grid: 2 done, 3 failed, 3 not finished; `ablate table grid` prints the table");
  const auto say = [&](const std::string& host) {
    change(grid.file,
           "INSERT INTO running VALUES ('" + host + "', 1, 999999999, '" + key_of(grid.trials[7]) + "', 0, 3, 9, NULL)");
  };
  say(this_host());
  CHECK_FALSE(grid.state().is_running);
  CHECK(running_experiments(Reader(grid.file)).empty());
  say("node7");  // a host whose processes are unknown here
  CHECK(grid.state().is_running);
  CHECK(has(joined(watch_lines({grid.state()}, {}, "", {})), "on node7, not visible from this host"));
}

TEST_CASE("watch shows the experiment of a running trial; if experiments share the trial, the one with the latest grid") {
  Grid grid;
  put(grid.store, "other", {grid.trials[5], trial("linear", {}, 1)});
  put(grid.store, "idle", {trial("linear", {}, 2)});
  change(grid.file,
         "UPDATE experiment SET listed_us = 5 WHERE name = 'other'; UPDATE experiment SET listed_us = 7 WHERE name "
         "= 'idle'");
  CHECK(running_experiments(Reader(grid.file)) == std::vector<std::string>{"grid"});
  change(grid.file,
         "UPDATE experiment SET listed_us = 6 WHERE name = 'grid'; UPDATE experiment SET listed_us = 8 WHERE name "
         "= 'other'");
  CHECK(running_experiments(Reader(grid.file)) == std::vector<std::string>{"other"});
  CHECK(latest_experiment(Reader(grid.file)) == "other");
  CHECK(has(error_of([&] { watch_state(Reader(grid.file), "grdi", kNow); }), "did you mean grid?"));
}

TEST_CASE("a sparkline has eight heights, averages points that share a cell, and leaves out NaN and infinity") {
  const std::vector<double> falling = {8, 7, 6, 5, 4, 3, 2, 1};
  CHECK(sparkline(falling, 8) == "█▇▆▅▄▃▂▁");
  CHECK(sparkline(falling, 100) == "█▇▆▅▄▃▂▁");
  CHECK(sparkline(falling, 2) == "█▁");
  CHECK(sparkline(std::vector<double>{0, 10, 5, 5, 0, 0}, 3) == "██▁");  // the means are 5, 5, 0
  CHECK(sparkline(std::vector<double>{3, 3, 3}, 3) == "▄▄▄");
  const double nan = std::nan(""), most = 1.7e308;
  CHECK(sparkline(std::vector<double>{1, nan, 2, nan}, 4) == "▁×█×");
  CHECK(sparkline(std::vector<double>{1, nan, 2, nan}, 2) == "▁█");
  CHECK(sparkline(std::vector<double>{-most, most, INFINITY}, 3) == "▁█×");
  CHECK(sparkline({}, 5).empty());
  CHECK(sparkline(falling, 0).empty());
}

TEST_CASE("each loss of a running trial is recorded once, and losses are thinned evenly in long runs") {
  WatchState state;
  state.running.push_back({.key = "k", .started_us = 1});
  auto& trial = state.running[0];
  SeenLosses seen;
  for (int step = 1; step <= 1000; ++step) {
    trial.step = step, trial.loss = step;
    seen.take({state}, step);
    seen.take({state, state}, step + 0.5);  // nothing new; the trial is in two experiments
  }
  const auto losses = seen.of(trial);
  REQUIRE(losses.size() <= SeenLosses::kMost);
  REQUIRE(losses.size() > SeenLosses::kMost / 2 - 1);
  CHECK(losses.front() == 1);
  for (std::size_t i = 1; i < losses.size(); ++i) CHECK(losses[i] - losses[i - 1] == losses[1] - losses[0]);
  seen.take({state}, 1100);
  CHECK(seen.unchanged_s(trial) == 100);
  trial.started_us = 2;  // another attempt
  CHECK(seen.of(trial).empty());
  seen.take({state}, 1101);
  CHECK(seen.of(trial).size() == 1);
}

TEST_CASE("no line is wider than the terminal, less important parts are cut first, and the last line counts the rest") {
  const Grid grid;
  const auto state = grid.state();
  SeenLosses seen;
  auto moving = state;
  for (int step = 100; step < 120; ++step) {
    moving.running[0].step = step, moving.running[0].loss = 200 - step;
    seen.take({moving}, step);
  }
  const auto at_width = [&](std::size_t width, std::size_t height = 0, bool colour = false) {
    return watch_lines({state}, seen, "", {width, height, colour});
  };
  for (std::size_t width = 1; width <= 120; ++width)
    for (const auto& line : at_width(width)) CHECK(db::width(line) <= width);
  const auto wide = joined(at_width(120));
  for (const char* part : {"grid  8 trials: 1 done, 2 failed, 1 running, 4 queued", "about 1 min 40 s left", "100/400",
                           "loss 1.25", "█▇", "60.0 s left", "2 × loss is nan at step 340", "`ablate show 3`",
                           "test/accuracy 71", "  seed=4\n", "and 1 more", " 40 %"}) {
    INFO(part << " in\n" << wide);
    CHECK(has(wide, part));
  }
  CHECK_FALSE(has(wide, "\033"));
  const auto narrow = joined(at_width(44));
  CHECK(has(narrow, "seed=6"));
  CHECK(has(narrow, "100/400"));
  CHECK_FALSE(has(narrow, "█▇"));
  const auto low = at_width(80, 6);
  REQUIRE(low.size() == 6);
  CHECK(has(low[0], "8 trials"));
  CHECK(has(low[5], "more lines"));
  CHECK(has(joined(at_width(120, 0, true)), "\033[31m2 failed\033[0m"));
}

TEST_CASE("names cannot steer a terminal, and errors are shown above the last picture") {
  WatchState state;
  state.experiment = "a\033[2Jb";
  state.is_running = true;
  state.trials = 1;
  state.running.push_back({.key = "k", .label = "x\n\033]0;y"});
  state.failures.push_back({"broken\033[31m", 1, 2});
  const auto lines = watch_lines({state}, {}, "a.db is locked", {});
  CHECK(lines[0] == "as it was last seen: a.db is locked");
  for (const auto& line : lines) CHECK(line.find_first_of("\033\n") == std::string::npos);
}

TEST_CASE("ablate watch without a terminal prints one picture, and reports if no grid runs") {
  Commands run;
  const auto idle = run("watch");
  CHECK(run.exit_code == 0);
  CHECK(has(idle, "quickstart  2 trials: 1 done, 1 failed; nothing runs\n"));
  CHECK(has(idle, "1 × signal 11 (Segmentation fault)"));
  CHECK(has(idle, "quickstart: 1 done, 1 failed; `ablate table quickstart` prints the table\n"));
  {
    Store store(run.file());
    store.put_running({{key_of(trial("adamra", {"1/8"}, 1)), kBegan + 1, 340, 1000, 1.2345}});
    const auto picture = run("watch quickstart --once");
    CHECK(has(picture, "1 done, 1 running, 0 queued\n"));
    CHECK(has(picture, "340/1000"));
    CHECK_FALSE(has(picture, "prints the table"));
    store.put_running({});
  }
  CHECK(has(run("watch quikstart"), "did you mean quickstart?"));
  CHECK(has(run("watch --every 0"), "expected seconds: a whole number from 1 to 3600"));
  std::filesystem::remove(run.file());
  CHECK(has(run("watch"), "no run history: looked for "));
  { const Store store(run.file()); }
  CHECK(has(run("watch"), "a.db has no experiments yet"));
}
