// A study is recorded completely, or not at all.
#include "core/host/scheduler/recording.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/util/stop_on_signal.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using namespace ablate;

namespace {

/// `count` trials of a study, each with its own key.
struct Planned {
  explicit Planned(std::size_t count) {
    study.name = "tiny", study.file = "tiny.toml";
    for (std::size_t i = 0; i < count; ++i) study.trials.push_back({.spec = {.attention = {.all = {{}}}, .seed = i}});
    for (const auto& trial : study.trials) {
      trials.push_back({.trial = &trial, .identity = {{{"seed", trials.size()}}, {{"torch", "2"}}}});
      trials.back().key = trials.back().identity.key();
    }
  }

  void record(db::GridStore& into, bool ends_early) { record_study(into, study, trials, {}, {}, 0, ends_early); }

  Study study;
  std::vector<PlannedTrial> trials;
};

std::vector<int> counts(const std::filesystem::path& file) {
  SQLite::Database database(file.string(), SQLite::OPEN_READONLY);
  std::vector<int> all;
  for (const auto* table : {"experiment", "trial", "experiment_trial", "key_part"})
    all.push_back(database.execAndGet(std::string("SELECT count(*) FROM ") + table).getInt());
  return all;
}

}  // namespace

TEST_CASE("a signal during recording leaves no part of the study, and a study with results is still recorded") {
  TemporaryFolder folder;
  auto store = open_history(folder / "h.db");
  Planned planned(3);
  {
    const StopOnSignal stop;
    REQUIRE(raise(SIGTERM) == 0);
    CHECK_THROWS_AS(planned.record(store, true), Interrupted);
    CHECK(counts(folder / "h.db") == std::vector<int>{0, 0, 0, 0});
    planned.record(store, false);
  }
  CHECK(counts(folder / "h.db") == std::vector<int>{1, 3, 3, 3});
  planned.record(store, true);  // the signal is forgotten when its StopOnSignal ends
  CHECK(counts(folder / "h.db") == std::vector<int>{1, 3, 3, 3});
}

TEST_CASE("a signal ends the wait for a history that another process locks") {
  TemporaryFolder folder;
  auto store = open_history(folder / "h.db");
  Planned planned(1);
  SQLite::Database other((folder / "h.db").string(), SQLite::OPEN_READWRITE, 1000);
  const SQLite::Transaction lock(other, SQLite::TransactionBehavior::IMMEDIATE);
  const StopOnSignal stop;
  REQUIRE(raise(SIGINT) == 0);
  CHECK_THROWS_AS(planned.record(store, true), Interrupted);  // and not db::Unavailable after half a minute
}
