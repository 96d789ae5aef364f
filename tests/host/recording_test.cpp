// A study on its way into a run history: whole, or not at all.
#include "core/host/scheduler/recording.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/util/stop_on_signal.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using namespace ablate;

namespace {

/// So many trials of a study, with keys of their own.
struct Planned {
  explicit Planned(std::size_t count) {
    study.name = "tiny", study.file = "tiny.toml";
    for (std::size_t i = 0; i < count; ++i) study.trials.push_back({.spec = {.attention = {.all = {{}}}, .seed = i}});
    for (const auto& trial : study.trials) {
      const auto part = [](const nlohmann::json& object) { return std::make_shared<const SharedIdentity::Part>(object); };
      trials.push_back({.trial = &trial, .identity = {{part({{"seed", trials.size()}})}, part({{"torch", "2"}})}});
      trials.back().key = trials.back().identity.key();
    }
  }

  Recording recording() {
    return {study, trials, {}, ManyTrials(study.name, trials.size(), [this](const std::string& line) { said += line + "\n"; })};
  }

  Study study;
  std::vector<PlannedTrial> trials;
  std::string said;
};

std::vector<int> counts(const std::filesystem::path& file) {
  SQLite::Database database(file.string(), SQLite::OPEN_READONLY);
  std::vector<int> all;
  for (const auto* table : {"experiment", "trial", "experiment_trial", "key_part"})
    all.push_back(database.execAndGet(std::string("SELECT count(*) FROM ") + table).getInt());
  return all;
}

}  // namespace

TEST_CASE("a signal while a study is recorded leaves nothing of it, and what has results to save is recorded all the same") {
  TemporaryFolder folder;
  auto store = open_history(folder / "h.db");
  Planned planned(3);
  const auto recording = planned.recording();
  {
    const StopOnSignal stop;
    REQUIRE(raise(SIGTERM) == 0);
    CHECK_THROWS_AS(recording.write(store, true), Interrupted);
    CHECK(counts(folder / "h.db") == std::vector<int>{0, 0, 0, 0});
    recording.write(store, false);
  }
  CHECK(counts(folder / "h.db") == std::vector<int>{1, 3, 3, 3});
  recording.write(store, true);  // no signal any more
  CHECK(counts(folder / "h.db") == std::vector<int>{1, 3, 3, 3});
  CHECK(planned.said.empty());
}

TEST_CASE("how far the recording of very many trials is, is told") {
  TemporaryFolder folder;
  auto store = open_history(folder / "h.db");
  Planned planned(10001);
  planned.recording().write(store, true);
  CHECK(planned.said ==
        "tiny: 10001 trials: recording them\ntiny: 10000 of 10001 trials recorded\n"
        "tiny: 10000 of 10001 trials recorded with what their keys are made of\n");
}

TEST_CASE("a signal ends the wait for a history that another process holds") {
  TemporaryFolder folder;
  auto store = open_history(folder / "h.db");
  Planned planned(1);
  SQLite::Database other((folder / "h.db").string(), SQLite::OPEN_READWRITE, 1000);
  const SQLite::Transaction lock(other, SQLite::TransactionBehavior::IMMEDIATE);
  const StopOnSignal stop;
  REQUIRE(raise(SIGINT) == 0);
  CHECK_THROWS_AS(planned.recording().write(store, true), Interrupted);  // and not db::Unavailable, after half a minute
}
