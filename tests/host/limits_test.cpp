// Stall watches, retries, processors and notices of a grid, and common causes of failures.
#include "core/host/scheduler/limits.h"

#include <fcntl.h>
#include <sched.h>

#include <chrono>
#include <thread>

#include "core/host/scheduler/processors.h"
#include "core/host/scheduler/retries.h"
#include "core/host/scheduler/scheduler.h"
#include "core/host/scheduler/whole_grid.h"
#include "core/util/orphans.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using namespace ablate;

TEST_CASE("each outcome has a name, and options select the outcomes to retry") {
  CHECK(outcome_names() ==
        std::vector<std::string>{"done", "failed", "timeout", "stalled", "oom", "refused", "interrupted", "lost"});
  CHECK(retry_choices() == std::vector<std::string>{"failed", "timeout", "stalled", "oom"});
  CHECK_FALSE(counts_as_failed("done"));
  CHECK_FALSE(counts_as_failed("interrupted"));
  CHECK_FALSE(counts_as_failed("lost"));
  CHECK(counts_as_failed("refused"));
  CHECK(counts_as_failed("of a newer ablate"));
}

TEST_CASE("a stall watch waits for ten median steps, and at least five minutes") {
  StallWatch watch(0);
  CHECK_FALSE(watch.is_stalled(3599));
  CHECK(watch.is_stalled(3600));
  watch.sign(0);  // the model is ready, before the first step
  CHECK_FALSE(watch.is_stalled(3599));
  CHECK(watch.is_stalled(3600));
  for (int step = 1; step <= 200; ++step) watch.sign(step);
  CHECK_FALSE(watch.is_stalled(200 + 299));
  CHECK(watch.is_stalled(200 + 300));
  for (int step = 1; step <= 101; ++step) watch.sign(200 + 60 * step);  // steps are slower now: the latest steps count
  CHECK_FALSE(watch.is_stalled(200 + 60 * 101 + 599));
  CHECK(watch.is_stalled(200 + 60 * 101 + 600));
}

TEST_CASE("earlier attempts decide if a trial runs again") {
  using What = Retry::What;
  const auto what = [](const std::vector<std::string>& past, const std::set<std::string>& wanted = {}) {
    return retry_of(past, wanted).what;
  };
  CHECK(what({}) == What::kRuns);
  CHECK(what({"failed"}) == What::kIsSetAside);
  CHECK(what({"failed"}, {"timeout"}) == What::kIsSetAside);
  CHECK(what({"failed"}, {"failed"}) == What::kRuns);
  CHECK(what({"failed", "failed"}, {"failed"}) == What::kRuns);
  CHECK(what({"failed", "timeout", "failed"}, {"failed"}) == What::kIsSetAside);
  CHECK(retry_of({"failed", "timeout", "failed"}, {}).is_exhausted);
  CHECK(what({"lost", "lost", "lost", "interrupted", "refused"}) == What::kRuns);
  CHECK(what({"failed", "interrupted"}) == What::kRuns);
  CHECK(what({"oom"}) == What::kRunsAlone);
  CHECK(what({"oom", "oom"}) == What::kIsSetAside);
  CHECK(what({"oom", "oom"}, {"oom"}) == What::kRunsAlone);
  CHECK(what({"oom", "interrupted"}) == What::kRunsAlone);
  CHECK(what({"oom", "failed"}, {"failed"}) == What::kRunsAlone);
  CHECK(what({"of a newer ablate"}) == What::kIsSetAside);
  CHECK(retry_of({"of a newer ablate"}, {}).outcome == "failed");
  CHECK(what({"of a newer ablate"}, {"failed"}) == What::kRuns);
}

TEST_CASE("no two trials share a processor, whichever scheduler runs them") {
  const TemporaryFolder folder;
  Processors mine(folder / "taken"), others(folder / "taken");
  const auto all = mine.all();
  REQUIRE_FALSE(all.empty());
  const auto first = mine.take(1, 1);
  REQUIRE(first == std::vector{all.front()});
  const auto rest = static_cast<int>(all.size()) - 1;
  CHECK(others.take(1, rest + 1).empty());
  if (rest > 0) CHECK(others.take(2, rest) == std::vector<int>(all.begin() + 1, all.end()));
  CHECK(mine.take(2, 1).empty());
  mine.give_back(1);
  CHECK(mine.take(3, 1) == first);
}

