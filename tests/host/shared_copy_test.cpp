// A share's history moves from one machine to the next.
#include "core/host/shares/shared_copy.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/host/shares/share_files.h"
#include "core/records/checkpoint_files.h"
#include "core/util/stop_on_signal.h"
#include "db/history/artifacts.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"
#include "tests/support/set_clock.h"
#include "tests/support/skip.h"

using namespace ablate;
using namespace ablate::db;
namespace fs = std::filesystem;

namespace {

/// Simulated machines, and the folder that they all share.
class Machines {
 public:
  fs::path shared() const { return folder_ / "shared"; }
  /// Returns the path beside which the files of all attempts are stored.
  fs::path files() const { return files_of_share(shared(), 0); }
  fs::path history(const std::string& machine) const {
    fs::create_directories(folder_ / machine);
    return folder_ / machine / "share-0.db";
  }
  SharedCopy of(const std::string& machine) {
    return {history(machine), shared(), 0, [this](const std::string& line) { notes.push_back(line); }, clock};
  }
  /// Returns the number of attempts in a history.
  std::int64_t attempts(const fs::path& file) const {
    return SQLite::Database(file.string()).execAndGet("SELECT count(*) FROM attempt").getInt64();
  }
  /// Returns the number of attempts in a merge of all copies.
  std::int64_t copied() const {
    const auto whole = folder_ / "whole.db";
    fs::remove(whole);
    Store store(whole);
    for (const auto& copy : copies_of_share(shared(), 0)) store.merge(OtherHistory(copy));
    return attempts(whole);
  }
  std::size_t copies() const { return copies_of_share(shared(), 0).size(); }

  SetClock clock;
  std::vector<std::string> notes;

