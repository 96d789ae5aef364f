// Disturbances around a running grid: no result is lost, no wrong result is stored, no process is left.
#include <SQLiteCpp/SQLiteCpp.h>
#include <signal.h>
#include <string.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <thread>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

void nap(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

bool until(const std::function<bool()>& holds, double seconds = 60) {
  for (double waited = 0; waited < seconds; waited += 0.02) {
    if (holds()) return true;
    nap(0.02);
  }
  return holds();
}

/// Returns a grid with one trial for each number in `steps`. 6 steps take milliseconds, and 20,000 steps take many seconds.
std::string grid(const std::string& steps) {
  return kTiny + "[attention]\nplugin = \"linear\"\n[grid]\ntrain.steps = [" + steps + "]\n";
}

/// Returns the processes that run `program` and whose parent is `parent`.
std::vector<pid_t> children(pid_t parent, const std::string& program) {
  std::vector<pid_t> found;
  for (const auto pid : children_of(parent)) {
    std::error_code gone;
    if (fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", gone).filename() == program) found.push_back(pid);
  }
  return found;
}

pid_t worker_of(const Process& ablate) {
  std::vector<pid_t> found;
  until([&] { return !(found = children(ablate.pid(), "ablate-worker")).empty(); });
  return found.empty() ? -1 : found.front();
}

bool has_child(pid_t worker) { return !children(worker, "ablate-worker").empty(); }

/// True if a trial runs; a task that is prepared before the first trial does not count.
bool has_trial(const Workplace& place, pid_t worker) { return place.has_database() && has_child(worker); }

std::string outcomes(Workplace& place) {
  std::string all;
  for (const auto& row : place.query("SELECT outcome FROM attempts ORDER BY attempt"))
    all += (all.empty() ? "" : " ") + row.at("outcome").get<std::string>();
  return all;
}

fs::path rescued(const Workplace& place) {
  for (const auto& entry : fs::directory_iterator(place.folder().path()))
    if (says(entry.path().filename(), ".rescued-") && entry.path().extension() == ".db") return entry.path();
  return {};
}

}  // namespace

TEST_CASE("a database that is removed or replaced while a grid runs loses nothing, and the grid ends with an error") {
  const bool replace = GENERATE(false, true);
  Workplace place;
  REQUIRE(place.run({"run", place.study(grid("3")).string()}).exit_code == 0);  // the history has an earlier run
  auto running = place.start({"run", place.study(grid("5, 4000, 7, 200000")).string(), "-j", "1"});
  REQUIRE(until([&] { return says(running.printed(), "[1/4] done"); }));
  REQUIRE(until([&] { return has_trial(place, worker_of(running)); }));  // the second trial
  fs::remove(place.folder() / "ablate.db");                              // the write-ahead log stays
  if (replace) std::ofstream(place.folder() / "ablate.db") << "of somebody else";
  const auto ended = running.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 2);
  CHECK(says(ended.err, replace ? "replaced" : "removed"));
  const auto file = rescued(place);
  REQUIRE_FALSE(file.empty());
  CHECK(says(ended.err, file.filename()));
  const auto kept = json::parse(place
                                    .run({"--db", file.string(), "query",
                                          "SELECT \"train.steps\" AS s, outcome FROM trials ORDER BY s", "--format", "json"})
                                    .out);
  INFO(kept.dump());
  REQUIRE(kept.size() >= 3);
  CHECK(kept[0] == json({{"s", 3}, {"outcome", "done"}}));
  CHECK(kept[1] == json({{"s", 5}, {"outcome", "done"}}));
  for (const auto& row : kept)
    if (row.at("s") == 4000) CHECK(row.at("outcome") == "done");  // it ran when the database was removed
  if (replace) CHECK(read_text(place.folder() / "ablate.db") == "of somebody else");
  for (const auto* end : {"-wal", "-shm"}) CHECK_FALSE(fs::exists((place.folder() / "ablate.db").string() + end));
  // The rescued file is a history: the grid continues in it.
  fs::rename(file, place.folder() / "ablate.db");
  CHECK(says(place.run({"run", place.study(grid("3, 5")).string()}).err, "0 done, 2 done before"));
}

