// A task that hangs before the first trial times out with a reason. (`ablate run` waits for minutes, these tests for seconds.)
#include <stdlib.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "core/host/client/start_worker.h"
#include "core/host/scheduler/scheduler.h"
#include "core/shared/sections.h"
#include "core/util/orphans.h"
#include "core/util/sha256.h"
#include "db/history/store.h"
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using namespace ablate;

namespace {

class Hanging {
 public:
  Hanging(const std::string& where, const std::string& how) {
    setenv("ABLATE_WORKER", (kBin + "ablate-worker").c_str(), 1);
    setenv("XDG_CACHE_HOME", (place_.folder() / "cache").c_str(), 1);
    worker.need();
    PluginInfo task;
    task.kind = Kind::kTask, task.id = "faulty-task", task.path = kFaulty + "trial/faulty_task.so";
    task.content_hash = sha256_file(task.path);
    PluginInfo attention;
    attention.id = "linear", attention.path = std::string(ABLATE_BUILD_DIR) + "/lib/ablate/plugins/linear.so";
    attention.content_hash = sha256_file(attention.path);
    catalog.plugins = {task, attention};
    auto model = nlohmann::json::object(), train = nlohmann::json::object();
    for (const auto& parameter : model_parameters()) model[parameter.name] = parameter.default_value;
    for (const auto& parameter : train_parameters()) train[parameter.name] = parameter.default_value;
    Trial trial;
    trial.spec = trial_from_json(
        {{"task", {{"plugin", "faulty-task"}, {"where", where}, {"how", how}, {"data", ""}, {"table", ""}}},
         {"model", model},
         {"attention",
          {{"plugin", "linear"}, {"heads", 2}, {"feature_map", "elu+1"}, {"normaliser", "sum"}, {"convolution", 0}}},
         {"train", train},
         {"seed", 1}});
    trial.label = "the only one";
    study.trials = {trial};
  }

  void change(const char* section, const char* name, const nlohmann::json& value) {
    auto& trial = study.trials[0];
    auto document = trial.resolved();
    document[section][name] = value;
    trial.spec = trial_from_json(document);
  }

  std::filesystem::path database() const { return place_.folder() / "ablate.db"; }

  Executors worker = local_workers();
  Catalog catalog;
  Study study;

 private:
  Workplace place_;
};

std::function<void(db::GridStore&)> recording(const std::vector<PlannedTrial>& planned) {
  return [&planned](db::GridStore& into) {
    std::vector<db::GridTrial> rows;
    for (const auto& trial : planned) rows.push_back({trial.key, trial.trial->resolved()});
    into.put_trials(into.put_experiment({"one", "", "", "", {}}), rows);
  };
}

/// Returns the only child of the test.
pid_t worker_process() {
  const auto children = own_children();
  REQUIRE(children.size() == 1);
  return *children.begin();
}

template <class Call>
void ends(const Call& call, const char* reason) {
  try {
    call();
    FAIL("it did not throw");
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(says(error.what(), reason));
    CHECK(error.code() == ExitCode::kPlugin);
  }
}

}  // namespace

TEST_CASE("a task whose info() hangs times out, and the worker continues") {
  Hanging hanging("info", "hang");
  ends([&] { check_tasks(hanging.study, hanging.catalog, hanging.worker, TaskMemory(""), {.describe_s = 1}); },
       "task faulty-task: did not end within 1 s: its info() must return within milliseconds");
  hanging.change("task", "where", "nowhere");
  CHECK(plan(hanging.study, hanging.catalog, hanging.worker, TaskMemory("")).size() == 1);
}

TEST_CASE("a task whose load() hangs times out") {
  Hanging hanging("load", "hang");
  check_tasks(hanging.study, hanging.catalog, hanging.worker, TaskMemory(""), {.describe_s = 60});
  ends([&] { plan(hanging.study, hanging.catalog, hanging.worker, TaskMemory(""), {.prepare_s = 1}); },
       "task faulty-task: did not end within 1 s: if its load() needs longer, raise [experiment] timeout");
}