 private:
  Folder folder_;
};

void add(const fs::path& file, const std::vector<int>& seeds, const std::string& outcome = "done") {
  Store store(file);
  for (const int seed : seeds) {
    const auto one = trial("softmax", {}, seed);
    put(store, "study", {one});
    store.put_attempt(outcome == "done" ? done(one, 60.0 + seed) : failed(one, "stopped", outcome));
  }
}

fs::path write_file(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

std::string checkpoint_of(int seed, int step) { return checkpoint_name("owner", 1, key_of(trial("softmax", {}, seed)), step); }

}  // namespace

TEST_CASE("a share's results are in the shared folder after each trial, and on the next machine") {
  Machines machines;
  auto first = machines.of("a");
  first.bring();
  add(machines.history("a"), {1});
  first.keep_up(1);
  CHECK(machines.copied() == 1);
  for (const auto& entry : fs::directory_iterator(machines.shared()))  // opening a copy for writing would leave a log
    CHECK(entry.path().extension() == ".db");
  add(machines.history("a"), {2});
  machines.clock.now += 1;
  first.keep_up(2);
  CHECK(machines.copied() == 2);
  add(machines.history("a"), {3});  // the machine disappears before the copy

  auto second = machines.of("b");
  second.bring();
  CHECK(machines.attempts(machines.history("b")) == 2);
  add(machines.history("b"), {3, 4});
  second.finish();
  CHECK(machines.copied() == 4);
  CHECK(machines.notes.empty());
}

TEST_CASE("two runs of one share lose none of each other's results") {
  Machines machines;
  auto first = machines.of("a"), second = machines.of("b");
  first.bring();
  second.bring();  // takes the first run's copy
  CHECK(machines.copies() == 1);
  add(machines.history("a"), {1});
  first.keep_up(1);
  add(machines.history("b"), {2});
  second.keep_up(1);
  CHECK(machines.copied() == 2);
  machines.clock.now += 100;
  add(machines.history("a"), {3});
  first.keep_up(2);
  second.finish();  // its last copy does not replace another run's copy
  CHECK(machines.copies() == 2);
  CHECK(machines.copied() == 3);
  auto third = machines.of("c");
  third.bring();
  CHECK(machines.copies() == 1);
  CHECK(machines.attempts(machines.history("c")) == 3);
  first.finish();  // the first run was only slow
  CHECK(machines.copied() == 3);
}

TEST_CASE("copies that a run has merged stay until the run's own copy exists") {
  Machines machines;
  {
    auto first = machines.of("a");
    first.bring();
    add(machines.history("a"), {1});
    first.finish();
  }
  auto second = machines.of("b");
  const auto own = second.copy_file();
  fs::create_directory(own);  // in place of its copy
  CHECK(!error_of([&] { second.bring(); }).empty());
  CHECK(machines.attempts(machines.history("b")) == 1);
  fs::remove(own);
  CHECK(machines.copied() == 1);
}

TEST_CASE("checkpoints of running trials travel with the share, and are removed with their trial") {
  Machines machines;
  auto first = machines.of("a");
  first.bring();
  const auto here = artifact_folder(machines.history("a"), kCheckpoints);
  const auto there = artifact_folder(machines.files(), kCheckpoints);
  write_file(here / checkpoint_of(1, 10), "ten");
  write_file(here / (checkpoint_of(1, 20) + ".77"), "half");  // still being written
  machines.clock.now += 100;
  first.keep_up(0);
  CHECK(content(there / checkpoint_of(1, 10)) == "ten");
  CHECK(!fs::exists(there / (checkpoint_of(1, 20) + ".77")));
  fs::remove(here / checkpoint_of(1, 10));
  write_file(here / checkpoint_of(1, 20), "twenty");
  first.keep_up(0);
  CHECK(!fs::exists(there / checkpoint_of(1, 10)));
  CHECK(content(there / checkpoint_of(1, 20)) == "twenty");

  auto second = machines.of("b");
  second.bring();
  const auto next = artifact_folder(machines.history("b"), kCheckpoints);
  CHECK(content(next / checkpoint_of(1, 20)) == "twenty");
  add(machines.history("b"), {1});
  fs::remove(next / checkpoint_of(1, 20));  // the end of the trial does this, too
  second.finish();
  CHECK(!fs::exists(there / checkpoint_of(1, 20)));
  auto third = machines.of("c");
  third.bring();
  CHECK(!fs::exists(artifact_folder(machines.history("c"), kCheckpoints)));
}

TEST_CASE("output and weights are complete beside the copy") {
  Machines machines;
  auto one = machines.of("a");
  one.bring();
  add(machines.history("a"), {1});
  const auto output = write_file(artifact_folder(machines.history("a"), kOutput) / "0123.txt", "first line\n");
  write_file(artifact_folder(machines.history("a"), kWeights) / "0123.safetensors", "weights");
  write_file(artifact_folder(machines.history("a"), kWeights) / "0123.safetensors.99", "half");
  one.keep_up(1);
  const auto there = artifact_folder(machines.files(), kOutput) / "0123.txt";
  CHECK(content(there) == "first line\n");
  write_file(output, "first line\nsecond line\n");
  one.finish();
  CHECK(content(there) == "first line\nsecond line\n");
  CHECK(content(artifact_folder(machines.files(), kWeights) / "0123.safetensors") == "weights");
  CHECK(!fs::exists(artifact_folder(machines.files(), kWeights) / "0123.safetensors.99"));
}

TEST_CASE("a shared folder that cannot be written is reported once and retried, and is an error in the end") {
  Machines machines;
  auto one = machines.of("a");
  one.bring();
  add(machines.history("a"), {1});
  fs::remove(one.copy_file());
  fs::create_directory(one.copy_file());  // a folder in place of the file
  for (int step = 0; step < 3; ++step) one.keep_up(1), machines.clock.now += 100;
  REQUIRE(machines.notes.size() == 1);
  CHECK(has(machines.notes[0], "new results of this share cannot be copied to"));
  CHECK(has(error_of([&] { one.finish(); }), "the results of this share could not be copied to " + machines.shared().string()));
  fs::remove(one.copy_file());
  one.finish();
  CHECK(machines.copied() == 1);
}

TEST_CASE("a share exits with 75 if the shared folder is full at its start, and with 2 if the folder is read-only") {
  for (const auto& [why, code] : {std::pair(ENOSPC, ExitCode::kAgain), {EDQUOT, ExitCode::kAgain}, {EACCES, ExitCode::kUsage}})
    CHECK(not_written("x", std::error_code(why, std::generic_category())).code() == code);
  Machines machines;
  add(machines.history("a"), {1});
  fs::create_directories(machines.shared());
  const auto user = fmt::format("0 {} 1", geteuid()), group = fmt::format("0 {} 1", getegid());
  const auto child = fork();
  if (child == 0) {  // in a separate mount namespace, on a disk of one page
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) _exit(errno);
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << user;
    std::ofstream("/proc/self/gid_map") << group;
    if (mount("tmpfs", machines.shared().c_str(), "tmpfs", 0, "size=4k") != 0) _exit(errno);
    auto code = ExitCode::kDone;
    try {
      machines.of("a").bring();
    } catch (const Error& error) {
      code = has(error.what(), "once there is room the same command goes on") ? error.code() : ExitCode::kUsage;
    }
    _exit(static_cast<int>(code));
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (WEXITSTATUS(status) == EPERM || WEXITSTATUS(status) == ENOSPC)
    return skip("this machine allows no mount namespace, which this test needs for a full disk");
  CHECK(WEXITSTATUS(status) == static_cast<int>(ExitCode::kAgain));
}

TEST_CASE("a damaged copy is refused by name before anything runs, and is left as it is") {
  Machines machines;
  const auto damaged = write_file(copy_of_share(machines.shared(), 0, "0123abcd"), "no database");
  auto one = machines.of("a");
  const auto why = error_of([&] { one.bring(); });
  CHECK(has(why, damaged.string()));
  CHECK(has(why, "If the copy itself is damaged, move it away"));
  CHECK(content(damaged) == "no database");
}

TEST_CASE("partial files of killed runs are removed after an hour") {
  Machines machines;
  const auto old = write_file(machines.shared() / "share-0.0123abcd.db.77", "half");
  const auto fresh = write_file(machines.shared() / "share-0.0123abce.db.78", "half");
  const auto others = write_file(machines.shared() / "share-1.0123abcd.db.77", "half");
  for (const auto& file : {old, others}) fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(2));
  auto one = machines.of("a");
  one.bring();
  CHECK(!fs::exists(old));
  CHECK(fs::exists(fresh));
  CHECK(fs::exists(others));
}

