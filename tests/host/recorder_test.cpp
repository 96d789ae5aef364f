// Results on their way into a database that others hold, damage or take away.
#include "core/host/scheduler/recorder.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <fstream>
#include <thread>

#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using namespace ablate;
namespace fs = std::filesystem;

namespace {

constexpr const char* kKey = "00000000000000000000000000000000000000000000000000000000000000aa";

void describe(db::Store& store) {
  const auto id = store.put_experiment({"e", "", "e.toml", "", {}});
  store.put_trials(id, {{kKey, {{"seed", 1}}}});
}

db::Attempt attempt(double accuracy) {
  db::Attempt made;
  made.key = kKey, made.outcome = "done", made.environment = {{"host", "h"}};
  made.results["test/accuracy"] = accuracy;
  return made;
}

const std::vector<db::Metric> kMetrics = {{"test/accuracy", "%", "max", "d"}};

std::vector<double> accuracies(const fs::path& file) {
  SQLite::Database database(file.string(), SQLite::OPEN_READONLY);
  SQLite::Statement ask(database, "SELECT value FROM result ORDER BY attempt");
  std::vector<double> all;
  while (ask.executeStep()) all.push_back(ask.getColumn(0).getDouble());
  return all;
}

}  // namespace

TEST_CASE("what a study needs is written even where it takes another process's lock to end") {
  TemporaryFolder folder;
  db::Store store(folder / "h.db");
  Recorder recorder(store, describe, [](const std::string&) {});
  SQLite::Database other((folder / "h.db").string(), SQLite::OPEN_READWRITE, 1000);
  auto lock = std::make_unique<SQLite::Transaction>(other, SQLite::TransactionBehavior::IMMEDIATE);
  std::thread end([&] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    lock->commit();
  });
  CHECK_NOTHROW(recorder.begin());
  end.join();
  // From then on nobody waits: the result does.
  lock = std::make_unique<SQLite::Transaction>(other, SQLite::TransactionBehavior::IMMEDIATE);
  recorder.put(attempt(1), kMetrics);
  CHECK(accuracies(folder / "h.db").empty());
  lock->commit();
  recorder.finish([] { return false; });
  CHECK(accuracies(folder / "h.db") == std::vector<double>{1});
  CHECK(recorder.rescued().empty());
}

TEST_CASE("a lock that does not end sends everything into a file beside it") {
  TemporaryFolder folder;
  db::Store store(folder / "h.db");
  std::string told;
  Recorder recorder(store, describe, [&](const std::string& text) { told = text; });
  recorder.begin();
  recorder.put(attempt(1), kMetrics);
  SQLite::Database other((folder / "h.db").string(), SQLite::OPEN_READWRITE, 1000);
  const SQLite::Transaction lock(other, SQLite::TransactionBehavior::IMMEDIATE);
  recorder.put(attempt(2), kMetrics);
  CHECK(told.find("1 finished trial waits to be written") != std::string::npos);
  int asked = 0;
  recorder.finish([&] { return ++asked > 2; });
  REQUIRE(fs::exists(recorder.rescued()));
  CHECK(accuracies(recorder.rescued()) == std::vector<double>{1, 2});
  CHECK(recorder.where_everything_is().find(recorder.rescued().string()) != std::string::npos);
}

TEST_CASE("of a file that is destroyed what this run still has is kept in a new one") {
  TemporaryFolder folder;
  db::Store store(folder / "h.db");
  Recorder recorder(store, describe, [](const std::string&) {});
  recorder.begin();
  for (const auto* end : {"", "-wal"}) {
    std::fstream file((folder / "h.db").string() + end, std::ios::in | std::ios::out | std::ios::binary);
    file << std::string(1 << 16, 'x');
  }
  recorder.put(attempt(3), kMetrics);
  REQUIRE(fs::exists(recorder.rescued()));
  CHECK(accuracies(recorder.rescued()) == std::vector<double>{3});
}
