// Every count of failures groups failures in the same way.
#include <set>

#include "core/host/scheduler/whole_grid.h"
#include "db/questions/attempts/watch_state.h"
#include "db/questions/tables/make_table.h"
#include "db/questions/tables/report_data.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

TEST_CASE("a run, the watch, a table and a report group failures in the same way") {
  const std::string x(150, 'x'), y(300, 'y');
  const std::vector<std::string> reasons = {"loss is nan at step 12",
                                            "loss is nan at step 340",
                                            x + " one",
                                            x + " two",
                                            "first\nsecond",
                                            "first\nthird",
                                            y + "1 a",
                                            y + "2 b"};
  constexpr std::size_t kGroups = 6;  // numbers, and text after 200 characters, do not separate groups
  const Folder folder;
  Store store(folder / "a.db");
  std::vector<nlohmann::json> trials;
  std::vector<Trial> planned_trials(reasons.size());
  std::vector<PlannedTrial> planned;
  std::vector<TrialEnd> ends;
  planned.reserve(reasons.size());
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    trials.push_back(trial("softmax", {}, static_cast<int>(i)));
    planned_trials[i].spec.attention.all = {{.id = "softmax"}};
    planned_trials[i].spec.seed = i;
    planned.push_back({.trial = &planned_trials[i]});
    ends.push_back({&planned.back(), "failed: " + reasons[i]});
  }
  put(store, "study", trials);
  for (std::size_t i = 0; i < reasons.size(); ++i) store.put_attempt(failed(trials[i], reasons[i]));

  const auto lines = failure_lines(ends);
  CHECK(lines.size() == kGroups);
  CHECK(lines[0].starts_with("2 failed: "));
  const Reader reader(folder / "a.db");
  const auto watched = watch_state(reader, "study", 1'700'000'000'000'000).failures;
  CHECK(watched.size() == kGroups);
  CHECK(watched[0].trials == 2);
  const auto table = make_table(reader, {{"study"}, {"attention"}, {}, {"test/accuracy"}});
  const auto& failures = table.cells.at(0).failures;
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].count == 8);
  CHECK(failures[0].other_reasons == 6);  // all reasons except the two of the first group
  const auto report = report_data(reader, {{"study"}, {}});
  CHECK(report["reasons"].size() == reasons.size());
  CHECK(std::set<std::string>(report["reason_groups"].begin(), report["reason_groups"].end()).size() == kGroups);
}