TEST_CASE("a notice starts its command; no process waits for this command, which survives the end of a worker") {
  const TemporaryFolder folder;
  adopt_orphans();
  std::vector<std::string> notes;
  const auto wait_for = [&](const char* file) {
    for (int i = 0; i < 500 && read_text(folder / file).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return read_text(folder / file);
  };
  Notifier notifier(
      "sleep 0.2; echo \"$ABLATE_EVENT $ABLATE_EXPERIMENT $ABLATE_FAILED/$ABLATE_DONE/$ABLATE_NOT_STARTED $ABLATE_REASON "
      "$ABLATE_DATABASE\" > " +
          (folder / "told").string() + ".new && mv " + (folder / "told").string() + ".new " + (folder / "told").string() +
          "; exit 3",
      "tiny", [&](const std::string& text) { notes.push_back(text); });
  const auto begin = std::chrono::steady_clock::now();
  notifier.send(
      {.event = "failure", .done = 3, .failed = 1, .not_started = 4, .reason = "signal 11\nmore", .database = "/a b.db"});
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(150));
  end_orphans({});
  CHECK(wait_for("told") == "failure tiny 1/3/4 signal 11 more /a b.db\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(notes.empty());
  notifier.send({"end"});
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].find("has failed (exit code 3)") != std::string::npos);

  Notifier slow(
      "sleep 60", "tiny", [&](const std::string& text) { notes.push_back(text); }, 1);
  slow.send({"end"});
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  slow.send({"end"});
  REQUIRE(notes.size() == 2);
  CHECK(notes[1].find("sleep 60 has failed (it was ended by signal 9, as at its time limit of 1 s)") != std::string::npos);
  // No later notice checks the command of a grid's last notice. The destructor waits a moment, and reports a quick failure.
  Notifier("no-such-command", "tiny", [&](const std::string& text) { notes.push_back(text); }).send({"end"});
  REQUIRE(notes.size() == 3);
  CHECK(notes[2].find("no-such-command has failed (exit code 127)") != std::string::npos);
  Notifier("kill -15 $$", "tiny", [&](const std::string& text) { notes.push_back(text); }).send({"end"});
  REQUIRE(notes.size() == 4);
  CHECK(notes[3].find("kill -15 $$ has failed (it was ended by signal 15)") != std::string::npos);
}

TEST_CASE("failures are summed up by reason, and by values of parameters whose trials all failed") {
  std::vector<Trial> trials;
  for (const auto* attention : {"mine", "linear"})
    for (const int rate : {1, 2})
      for (int seed = 1; seed <= 2; ++seed) {
        Trial trial;
        trial.spec.attention.all = {{.id = attention}};
        trial.spec.train.learning_rate = rate;
        trial.spec.seed = static_cast<std::uint64_t>(seed);
        trials.push_back(trial);
      }
  std::vector<PlannedTrial> planned;
  for (const auto& trial : trials) planned.push_back({.trial = &trial});
  std::vector<TrialEnd> ends;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const bool fails = trials[i].spec.attention.all.front().id == "mine";
    ends.push_back({&planned[i], !fails   ? ""
                                 : i == 0 ? "timeout: too long"
                                          : "failed: signal 11 at step " + std::to_string(i)});
  }
  CHECK(failure_lines(ends) ==
        std::vector<std::string>{"3 failed: signal # at step #", "1 timeout: too long",
                                 "all 4 of attention = mine: failed: signal # at step # (and 1 other reason)"});
  for (std::size_t i = 1; i < 4; ++i) ends[i].reason = "failed: signal 11";
  CHECK(failure_lines(ends).front() == "3 failed: signal 11");  // the number is shown, because it is the same in all reasons
  ends.back().reason = "failed: x";
  CHECK(failure_lines(ends).size() == 4);
  CHECK(failure_lines({}).empty());
}