TEST_CASE("a missing database is reported at once, not only when a trial ends") {
  Workplace place;
  auto running = place.start({"run", place.study(grid("3, 2000000, 5")).string(), "-j", "1"});
  REQUIRE(until([&] { return says(running.printed(), "[1/3] done"); }));
  REQUIRE(until([&] { return has_trial(place, worker_of(running)); }));
  fs::rename(place.folder() / "ablate.db", place.folder() / "moved.db");
  CHECK(until([&] { return says(running.printed(), "was removed or moved"); }, 20));
  running.send(SIGINT);
  const auto ended = running.wait();
  CHECK(ended.exit_code == 2);
  const auto count = [&](const fs::path& file) {
    return place.run({"--db", file.string(), "query", "SELECT outcome FROM attempts ORDER BY attempt", "--format", "csv"}).out;
  };
  CHECK(count(rescued(place)) == "outcome\ndone\ninterrupted\n");
  CHECK(count(place.folder() / "moved.db") == "outcome\ndone\n");  // complete, although its log stayed at the old path
}

TEST_CASE("a write-ahead log that is removed while another run opens the database loses nothing") {
  Workplace place;
  auto running = place.start({"run", place.study(grid("3, 2000")).string(), "-j", "1"});
  REQUIRE(until([&] { return says(running.printed(), "[1/2] done"); }));
  REQUIRE(until([&] { return has_trial(place, worker_of(running)); }));  // the second trial
  for (const auto* end : {"-wal", "-shm"}) fs::remove((place.folder() / "ablate.db").string() + end);
  const auto ended = running.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 2);
  CHECK(says(ended.err, "log"));
  const auto kept = place.run({"--db", rescued(place).string(), "query", "SELECT outcome FROM trials", "--format", "csv"});
  CHECK(kept.out == "outcome\ndone\ndone\n");
}

TEST_CASE("a log that cannot grow does not end a grid") {
  Workplace place;
  const auto log = place.folder().write("log", std::string(80 << 10, 'x'));
  const auto study = place.study(kTiny + "[attention]\nplugin = \"linear\"\n[grid]\nseeds = 3\n").string();
  const auto ended = place.start_shell("ulimit -f 4000; exec " + kBin + "ablate run " + study + " 2>>" + log.string()).wait();
  CHECK(ended.exit_code == 0);
  const auto limited =
      place.start_shell("(ulimit -f 80; exec " + kBin + "ablate plugins 2>/dev/null >>" + log.string() + ")").wait();
  CHECK(limited.exit_code == 2);  // reported, not killed by SIGXFSZ
}

TEST_CASE("while another process locks the database, trials run on, none starts, and results are written later") {
  Workplace place;
  auto running = place.start({"run", place.study(grid("1500, 1501, 1502, 1503, 1504, 1505")).string(), "-j", "2"});
  REQUIRE(until([&] { return says(running.printed(), "[1/6] done"); }));
  {
    SQLite::Database other((place.folder() / "ablate.db").string(), SQLite::OPEN_READWRITE, 5000);
    SQLite::Transaction lock(other, SQLite::TransactionBehavior::IMMEDIATE);
    REQUIRE(until([&] { return says(running.printed(), "; waits to be written"); }));
    std::this_thread::sleep_for(std::chrono::seconds(2));
    CHECK(says(running.printed(), "warning: "));
    CHECK_FALSE(says(running.printed(), "[6/6]"));  // a trial that starts unrecorded could run twice
  }
  const auto ended = running.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(says(ended.err, "6 done, 0 done before, 0 failed"));
  CHECK(says(ended.err, "the database can be written again"));
  CHECK(outcomes(place) == "done done done done done done");
}

TEST_CASE("a worker that is killed from outside costs no trial") {
  Workplace place;
  auto running = place.start({"run", place.study(grid("2000, 2001, 2002")).string(), "-j", "2"});
  const auto worker = worker_of(running);
  REQUIRE(until([&] { return has_trial(place, worker); }));
  nap(0.2);
  kill(worker, SIGKILL);
  const auto ended = running.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(says(ended.err, "3 done, 0 done before, 0 failed"));
  CHECK(says(ended.err, "the worker ended (signal 9"));
  CHECK(place.query("SELECT count(*) AS n FROM trials WHERE outcome = 'done'")[0]["n"] == 3);
  CHECK(place.query("SELECT count(*) AS n FROM attempts WHERE outcome = 'lost'")[0]["n"].get<int>() >= 1);
}

TEST_CASE("a stopped worker is replaced if trials have a time limit") {
  Workplace place;
  auto running = place.start({"run", place.study(grid("600")).string(), "--set", "experiment.timeout=10"});
  const auto worker = worker_of(running);
  REQUIRE(until([&] { return has_trial(place, worker); }));
  kill(worker, SIGSTOP);
  for (const auto trial : children(worker, "ablate-worker")) kill(trial, SIGSTOP);
  const auto ended = running.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(outcomes(place) == "lost done");
  CHECK(kill(worker, 0) != 0);
}

