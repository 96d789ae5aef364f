// Results are written into a database that other processes lock, damage or remove.
#include "core/host/scheduler/recorder.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <fstream>
#include <thread>

#include "db/history/experiments.h"
#include "db/history/store.h"
#include "tests/support/catch.h"
#include "tests/support/simulated_clock.h"
#include "tests/support/temporary.h"

using namespace ablate;
namespace fs = std::filesystem;

namespace {

constexpr const char* kKey = "00000000000000000000000000000000000000000000000000000000000000aa";

void describe(db::GridStore& store) {
  const auto id = store.put_experiment({"e", "", "e.toml", "", {}});
  store.put_trials(id, {{kKey, {{"seed", 1}}}});
}

db::Attempt attempt(double accuracy) {
  db::Attempt made;
  made.key = kKey, made.outcome = "done", made.environment = {{"host", "h"}};
  made.results["test/accuracy"] = accuracy;
  return made;
}

const std::vector<MetricInfo> kMetrics = {{"test/accuracy", "%", "max", "d"}};

std::vector<double> accuracies(const fs::path& file) {
  SQLite::Database database(file.string(), SQLite::OPEN_READONLY);
  SQLite::Statement ask(database, "SELECT value FROM result ORDER BY attempt");
  std::vector<double> all;
  while (ask.executeStep()) all.push_back(ask.getColumn(0).getDouble());
  return all;
}

}  // namespace

TEST_CASE("a run warns once if attempts at one trial differ in the same environment") {
  TemporaryFolder folder;
  db::Store store(folder / "h.db");
  std::vector<std::string> notes;
  Recorder recorder(store, {}, describe, [&](const std::string& note) { notes.push_back(note); });
  recorder.begin();
  for (const double accuracy : {60, 60, 61, 62}) {
    auto one = attempt(accuracy);
    one.environment["torch"] = "2.11.0";
    CHECK(recorder.put(one, kMetrics).empty());
    CHECK(notes.size() == (accuracy > 60 ? 1 : 0));
  }
  CHECK(
      notes.at(0).starts_with("warning: attempts 3 and 2 at trial 000000000000 have different numbers in the same "
                              "environment: test/accuracy 61 and 60. The latest attempt counts"));
}

TEST_CASE("the records that a study needs are written even if another process must first release its lock") {
  TemporaryFolder folder;
  db::Store store(folder / "h.db");
  Recorder recorder(store, {}, describe, [](const std::string&) {});
  SQLite::Database other((folder / "h.db").string(), SQLite::OPEN_READWRITE, 1000);
  auto lock = std::make_unique<SQLite::Transaction>(other, SQLite::TransactionBehavior::IMMEDIATE);
  std::thread end([&] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    lock->commit();
  });
  CHECK_NOTHROW(recorder.begin());
  end.join();
  // From now on a lock delays only the result, not the run.
  lock = std::make_unique<SQLite::Transaction>(other, SQLite::TransactionBehavior::IMMEDIATE);
  CHECK(recorder.put(attempt(1), kMetrics) == "; waits to be written");
  CHECK(accuracies(folder / "h.db").empty());
  lock->commit();
  recorder.finish([] { return false; });
  CHECK(accuracies(folder / "h.db") == std::vector<double>{1});
  CHECK(recorder.rescued().empty());
}

TEST_CASE("a lock that does not end moves all results into a file beside the history") {
  TemporaryFolder folder;
  db::Store store(folder / "h.db");
  std::string latest_note;
  Recorder recorder(store, {}, describe, [&](const std::string& text) { latest_note = text; });
  recorder.begin();
  CHECK(recorder.put(attempt(1), kMetrics).empty());
  SQLite::Database other((folder / "h.db").string(), SQLite::OPEN_READWRITE, 1000);
  const SQLite::Transaction lock(other, SQLite::TransactionBehavior::IMMEDIATE);
  recorder.put(attempt(2), kMetrics);
  CHECK(latest_note.find("1 finished trial waits to be written") != std::string::npos);
  int asked = 0;
  recorder.finish([&] { return ++asked > 2; });
  REQUIRE(fs::exists(recorder.rescued()));
  CHECK(accuracies(recorder.rescued()) == std::vector<double>{1, 2});
  CHECK(recorder.where_everything_is().find(recorder.rescued().string()) != std::string::npos);
}

