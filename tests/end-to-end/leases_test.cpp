// Several `ablate run` processes on one history.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"
#include "tests/support/soak.h"

using nlohmann::json;

namespace {

bool comes(const std::function<bool()>& what) {
  for (int tries = 0; tries < 2400; ++tries) {
    if (what()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

}  // namespace

TEST_CASE("eight runs at once share many trials, run each trial once, and leave no file beside the history") {
  const int trials = rounds(120, 400);
  Workplace place;
  const auto study =
      place.study(kTiny + "[attention]\nplugin = \"linear\"\n[grid]\nseeds = " + std::to_string(trials) + "\n").string();
  std::vector<std::unique_ptr<Process>> all;
  for (int i = 0; i < 8; ++i)
    all.emplace_back(new Process(place.start({"run", study, "-j", "1", "--set", "train.steps=2"})));  // Process is not movable
  int done = 0;
  for (auto& one : all) {
    const auto ended = one->wait();
    INFO(ended.err);
    CHECK(ended.exit_code == 0);
    const auto at = ended.err.rfind("tiny: ");
    REQUIRE(at != std::string::npos);
    done += std::atoi(ended.err.c_str() + at + 6);
  }
  CHECK(done == trials);
  CHECK(place.query("SELECT count(*) AS n, count(DISTINCT key) AS keys, sum(outcome = 'done') AS done FROM attempts") ==
        json{{{"n", trials}, {"keys", trials}, {"done", trials}}});
  CHECK_FALSE(std::filesystem::exists(place.folder() / "ablate.db-leases"));
}

TEST_CASE("a stopped run keeps its trial; a killed run's trial is taken over, and its processes are ended") {
  Workplace place;
  const auto study = place.study(kTiny + "[attention]\nplugin = \"linear\"\n").string();
  const std::vector<std::string> command = {"run", study, "--set", "train.steps=2000000"};
  auto one = place.start(command);
  REQUIRE(comes([&] { return place.has_database() && place.query("SELECT key FROM running").size() == 1; }));
  one.send(SIGSTOP);
  const auto workers = children_of(one.pid());
  REQUIRE(workers.size() == 1);
  const auto jobs = children_of(workers[0]);
  CHECK(jobs.size() == 1);
  auto two = place.start(command);
  REQUIRE(comes([&] { return says(two.printed(), "1 trial runs elsewhere: waiting for it"); }));
  std::this_thread::sleep_for(std::chrono::seconds(3));
  CHECK_FALSE(says(two.printed(), "taken over"));

  kill(workers[0], SIGSTOP);
  one.send(SIGKILL);
  // Stops the worker again: the end of the scheduler wakes the worker, and the worker would then exit by itself.
  for (int i = 0; i < 2000; ++i) {
    kill(workers[0], SIGSTOP);
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  CHECK(one.wait().exit_code == 128 + SIGKILL);
  CHECK(comes([&] {
    return says(two.printed(), "process " + std::to_string(one.pid()) + " on ") &&
           says(two.printed(), " has ended without notice; its trials are taken over");
  }));
  CHECK_FALSE(is_alive(workers[0]));
  for (const auto job : jobs) CHECK_FALSE(is_alive(job));
  two.send(SIGINT);
  CHECK(two.wait().exit_code == 130);
  CHECK(place.query("SELECT outcome FROM attempts") == json{{{"outcome", "interrupted"}}});
}
