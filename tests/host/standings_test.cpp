// Lines about trials that are not done: the nearest done trial, and the number of queries that find it.
#include <sqlite3.h>

#include <algorithm>
#include <random>

#include "core/host/scheduler/standing.h"
#include "core/shared/versions.h"
#include "db/history/store.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using namespace ablate;
using nlohmann::json;

namespace {

Identity of_code(const std::string& code, json settings) {
  settings["attention.plugin"] = "one";
  return {std::move(settings), {{"plugins", {{"attention", code}}}, {"data", "d"}, {"runtime", 1}, {"torch", "2"}}};
}

Identity any_identity(std::mt19937& random) {
  const auto one_of = [&](const std::vector<json>& values) { return values[random() % values.size()]; };
  auto made = of_code(one_of({"a", "b"}), {{"seed", one_of({1, 2, 3, 4})}});
  made.settings["attention.plugin"] = one_of({"one", "two"});
  const std::vector<std::pair<std::string, std::vector<json>>> all{{"attention.heads", {nullptr, 2, 4}},
                                                                   {"model.width", {nullptr, 1, 1.0, "1"}},
                                                                   {"task.plugin", {"t", "u"}},
                                                                   {"train.rate", {nullptr, 0.1, 0.2, 0.0, -0.0}},
                                                                   {"train.steps", {7}}};
  for (const auto& [path, values] : all)
    if (const auto value = one_of(values); !value.is_null()) made.settings[path] = value;
  made.basis["plugins"]["task"] = one_of({"x", "y"});
  made.basis["data"] = one_of({"d", "e"});
  if (const auto kernels = one_of({nullptr, 3, 4}); !kernels.is_null()) made.basis["kernels"] = kernels;
  return made;
}

int selects = 0;  ///< SELECT statements that any connection prepared since the last reset

int count_selects(void*, int what, const char*, const char*, const char*, const char*) {
  selects += what == SQLITE_SELECT;
  return SQLITE_OK;
}

int watch(sqlite3* database, char**, const void*) { return sqlite3_set_authorizer(database, count_selects, nullptr); }

struct Watching {
  Watching() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch)); }
  ~Watching() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(watch)); }
};

/// A plan and a history. A third of the trials have failed, a third are done only under other code, the rest have not run.
struct Grid {
  explicit Grid(int third) {
    db::Store store(folder / "history.db");
    const auto experiment = store.put_experiment({"e", "", "", "", {}});
    const auto record = [&](const Identity& identity, const std::string& outcome) {
      const auto key = identity.key();
      store.put_trials(experiment,
                       {{key, json{{"attention", {{"plugin", "one"}}}, {"seed", identity.settings.at("seed")}}, {}}});
      store.put_parts({{key, {identity.settings, identity.basis}}});
      db::Attempt attempt{.key = key, .outcome = outcome, .environment = json::object()};
      if (outcome != "done") attempt.reason = "why";
      store.put_attempt(attempt);
    };
    const auto plan = [&](const Identity& identity) { planned.push_back({&trial, identity, identity.key()}); };
    for (int seed = 0; seed < third; ++seed) {
      const auto seeded = [&](int width) { return json{{"seed", seed}, {"model.width", width}}; };
      plan(of_code("new", seeded(1))), record(of_code("new", seeded(1)), "failed");
      plan(of_code("new", seeded(2))), record(of_code("old", seeded(2)), "done");
      plan(of_code("new", seeded(3)));
    }
  }

  std::vector<std::string> lines() const {
    std::vector<const PlannedTrial*> all;
    for (const auto& one : planned) all.push_back(&one);
    return standings(all, "e", folder / "history.db").lines;
  }

  TemporaryFolder folder;
  Trial trial;
  std::vector<PlannedTrial> planned;
};

}  // namespace

TEST_CASE("the nearest done trial is the first with the fewest differences, and its line names them") {
  std::mt19937 random(26);
  for (int round = 0; round < 30; ++round) {
    std::vector<db::PastTrial> others(1 + random() % 12);
    for (std::size_t i = 0; i < others.size(); ++i)
      others[i].attempt = static_cast<std::int64_t>(i), others[i].parts = any_identity(random);
    Nearest nearest(others);
    for (int trial = 0; trial < 30; ++trial) {
      const auto now = any_identity(random);
      const auto first = std::min_element(others.begin(), others.end(), [&](const auto& one, const auto& other) {
        return differences(now, one.parts).size() < differences(now, other.parts).size();
      });
      REQUIRE(nearest.of(now).attempt == first->attempt);
    }
  }
}

TEST_CASE("reading a plan's results takes the same number of statements for any number of trials") {
  std::vector<int> asked;
  for (const int third : {2, 40}) {
    const Grid grid(third);
    const Watching watching;
    selects = 0;
    const auto lines = grid.lines();
    asked.push_back(selects);
    REQUIRE(lines.size() == static_cast<std::size_t>(3 * third));
    CHECK(lines[3] == "not done: attempt 3 failed: why");
    CHECK(lines[4] == "not done: like attempt 4, except for the code of one (attention)");
    CHECK(lines[5] == "not done: the nearest, attempt 4, differs in model.width (3, was 2), the code of one (attention)");
  }
  CHECK(asked[0] > 0);
  CHECK(asked[0] == asked[1]);
}