TEST_CASE("if the history is destroyed, a new file gets this run's results and is not called the history") {
  TemporaryFolder folder;
  db::Store store(folder / "h.db");
  std::string latest_note;
  Recorder recorder(store, {}, describe, [&](const std::string& text) { latest_note = text; });
  recorder.begin();
  recorder.put(attempt(1), kMetrics);
  SQLite::Database((folder / "h.db").string(), SQLite::OPEN_READWRITE).exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const bool all = GENERATE(false, true);  // true: damages the whole file; false: all except page 1
  {
    std::fstream file(folder / "h.db", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(all ? 0 : 4096);
    file << std::string(1 << 16, 'x');
  }
  recorder.put(attempt(3), kMetrics);
  REQUIRE(fs::exists(recorder.rescued()));
  CHECK(accuracies(recorder.rescued()) == std::vector<double>{3});
  CHECK(latest_note.find("earlier results could not be copied and stay where they are") != std::string::npos);
  recorder.finish([] { return false; });
  const auto text = recorder.where_everything_is();
  INFO(text);
  for (const auto* part : {"Everything", "put it in the database's place"}) CHECK(text.find(part) == std::string::npos);
  for (const auto& part :
       {std::string("could not be copied"), "they are only in " + (folder / "h.db").string(),
        "sqlite3 " + (folder / "h.db").string() + " .recover | sqlite3 " + (folder / "h.recovered.db").string(),
        recorder.rescued().string() + " has the results of this run that the database could not store: 1 finished trial"})
    CHECK(text.find(part) != std::string::npos);
}

TEST_CASE("an experiment that is renamed or deleted during a run loses no later result") {
  TemporaryFolder folder;
  const auto file = folder / "h.db";
  db::Store store(file);
  std::string latest_note;
  Recorder recorder(store, {}, describe, [&](const std::string& text) { latest_note = text; });
  recorder.begin();
  CHECK(recorder.put(attempt(1), kMetrics).empty());
  db::rename_experiment(file, "e", "renamed");
  CHECK(recorder.put(attempt(2), kMetrics).empty());
  CHECK(accuracies(file) == std::vector<double>{1, 2});
  CHECK(latest_note.empty());
  db::delete_experiment(file, "renamed", db::deletion_of(db::Reader(file), "renamed"), false, folder / "backup.db");
  CHECK(accuracies(file).empty());
  CHECK(recorder.put(attempt(3), kMetrics).empty());
  CHECK(latest_note.find("deleted during its run: it is recorded again") != std::string::npos);
  CHECK(accuracies(file) == std::vector<double>{3});
  CHECK(db::Reader(file).experiments() == std::vector<std::string>{"e"});
  recorder.finish([] { return true; });
  CHECK(recorder.rescued().empty());
  CHECK(accuracies(folder / "backup.db") == std::vector<double>{1, 2});
}

TEST_CASE("two runs with the same PID that rescue results within a second write separate files") {
  TemporaryFolder folder;
  db::Store first(folder / "h.db"), second(folder / "h.db");
  SimulatedClock clock;
  const Surroundings outside{.clock = clock, .process = 1};
  Recorder one(first, outside, describe, [](const std::string&) {}), two(second, outside, describe, [](const std::string&) {});
  one.begin(), two.begin();
  fs::remove(folder / "h.db");
  one.put(attempt(1), kMetrics), two.put(attempt(2), kMetrics);
  CHECK(one.rescued() != two.rescued());
  CHECK(accuracies(one.rescued()) == std::vector<double>{1});
  CHECK(accuracies(two.rescued()) == std::vector<double>{2});
}
