// A study launched by another program: no command line, the same trials, the same history.
#include "core/host/launch/launch.h"

#include <sched.h>
#include <stdlib.h>

#include "core/host/client/start_worker.h"
#include "core/host/launch/libraries.h"
#include "core/registry/folders.h"
#include "db/history/lineage.h"
#include "db/history/reader.h"
#include "db/history/store.h"
#include "tests/end-to-end/ablate.h"
#include "tests/support/skip.h"

using namespace ablate;

namespace {

/// Program that runs studies as ablate does, with the plugins of this build.
class Program {
 public:
  Program() {
    setenv("ABLATE_WORKER", (kBin + "ablate-worker").c_str(), 1);
    setenv("XDG_CACHE_HOME", (std::string(ABLATE_BUILD_DIR) + "/tests/cache").c_str(), 1);
  }

  PlannedStudy plan(LaunchRequest request) {
    request.database = database();
    const auto libraries = scan_libraries(plugin_folders({std::string(ABLATE_BUILD_DIR) + "/lib/ablate/plugins"}), executors);
    return plan_study(
        request, [&] { return libraries; }, {}, executors, note);
  }
  Launched run(const LaunchRequest& request) {
    const auto planned = plan(request);
    return launch(planned, executors, note);
  }

  std::filesystem::path database() const { return folder / "h.db"; }

  TemporaryFolder folder;
  Executors executors = local_workers();
  std::string notes;
  const Note note = [this](const std::string& line) { notes += line + "\n"; };
};

/// Limits this process to `most` processors while this object exists.
class FewProcessors {
 public:
  explicit FewProcessors(int most) {
    sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t few = before_;
    for (int i = 0, kept = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(static_cast<std::size_t>(i), &few) && ++kept > most) CPU_CLR(static_cast<std::size_t>(i), &few);
    sched_setaffinity(0, sizeof(few), &few);
  }
  FewProcessors(const FewProcessors&) = delete;
  FewProcessors& operator=(const FewProcessors&) = delete;
  ~FewProcessors() { sched_setaffinity(0, sizeof(before_), &before_); }

 private:
  cpu_set_t before_{};
};

const std::string kTwo = kTiny + "[grid]\nattention.plugin = [\"softmax\", \"linear\"]\n";

}  // namespace

TEST_CASE("a study that a program launches is planned, run and recorded, and not run again") {
  Program program;
  const auto study = program.folder.write("tiny.toml", kTwo);
  const auto planned = program.plan({.study = study});
  CHECK(planned.planned.size() == 2);
  CHECK_FALSE(std::filesystem::exists(program.database()));  // nothing is recorded before the launch

  const auto launched = launch(planned, program.executors, program.note);
  CHECK(launched.ran.done == 2);
  CHECK(launched.exit_code() == ExitCode::kDone);
  CHECK_FALSE(launched.proof);
  std::vector<std::string> keys;
  for (const auto& trial : planned.planned) keys.push_back(trial.key);
  const db::Reader history(program.database());
  CHECK(history.study_text("tiny") == kTwo);
  const auto done = db::done_attempts(history, keys);
  REQUIRE(done.size() == 2);
  for (const auto& [key, attempt] : done) {
    std::set<std::string> metrics;
    for (const auto& result : db::results_of(history, attempt)) metrics.insert(result.metric.name);
    for (const auto* metric : {"test/accuracy", "train/step_time", "time/wall"}) CHECK(metrics.contains(metric));
  }

  Program next;  // its history has all trials, so it starts no worker
  std::filesystem::copy_file(program.database(), next.database());
  const auto again = next.run({.study = study});
  CHECK(again.ran.done == 0);
  CHECK(again.ran.skipped == 2);
  CHECK(next.executors.now() == nullptr);
}

TEST_CASE("errors of a study are reported before anything is run or recorded") {
  Program program;
  const auto study = program.folder.write("tiny.toml", kTwo);
  CHECK_THROWS_AS(program.run({.study = study, .overrides = {"train.stepz=3"}}), ConfigError);
  CHECK_THROWS_WITH(program.run({.study = study, .only = {"0123"}}), Catch::Contains("no trial of the study has such a key"));
  CHECK_FALSE(std::filesystem::exists(program.database()));
}

TEST_CASE("a launch can select trials by key, and warns about an experiment that another study made") {
  Program program;
  const auto study = program.folder.write("tiny.toml", kTwo);
  const auto key = program.plan({.study = study}).planned.at(1).key;
  const auto launched = program.run({.study = study, .overrides = {}, .only = {key.substr(0, 12)}});
  CHECK(launched.ran.done == 1);
  const db::Reader history(program.database());
  CHECK(db::done_attempts(history, {key}).size() == 1);

  const auto other = program.folder.write("other/tiny.toml", kTwo + "# of another folder\n");
  program.run({.study = other});
  CHECK(says(program.notes, "the experiment tiny was made by another study"));
  program.notes.clear();
  const auto ran_for = [&] {  // recorded with each attempt
    const db::Reader reader(program.database());
    return db::environment_of(reader, db::done_attempts(reader, {key}).at(key)).at("run_for").get<std::string>();
  };
  CHECK(ran_for() == "study");
  CHECK(program.run({.study = study, .again = true, .is_bench = true}).ran.done == 2);
  CHECK_FALSE(says(program.notes, "was made by another study"));
  CHECK(ran_for() == "bench");
}

TEST_CASE("by default, as many trials run at a time as the processors have room for their threads") {
  Program program;
  const auto study = program.folder.write("tiny.toml", kTwo);
  const auto at_a_time = [&](LaunchRequest request) {
    request.study = study;
    return program.plan(request).at_a_time;
  };
  cpu_set_t all;
  CPU_ZERO(&all);
  REQUIRE(sched_getaffinity(0, sizeof(all), &all) == 0);
  if (CPU_COUNT(&all) < 2) return skip("this processor has one core");
  const FewProcessors two(2);
  CHECK(at_a_time({}) == 2);
  CHECK(at_a_time({.overrides = {"train.threads=2"}}) == 1);
  CHECK(at_a_time({.overrides = {"train.threads=3"}}) == 1);
  CHECK(at_a_time({.at_a_time = 5}) == 5);
  const FewProcessors one(1);
  CHECK(at_a_time({}) == 1);
}
