// Measures the host's overhead for a trial. Runs 200 one-step trials of the smallest model in three ways. A: in this process
// (no fork, no pipe, no database). B: each in a fork of this process (the least cost of a separate process). C: by `ablate run
// -j 1`. The ways alternate: A B C A B C ... Prints the median of each way, the overhead of a trial and the ratio C / A.
//   build/release/tests/bench_overhead [ROUNDS]
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "core/host/study/study.h"
#include "core/registry/library.h"
#include "core/registry/values.h"
#include "core/trial/training/trial.h"
#include "tests/support/process.h"

namespace {

using namespace ablate;
using Clock = std::chrono::steady_clock;

constexpr int kTrials = 200;
const std::string kPlugins = std::string(ABLATE_BUILD_DIR) + "/lib/ablate/plugins/";
const std::string kStudy = R"(
[experiment]
name = "overhead"
[task]
plugin = "listops"
min_length = 5
max_length = 24
max_depth = 3
max_arguments = 4
train = 300
dev = 20
test = 20
[model]
layers = 1
d_model = 8
hidden = 8
[attention]
plugin = "linear"
[train]
steps = 1
batch = 10
evaluate_batches = 1
test_batches = 1
[grid]
seeds = 200
)";

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 5;
  const TemporaryFolder folder;
  const auto file = folder.write("overhead.toml", kStudy);
  const auto& linear = load_library(kPlugins + "linear.so");
  const auto& listops = load_library(kPlugins + "listops.so");
  const Catalog catalog{{describe(linear), describe(listops)}};
  const auto study = load_study(file, {}, catalog);
  const JsonValues values(plugin_from_json(study.trials.front().resolved().at("task")), describe(listops));
  const auto task = listops.make_task({values, folder.path(), 1});
  task->info();
  task->load();

  const auto alone = [&] {
    const auto start = Clock::now();
    for (const auto& trial : study.trials)
      run_trial({trial.spec, *task, [&](Kind, const std::string&) -> const Descriptor& { return linear; }},
                [](const Progress&) {});
    return seconds_since(start);
  };
  const auto forked = [&] {
    const auto start = Clock::now();
    for (const auto& trial : study.trials) {
      const auto child = fork();
      if (child == 0) {
        run_trial({trial.spec, *task, [&](Kind, const std::string&) -> const Descriptor& { return linear; }},
                  [](const Progress&) {});
        _exit(0);
      }
      int status = 0;
      if (child < 0 || waitpid(child, &status, 0) != child || status != 0) std::fprintf(stderr, "a fork failed\n");
    }
    return seconds_since(start);
  };
  const auto run = [&](const char* seeds) {
    std::filesystem::remove(folder / "overhead.db");
    const auto start = Clock::now();
    const auto ended = Process({std::string(ABLATE_BUILD_DIR) + "/bin/ablate", "--db", folder / "overhead.db", "run", file,
                                "-j", "1", "--set", seeds})
                           .wait();
    if (ended.exit_code != 0) std::fprintf(stderr, "%s", ended.err.c_str());
    return seconds_since(start);
  };
  std::vector<double> direct, apart, hosted, start_up, ratio;
  alone();
  run("seeds=200");
  for (int i = 0; i < rounds; ++i) {
    direct.push_back(alone());
    apart.push_back(forked());
    // Each run includes the start of a worker. The difference of the two runs is the time of 199 trials without that start.
    const double one = run("seeds=1"), all = run("seeds=200");
    start_up.push_back(one);
    hosted.push_back((all - one) / (kTrials - 1));
    ratio.push_back(hosted.back() / (direct.back() / kTrials));
  }
  const double own = 1e3 * median(direct) / kTrials, through = 1e3 * median(hosted);
  std::printf("%d rounds, %d trials of one step, 1 job, 1 thread\n", rounds, kTrials);
  std::printf("in one process   %8.2f ms a trial\n", own);
  const double fork_ms = 1e3 * median(apart) / kTrials;
  std::printf("in a fork each   %8.2f ms a trial (the least cost of a separate process)\n", fork_ms);
  std::printf("through ablate   %8.2f ms a trial (ratio %.2f)\n", through, median(ratio));
  std::printf("overhead         %8.2f ms a trial, of which the fork takes %.2f ms\n", through - own, fork_ms - own);
  std::printf("one trial, whole %8.0f ms (with the start of the worker)\n", 1e3 * median(start_up));
  return 0;
}
