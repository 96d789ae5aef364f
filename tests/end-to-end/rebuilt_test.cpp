// A program is rebuilt while it runs a grid, so that its next worker comes from another build.
#include <signal.h>

#include <chrono>
#include <functional>
#include <thread>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

namespace fs = std::filesystem;

namespace {

bool until(const std::function<bool()>& holds) {
  for (int tries = 0; tries < 3000; ++tries) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return holds();
}

std::string outcomes(Workplace& place) {
  std::string all;
  for (const auto& row : place.query("SELECT outcome FROM attempts ORDER BY attempt"))
    all += (all.empty() ? "" : " ") + row.at("outcome").get<std::string>();
  return all;
}

/// Writes a program that runs this build's worker once, and later a worker that reports another build.
fs::path worker_once(Workplace& place) {
  const auto in = [&](const char* file) { return "'" + (place.folder() / file).string() + "'"; };
  auto program = place.folder().write(
      "worker", "#!/bin/sh\nmkdir " + in("first") + " 2>/dev/null && exec " + kBin + "ablate-worker \"$@\"\necho >> " +
                    in("later") + "\n" + kBin +
                    R"(ablate-worker $$ | sed -u 's/"build":"[0-9a-f]*"/"build":"0123456789abcdef"/')" + "\n");
  fs::permissions(program, fs::perms::owner_all);
  return program;
}

}  // namespace

TEST_CASE("a worker of another build ends a run, and the same command continues it") {
  const bool is_share = GENERATE(false, true);
  Workplace place;
  place.set("ABLATE_WORKER", worker_once(place).string());
  place.set("TMPDIR", place.folder().path().string());
  std::vector<std::string> words{
      "run", place.study(kTiny + "[attention]\nplugin = \"linear\"\n[grid]\ntrain.steps = [6, 8000]\n").string(), "-j", "1"};
  if (is_share) words.insert(words.end(), {"--share", "0/1"});
  auto running = place.start(words);
  std::vector<pid_t> worker;
  const auto is_at_work = [&] {
    worker = children_of(running.pid());
    if (worker.size() != 1 || children_of(worker.front()).empty()) return false;
    std::error_code gone;  // before the shell becomes the worker, it has a child, too
    return fs::read_symlink("/proc/" + std::to_string(worker.front()) + "/exe", gone).filename() == "ablate-worker";
  };
  REQUIRE(until([&] { return is_at_work() && (is_share || (place.has_database() && outcomes(place) == "done")); }));
  kill(worker.front(), SIGKILL);
  const auto ended = running.wait();
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == (is_share ? 75 : 2));
  CHECK(says(ended.err, "comes from another build of ablate than this program: found 0123456789abcdef, expected "));
  CHECK(read_text(place.folder() / "later") == "\n");
  if (!is_share) CHECK(outcomes(place) == "done lost");
  CHECK(place.run(words).exit_code == 2);  // the first worker is of another build, so a retry would not help
  place.set("ABLATE_WORKER", "");
  const auto last = place.run(words);
  INFO(last.out << last.err);
  CHECK(last.exit_code == 0);
  if (!is_share) CHECK(says(last.err, "1 done, 1 done before, 0 failed"));
}