TEST_CASE("a run that is asked to stop copies when it ends, and not before") {
  Machines machines;
  const StopOnSignal stop;
  auto one = machines.of("a");
  one.bring();
  add(machines.history("a"), {1});
  std::raise(SIGUSR1);
  one.keep_up(1);
  CHECK(machines.copied() == 0);
  one.finish();
  CHECK(machines.copied() == 1);
}

TEST_CASE("a merge takes checkpoints of killed trials, and later fences exceed the merged fences") {
  Machines machines;
  add(machines.history("a"), {1, 2}, "interrupted");
  add(machines.history("a"), {3});
  for (const int seed : {1, 2, 3})
    write_file(artifact_folder(machines.history("a"), kCheckpoints) / checkpoint_of(seed, 5), "state");
  SQLite::Database(machines.history("a").string(), SQLite::OPEN_READWRITE)
      .exec("DELETE FROM sqlite_sequence WHERE name = 'lease'; INSERT INTO sqlite_sequence VALUES ('lease', 41)");
  add(machines.history("b"), {2});
  Store into(machines.history("b"));
  CHECK(into.merge(OtherHistory(machines.history("a"))).copied.files == 1);
  CHECK(into.merge(OtherHistory(machines.history("a"))).copied.files == 0);
  const auto folder = artifact_folder(machines.history("b"), kCheckpoints);
  CHECK(fs::exists(folder / checkpoint_of(1, 5)));
  CHECK(!fs::exists(folder / checkpoint_of(2, 5)));  // done on machine b
  CHECK(!fs::exists(folder / checkpoint_of(3, 5)));  // done on machine a
  CHECK(into.leases().newest == 41);
}
