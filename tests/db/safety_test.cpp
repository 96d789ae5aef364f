// Nothing is lost or written elsewhere if other programs lock, remove, replace or damage the history, or the disk is full.
#include <SQLiteCpp/SQLiteCpp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/history/process.h"
#include "db/history/running.h"
#include "db/history/schema.h"
#include "db/questions/attempts/list_attempts.h"
#include "db/questions/attempts/show_attempt.h"
#include "db/questions/exports/query.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

const auto kA = trial("softmax", {}, 1), kB = trial("linear", {}, 1);

/// A store with two trials, one of them done.
struct Recorded {
  Folder folder;
  std::filesystem::path file = folder / "a.db";
  Store store{file};

  Recorded() {
    put(store, "study", {kA, kB});
    store.put_attempt(done(kA, 70));
  }
  std::string gone() {
    try {
      store.put_attempt(done(kB, 80));
    } catch (const Gone& error) {
      return error.what();
    }
    return "";
  }
};

std::int64_t runs_in(const std::filesystem::path& file) { return list_attempts(Reader(file), {}).total; }

}  // namespace

TEST_CASE("a file that was removed, moved, replaced or emptied is not written, and its content can be rescued") {
  Recorded at;
  const auto rescued = at.folder / "rescued.db";
  SECTION("removed, and the recorded rows are still in the write-ahead log") {
    REQUIRE(std::filesystem::file_size(at.file.string() + "-wal") > 0);
    for (const auto* part : {"", "-wal", "-shm"}) std::filesystem::remove(at.file.string() + part);
    CHECK(has(at.gone(), "a.db was removed or moved since it was opened"));
    at.store.rescue(rescued);
    CHECK_FALSE(std::filesystem::exists(at.file));
  }
  SECTION("moved") {
    std::filesystem::rename(at.file, at.folder / "b.db");
    CHECK(has(at.gone(), "was removed or moved"));
    at.store.rescue(rescued);
  }
  SECTION("replaced by another history, which stays unchanged") {
    const auto other = at.folder / "other.db";
    { Store store(other); }
    const auto before = content(other);
    std::filesystem::rename(other, at.file);
    CHECK(has(at.gone(), "was replaced by another file"));
    CHECK(content(at.file) == before);
    at.store.rescue(rescued);
    CHECK(content(at.file) == before);
  }
  SECTION("emptied") {
    std::filesystem::resize_file(at.file, 0);
    CHECK(has(at.gone(), "was emptied"));
    return;  // nothing can be rescued, because the log is lost as well
  }
  CHECK(runs_in(rescued) == 1);
  CHECK(show_attempt(Reader(rescued), "1")["results"][0]["value"] == 70);
  Store again(rescued);  // the rescued file is an ordinary history
  again.put_attempt(done(kB, 80));
  CHECK(again.done({key_of(kA), key_of(kB)}).size() == 2);
  CHECK(has(error_of([&] { at.store.rescue(rescued); }), "it exists"));
  CHECK(has(error_of([&] { at.store.rescue(at.folder / "none/x.db"); }), "cannot rescue"));
}