TEST_CASE("a scheduler that was stopped accepts results that its trials produced in time") {
  Workplace place;
  auto running = place.start({"run", place.study(grid("600")).string(), "--set", "experiment.timeout=10"});
  const auto worker = worker_of(running);
  REQUIRE(until([&] { return has_trial(place, worker); }));
  running.send(SIGSTOP);
  REQUIRE(until([&] { return !has_child(worker); }));  // the trial has ended by itself
  nap(10.5);
  running.send(SIGCONT);
  const auto ended = running.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(outcomes(place) == "done");
}

TEST_CASE("a closed terminal is recorded as an interruption") {
  Workplace place;
  auto running = place.start({"run", place.study(grid("3, 2000000")).string(), "-j", "1"});
  REQUIRE(until([&] { return says(running.printed(), "[1/2] done"); }));
  REQUIRE(until([&] { return has_trial(place, worker_of(running)); }));
  running.send(SIGHUP);
  const auto ended = running.wait();
  CHECK(ended.exit_code == 130);
  CHECK(outcomes(place) == "done interrupted");
  CHECK(says(place.query("SELECT reason FROM attempts ORDER BY attempt DESC")[0]["reason"], "SIGHUP"));
  // An ignored signal stays ignored, as under nohup.
  Workplace other;
  const auto study = other.study(grid("2000")).string();
  auto deaf = other.start_shell("trap '' HUP; exec " + kBin + "ablate run " + study);
  REQUIRE(until([&] { return has_trial(other, worker_of(deaf)); }));
  deaf.send(SIGHUP);
  CHECK(deaf.wait().exit_code == 0);
}

TEST_CASE("a batch system's signal is recorded as an interruption even if nobody reads stderr") {
  const auto signal = GENERATE(SIGTERM, SIGUSR1, SIGXCPU);
  Workplace place;
  const auto study = place.study(grid("2000000")).string();
  auto running = place.start_shell("mkfifo pipe; exec 3<>pipe; head -c 65536 /dev/zero >&3; exec " + kBin + "ablate run " +
                                   study + " 2>&3");
  REQUIRE(until([&] { return has_trial(place, worker_of(running)); }));
  nap(0.3);
  running.send(signal);
  CHECK(running.wait().exit_code == 130);
  CHECK(outcomes(place) == "interrupted");
  CHECK(says(place.query("SELECT reason FROM attempts")[0]["reason"], std::string("SIG") + sigabbrev_np(signal)));
}

TEST_CASE("a first worker that dies at its start is replaced, in a grid and in a check") {
  const bool is_check = GENERATE(false, true);
  Workplace place;
  const auto program = place.folder().write("worker", "#!/bin/sh\nmkdir '" + (place.folder() / "died").string() +
                                                          "' 2>/dev/null && kill -9 $$\nexec " + kBin +
                                                          (is_check ? "ablate-checker" : "ablate-worker") + " \"$@\"\n");
  fs::permissions(program, fs::perms::owner_all);
  place.set("ABLATE_WORKER", program.string());
  place.set("XDG_CACHE_HOME", (place.folder() / "cache").string());  // no cached data: the first request prepares the task
  fs::create_directories(place.folder() / "cache/ablate");
  fs::copy_file(std::string(ABLATE_BUILD_DIR) + "/tests/cache/ablate/plugins.json",
                place.folder() / "cache/ablate/plugins.json");
  const auto study = place.study(grid("3")).string();
  const auto ended = place.run(is_check ? std::vector<std::string>{"check", "linear", "--quick", "--only", "causal"}
                                        : std::vector<std::string>{"run", study});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(fs::exists(place.folder() / "died"));
}

TEST_CASE("if descriptors are too few for the jobs, fewer trials run at a time, and a message says so") {
  Workplace place;
  const auto study = place.study(kTiny + "[attention]\nplugin = \"linear\"\n[grid]\nseeds = 40\n").string();
  const auto ended = place.start_shell("ulimit -n 100; exec " + kBin + "ablate run " + study + " -j 40").wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(says(ended.err, "40 done, 0 done before, 0 failed"));
  CHECK(says(ended.err, "trials at a time instead of 40: file descriptors allow no more (ulimit -n)"));
}

TEST_CASE("a daemon that a trial left behind does not outlive a killed scheduler") {
  Workplace place;
  auto running = place.start({"--plugins", kFaulty + "trial", "run",
                              place.study(kTiny + "[attention]\nplugin = \"faulty\"\nfault = \"daemon-and-hang\"\n").string()});
  const auto daemon = [] { return Process({"pgrep", "-fx", "sleep 98764"}).wait().exit_code == 0; };
  REQUIRE(until(daemon));
  running.send(SIGKILL);
  running.wait();
  CHECK(until([&] { return !daemon(); }, 10));
}