TEST_CASE("a longer time-out of the study's trials lets load() take as long") {
  Hanging hanging("load", "hang");
  hanging.study.timeout_s = 2;
  ends([&] { plan(hanging.study, hanging.catalog, hanging.worker, TaskMemory(""), {.prepare_s = 1}); },
       "did not end within 2 s");
}

TEST_CASE("a task that hangs only in the load for all trials times out") {
  Hanging hanging("load", "hang-again");
  const auto planned = plan(hanging.study, hanging.catalog, hanging.worker, TaskMemory(""));
  db::Store store(hanging.database());
  ends([&] { run_trials(planned, hanging.worker, store, {.at_a_time = 1, .load_s = 1}); },
       "the worker did not load the data of task faulty-task within 1 s");
}

TEST_CASE("an error in the load for all trials has the same exit code as an error before the trials are planned") {
  Hanging study("load", "throw-again");
  const auto planned = plan(study.study, study.catalog, study.worker, TaskMemory(""));
  db::Store store(study.database());
  try {
    run_trials(planned, study.worker, store, {.at_a_time = 1});
    FAIL("it did not throw");
  } catch (const Error& error) {
    CHECK(says(error.what(), "load has thrown, as it was asked to"));
    CHECK(error.code() == ExitCode::kUsage);
  }
}

TEST_CASE("a worker that is killed before the first trial is replaced") {
  Hanging study("nowhere", "throw");
  const auto end = [&] { kill(worker_process(), SIGKILL); };
  end();
  check_tasks(study.study, study.catalog, study.worker, TaskMemory(""), {.describe_s = 60});
  end();
  study.change("train", "steps", 2);
  const auto planned = plan(study.study, study.catalog, study.worker, TaskMemory(""));
  end();
  db::Store store(study.database());
  CHECK(run_trials(planned, study.worker, store, {.at_a_time = 1, .record = recording(planned)}).done == 1);
}

TEST_CASE("a worker that does not answer is replaced, even without a time-out") {
  Hanging study("nowhere", "throw");
  study.change("train", "steps", 60);
  const auto planned = plan(study.study, study.catalog, study.worker, TaskMemory(""));
  const auto worker = worker_process();
  std::thread stop([&] {
    const auto list = "/proc/" + std::to_string(worker) + "/task/" + std::to_string(worker) + "/children";
    for (int i = 0; i < 1000 && read_text(list).empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    kill(worker, SIGSTOP);
  });
  db::Store store(study.database());
  CHECK(run_trials(planned, study.worker, store, {.at_a_time = 1, .record = recording(planned), .ping_s = 0.7}).done == 1);
  stop.join();
  CHECK(worker_process() != worker);
}

TEST_CASE("no trial trains on data that differ from the plan's data") {
  Hanging hanging("nowhere", "throw");
  auto planned = plan(hanging.study, hanging.catalog, hanging.worker, TaskMemory(""));
  planned[0].data_digest = "what they were";
  db::Store store(hanging.database());
  try {
    run_trials(planned, hanging.worker, store, {.at_a_time = 1});
    FAIL("it did not throw");
  } catch (const Error& error) {
    CHECK(says(error.what(), "task faulty-task: its data changed after the study was planned"));
    CHECK(error.code() == ExitCode::kUsage);
  }
}

TEST_CASE("a worker that never answers, or prints endless text, is stopped") {
  TemporaryFolder folder;
  const std::string what = GENERATE("sleep 98763", "yes 98763");
  const auto program = folder.write("worker", "#!/bin/sh\nexec " + what + "\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  setenv("ABLATE_WORKER", program.c_str(), 1);
  CHECK_THROWS_WITH(start_worker(kWorker, 0.5), Catch::Contains("did not answer within 0.5 s"));
  CHECK(Process({"pgrep", "-fx", what}).wait().exit_code == 1);
}