TEST_CASE("a file that was overwritten in place is distinguished from a file with a temporary fault") {
  Recorded at;
  const auto overwrite = [&](std::streamoff from) {
    std::fstream out(at.file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(from);
    out << std::string(std::filesystem::file_size(at.file) - static_cast<std::size_t>(from), 'x');
  };
  SECTION("the log still has everything that SQLite needs") {
    overwrite(0);
    CHECK(has(at.gone(), "was overwritten since it was opened"));
    at.store.rescue(at.folder / "rescued.db");
    CHECK(runs_in(at.folder / "rescued.db") == 1);
  }
  SECTION("overwritten after its beginning, with an empty log") {
    SQLite::Database(at.file.string(), SQLite::OPEN_READWRITE).exec("PRAGMA wal_checkpoint(TRUNCATE)");
    Store store(at.file);
    overwrite(100);
    CHECK_THROWS_AS(store.put_attempt(done(kB, 80)), Gone);
  }
}

TEST_CASE("every write first checks the file, from any working folder") {
  Recorded at;
  const auto home = std::filesystem::current_path();
  std::filesystem::current_path(at.folder / ".");
  Store relative("a.db");
  std::filesystem::current_path(home);
  CHECK_NOTHROW(relative.put_metrics(usual_metrics()));
  std::filesystem::remove(at.file);
  CHECK_THROWS_AS(relative.put_metrics(usual_metrics()), Gone);
  CHECK_THROWS_AS(relative.put_experiment({"x", "", "", "", {}}), Gone);
  CHECK_THROWS_AS(relative.put_trials(1, {}), Gone);
  CHECK_THROWS_AS(relative.put_published(1, {}), Gone);
  CHECK_THROWS_AS(relative.put_running({}), Gone);
}

TEST_CASE("the store waits for another process's lock up to the limit, and then continues") {
  Recorded at;
  at.store.set_patience(20);
  SQLite::Database other(at.file.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  CHECK_THROWS_AS(at.store.put_attempt(done(kB, 80)), Unavailable);
  CHECK(has(error_of([&] { at.store.put_attempt(done(kB, 80)); }), "for more than 0.02 s"));
  CHECK(at.store.done({key_of(kA)}).size() == 1);  // reading works while another connection writes
  other.exec("COMMIT");
  at.store.put_attempt(done(kB, 80));
  CHECK(runs_in(at.file) == 2);
}

TEST_CASE("a full disk is reported as a temporary fault, and the same call succeeds later") {
  Recorded at;
  auto attempt = done(kB, 80);
  attempt.output.assign(1 << 20, 'x');
  rlimit before{}, small{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handled = signal(SIGXFSZ, SIG_IGN);
  small = {1 << 19, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  bool unavailable = false;
  try {
    at.store.put_attempt(attempt);
  } catch (const Unavailable&) {
    unavailable = true;
  }
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handled);
  CHECK(unavailable);
  CHECK(at.store.put_attempt(attempt) == 2);
}

TEST_CASE("only regular files can be histories, and a database that would be lost with the process is refused") {
  Folder folder;
  mkfifo((folder / "fifo").c_str(), 0600);
  for (const auto& [name, message] : std::vector<std::pair<std::string, std::string>>{
           {":memory:", "it would be lost when the process ends"},
           {"", "it would be lost when the process ends"},
           {"file::memory:?cache=shared", "expected a file's path, not a URI"},
           {(folder / ".").string(), "is a folder"},
           {(folder / "fifo").string(), "is a FIFO"},
           {"/dev/zero", "is a device"},
           {(folder / "none/a.db").string(), "there is no folder " + (folder / "none").string()}}) {
    INFO(name);
    CHECK(has(error_of([&] { Store store(name); }), message));
    CHECK(has(error_of([&] { Reader reader(name); }), message));
  }
}

TEST_CASE("a running trial is reported while its process lives") {
  Recorded at;
  at.store.put_running({{key_of(kA), 1'000'000, 5, 20, 1.5}, {key_of(kB), 2'000'000}});
  const auto rows = [&] { return SQLite::Database(at.file.string()).execAndGet("SELECT count(*) FROM running").getInt(); };
  CHECK(rows() == 2);
  at.store.put_running({{key_of(kB), 2'000'000, 1, 20}});
  CHECK(rows() == 1);
  {
    SQLite::Database dead(at.file.string(), SQLite::OPEN_READWRITE);
    dead.exec("INSERT INTO running VALUES ('" + this_host() + "', " + std::to_string(getpid()) + ", 1, 'k', 0, 0, 0, NULL)");
    dead.exec("INSERT INTO running VALUES ('another host', 1, 1, 'k', 0, 0, 0, NULL)");
  }
  at.store.put_running({});
  CHECK(rows() == 1);  // processes of another host are unknown here
}

TEST_CASE("a process is identified by PID and start: a later process with its PID differs, and a dead process is gone") {
  const auto self = this_process();
  CHECK(lives(self));
  CHECK_FALSE(lives({self.host, self.id, self.started - 1}));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);  // dead, and not yet waited for
  CHECK_FALSE(lives({self.host, child, self.started}));
  waitpid(child, nullptr, 0);
}

namespace {

/// Writes an undamaged history of several pages, and closes it.
void write_whole(const std::filesystem::path& file) {
  Store store(file);
  std::vector<nlohmann::json> trials;
  for (int seed = 1; seed <= 100; ++seed) trials.push_back(trial("softmax", {}, seed));
  put(store, "study", trials);
  for (const auto& one : trials) store.put_attempt(done(one, 50));
}

}  // namespace

TEST_CASE("a damaged file is refused before it is written to, with the kind of damage and the remedy") {
  Folder folder;
  const auto file = folder / "a'b.db";
  write_whole(file);
  std::string read = error_of([&] { list_attempts(Reader(file), {}); });
  CHECK(read.empty());
  SECTION("cut off") {
    const auto bytes = GENERATE(as<std::uintmax_t>{}, 50'000, 8192, 500, 50);
    std::filesystem::resize_file(file, bytes);
    read = error_of([&] { list_attempts(Reader(file), {}); });
    CHECK(has(read, "is a damaged SQLite database"));
    CHECK_FALSE(has(read, "no run history"));
  }
  SECTION("cut off by one byte") { std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1); }
  SECTION("overwritten in pages that the query for done trials does not read") {
    SQLite::Database database(file.string(), SQLite::OPEN_READONLY);
    const auto page = database.execAndGet("SELECT rootpage FROM sqlite_master WHERE name = 'result'").getInt64();
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp((page - 1) * 4096);
    out << std::string(4096, 'x') << std::flush;
    read = error_of([&] { run_query(file, "SELECT sum(value) FROM metrics", Format::kText, [](std::string_view) {}); });
    CHECK(has(read, "a'b.db is a damaged SQLite database"));
  }
  const auto before = content(file);
  const auto why = error_of([&] { Store store(file); });
  CHECK(has(why, "a'b.db is a damaged SQLite database"));
  CHECK(has(why, "sqlite3 '" + (folder / "a'\\''b.db").string() + "' .recover | sqlite3 '"));
  CHECK(has(why, "b.recovered.db'"));
  CHECK(content(file) == before);
  CHECK_FALSE(std::filesystem::exists(folder / "a'b.recovered.db"));
}

TEST_CASE("a rescue is refused if its copy would be damaged as well") {
  Recorded at;
  SQLite::Database(at.file.string(), SQLite::OPEN_READWRITE).exec("PRAGMA wal_checkpoint(TRUNCATE)");
  Store store(at.file);
  std::fstream(at.file, std::ios::in | std::ios::out | std::ios::binary).seekp(4096) << std::string(8192, 'x');
  CHECK(has(error_of([&] { store.rescue(at.folder / "rescued.db"); }), "cannot rescue the run history into"));
  CHECK_FALSE(std::filesystem::exists(at.folder / "rescued.db"));
}

TEST_CASE("another process that runs one of the trials is recognized by its PID and start") {
  Recorded at;
  SQLite::Database database(at.file.string(), SQLite::OPEN_READWRITE);
  const auto others_of = [&](const std::set<std::string>& keys) { return others_running(database, keys); };
  at.store.put_running({{key_of(kA), 0}});
  CHECK(others_of({key_of(kA)}).empty());  // the scheduler that runs the trial is this process
  const auto self = this_process();
  const auto add = [&](const std::string& host, std::int64_t process, std::int64_t started, const std::string& key) {
    SQLite::Database(at.file.string(), SQLite::OPEN_READWRITE)
        .exec("INSERT INTO running VALUES ('" + host + "', " + std::to_string(process) + ", " + std::to_string(started) +
              ", '" + key + "', 0, 0, 0, NULL)");
  };
  add(self.host, 1, 12345, key_of(kA));  // another process has that PID now
  CHECK(others_of({key_of(kA)}).empty());
  add("elsewhere", 7, 1, key_of(kA));
  add("elsewhere", 7, 1, key_of(kB));
  add("elsewhere", 8, 1, "another study");
  int say[2];
  REQUIRE(pipe(say) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto started = this_process().started;
    static_cast<void>(!write(say[1], &started, sizeof started));
    pause();
    _exit(0);
  }
  std::int64_t started = 0;
  REQUIRE(read(say[0], &started, sizeof started) == sizeof started);
  add(self.host, child, started, key_of(kB));
  const auto others = others_of({key_of(kA), key_of(kB)});
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  REQUIRE(others.size() == 2);
  const auto& there = others[others[0].is_here ? 1 : 0];
  const auto& here = others[others[0].is_here ? 0 : 1];
  CHECK(there.host == "elsewhere");
  CHECK(there.process == 7);
  CHECK(there.trials == 2);
  CHECK(here.process == child);
  CHECK(here.is_here);
  CHECK(here.trials == 1);
  CHECK(others_of({key_of(kB)}).size() == 1);  // the process is dead by now
}
