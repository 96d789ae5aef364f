// Notes of a table of a study with [grid.match], from the results of its trials.
#include <algorithm>

#include "db/questions/tables/make_table.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

struct Point {
  std::string attention;
  int hidden, pool;
  double parameters;  ///< 0: the trial has not run
};

nlohmann::json settings(const Point& point, int seed) {
  auto resolved = trial(point.attention, {}, seed);
  resolved["task"]["pool"] = point.pool;
  resolved["model"]["hidden"] = point.hidden;
  return resolved;
}

/// A history with two seeds for each point.
class History {
 public:
  explicit History(const std::vector<Point>& points, const std::string& metric = "model/parameters",
                   const std::vector<std::string>& experiments = {"study"}) {
    Store store(file());
    std::vector<nlohmann::json> all;
    for (const auto& point : points)
      for (const int seed : {1, 2}) all.push_back(settings(point, seed));
    for (const auto& experiment : experiments) put(store, experiment, all);
    store.put_metrics({{metric, "", "min", "", MetricKind::kCount, MetricOwner::kHost}});
    for (const auto& point : points)
      for (const int seed : {1, 2}) {
        if (point.parameters == 0) continue;
        auto attempt = done(settings(point, seed), 50);
        attempt.results[metric] = point.parameters;
        store.put_attempt(attempt);
      }
  }

  /// Returns the note on matched rows, or "" if there is none.
  std::string note(const StudyMatch& match, std::vector<std::string> rows = {}, std::vector<std::string> where = {},
                   const std::vector<std::string>& experiments = {"study"}) const {
    TableRequest request{.experiments = experiments, .rows = std::move(rows), .where = std::move(where)};
    request.matched_by = [&](const std::string& experiment) {
      return experiment == "study" ? std::optional(match) : std::nullopt;
    };
    const auto notes = make_table(Reader(file()), request).notes;
    const auto found = std::find_if(notes.begin(), notes.end(),
                                    [&](const auto& note) { return has(note, match.reference + ", by " + match.width); });
    return found == notes.end() ? "" : *found;
  }
  std::filesystem::path file() const { return folder_ / "a.db"; }

 private:
  Folder folder_;
};

const StudyMatch kBySoftmax{"parameters", "attention=softmax", "model.hidden"};

}  // namespace

TEST_CASE("a note reports that rows are matched, and names rows that differ by more than 2 %") {
  const std::string start = "parameters matched within 2 % to attention=softmax, by model.hidden";
  CHECK(History({{"softmax", 128, 2, 10000}, {"adamra", 40, 2, 10200}}).note(kBySoftmax) == start);
  const History far({{"softmax", 128, 2, 10000}, {"adamra", 40, 2, 9799}, {"linear", 90, 2, 10100}, {"local", 9, 2, 12000}});
  CHECK(far.note(kBySoftmax) == start +
                                    ", except: attention=adamra model.hidden=40 -2.0 % (9799 instead of 10000); "
                                    "attention=local model.hidden=9 +20.0 % (12000 instead of 10000)");
  CHECK(far.note(kBySoftmax, {"attention"}, {"attention=linear,local"}) ==
        start + ", except: attention=local +20.0 % (12000 instead of 10000)");
  CHECK(far.note(kBySoftmax, {}, {"attention=softmax"}).empty());  // only the reference is shown
}

TEST_CASE("rows are compared with the reference of their own task, if that reference has run") {
  const History tasks(
      {{"softmax", 128, 1, 10000}, {"softmax", 128, 2, 20000}, {"adamra", 40, 1, 10050}, {"adamra", 60, 2, 10050}});
  CHECK(has(tasks.note(kBySoftmax, {"attention"}), "except: attention=adamra -49.8 % (10050 instead of 20000)"));
  CHECK_FALSE(has(tasks.note(kBySoftmax, {"attention"}, {"task.pool=1"}), "except"));
  CHECK(History({{"softmax", 128, 1, 0}, {"adamra", 40, 1, 10050}}).note(kBySoftmax) ==
        "parameters as in attention=softmax, by model.hidden: not compared, because their reference has not run: "
        "attention=adamra model.hidden=40");
  CHECK(History({{"softmax", 128, 1, 100}, {"adamra", 40, 1, 0}}).note(kBySoftmax).empty());
  CHECK(has(History({{"linear", 128, 1, 100}, {"adamra", 40, 1, 100}}).note(kBySoftmax),
            "parameters as in attention=softmax, by model.hidden: not compared: "));
  // The reference of the task with pool 2 has not run. The reference of the task with pool 1 does not replace it.
  const History half({{"softmax", 128, 1, 10000}, {"softmax", 128, 2, 0}, {"adamra", 40, 1, 10050}, {"linear", 9, 2, 10050}});
  CHECK(half.note(kBySoftmax, {"attention"}) ==
        "parameters matched within 2 % to attention=softmax, by model.hidden; not compared, because their reference has not "
        "run: attention=linear");
}

TEST_CASE("rows are compared with the reference that the table shows") {
  const History chosen({{"softmax", 128, 1, 10000}, {"softmax", 130, 2, 20000}, {"adamra", 60, 2, 20000}});
  CHECK(has(chosen.note(kBySoftmax, {"attention"}, {"model.hidden=128,60"}), "adamra +100.0 % (20000 instead of 10000)"));
}

TEST_CASE("rows of another experiment with the same trials are not judged") {
  const History two({{"softmax", 128, 1, 10000}, {"adamra", 40, 1, 15000}}, "model/parameters", {"study", "other"});
  const auto note = two.note(kBySoftmax, {}, {}, {"study", "other"});
  CHECK(has(note, "+50.0 %"));
  CHECK_FALSE(has(note, "experiment=other"));
}

TEST_CASE("a reference may be named by a list in TOML's form") {
  const History history({{"softmax", 128, 1, 10000}, {"adamra", 40, 1, 15000}});
  CHECK(has(history.note({"parameters", "attention=[\"softmax\"]", "model.hidden"}), "+50.0 %"));
}

TEST_CASE("the size of a state is shown in bytes") {
  const History states({{"linear", 64, 1, 0.5}, {"retention", 90, 1, 0.75}}, "memory/state");
  CHECK(states.note({"state_bytes", "attention=linear", "model.hidden"}) ==
        "state bytes matched within 2 % to attention=linear, by model.hidden, except: attention=retention model.hidden=90 "
        "+50.0 % (786432 instead of 524288)");
  CHECK(has(states.note(kBySoftmax), "not compared: "));
}
