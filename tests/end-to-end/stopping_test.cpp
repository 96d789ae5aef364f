// A signal before the first trial: whatever `ablate run` is doing, it exits with 130, prints a message, and leaves no worker.
#include <signal.h>

#include <chrono>
#include <functional>
#include <thread>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

namespace fs = std::filesystem;

namespace {

bool until(const std::function<bool()>& holds) {
  for (int tries = 0; tries < 12000 && !holds(); ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return holds();
}

bool has_open(pid_t pid, const fs::path& file) {
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone))
    if (fs::read_symlink(entry.path(), gone) == file) return true;
  return false;
}

void check_stopped(const Ended& ended, const std::string& by) {
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 130);
  CHECK(says(ended.err, "ablate: interrupted by " + by + " before the first trial; the same command begins anew\n"));
}

}  // namespace

TEST_CASE("a signal that comes while a worker starts ends the run and the worker") {
  const auto [signal, by] = GENERATE(std::pair(SIGINT, "the user"), std::pair(SIGTERM, "SIGTERM"));
  Workplace place;
  const auto program = place.folder().write("worker", "#!/bin/sh\necho $$ > pid.part\nmv pid.part pid\nexec sleep 3600\n");
  fs::permissions(program, fs::perms::owner_all);
  place.set("ABLATE_WORKER", program.string());
  place.set("XDG_CACHE_HOME", (place.folder() / "cache").string());
  auto running = place.start({"run", place.study(kTiny + "[attention]\nplugin = \"linear\"\n").string()});
  REQUIRE(until([&] { return fs::exists(place.folder() / "pid"); }));
  running.send(signal);
  check_stopped(running.wait(), by);
  CHECK_FALSE(is_alive(std::stoi(read_text(place.folder() / "pid"))));
  CHECK_FALSE(place.has_database());
}

TEST_CASE("a signal while a task is queried ends a run, the worker and the task") {
  const auto where = GENERATE("info", "load");
  const auto dry_run = GENERATE(false, true);
  Workplace place;
  const auto study = place.study("[task]\nplugin = \"faulty-task\"\nhow = \"hang\"\nwhere = \"" + std::string(where) +
                                 "\"\n[attention]\nplugin = \"linear\"\n");
  std::vector<std::string> words = {"--plugins", kFaulty + "trial", "run", study.string()};
  if (dry_run) words.emplace_back("--dry-run");
  auto running = place.start(words);
  std::vector<pid_t> workers, jobs;
  REQUIRE(until([&] {
    workers = children_of(running.pid());
    if (!workers.empty()) jobs = children_of(workers.front());
    return !jobs.empty();
  }));
  running.send(SIGINT);
  check_stopped(running.wait(), "the user");
  for (const auto pid : workers) CHECK_FALSE(is_alive(pid));
  for (const auto pid : jobs) CHECK_FALSE(is_alive(pid));
  CHECK_FALSE(place.has_database());
}

TEST_CASE("a signal while a large file is hashed ends a run") {
  Workplace place;
  place.set("ABLATE_PLUGIN_PATH", kFaulty + "files");
  place.folder().write("table", "");
  fs::resize_file(place.folder() / "table", std::uintmax_t{1} << 40);  // sparse: uses no disk space
  auto running = place.start({"run", place.study(kTiny + "[attention]\nplugin = \"from-file\"\ntable = \"table\"\n").string()});
  REQUIRE(until([&] { return has_open(running.pid(), fs::canonical(place.folder() / "table")); }));
  running.send(SIGINT);
  check_stopped(running.wait(), "the user");
}

TEST_CASE("a signal while very many trials are planned ends a run") {
  Workplace place;
  auto running =
      place.start({"run", place.study(kTiny + "[attention]\nplugin = \"linear\"\n").string(), "--set", "seeds=20000"});
  REQUIRE(until([&] { return !children_of(running.pid()).empty(); }));  // a worker describes the task, or runs a trial
  running.send(SIGTERM);
  const auto ended = running.wait();
  INFO(ended.err);
  CHECK(ended.exit_code == 130);
  CHECK(says(ended.err, "interrupted"));  // a process killed by the signal would print nothing
}
