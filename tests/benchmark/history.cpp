// Writes a history of runs with ten parameters and ten metrics (4 attentions x 5 rates x 10 lengths, and seeds), and prints the
// time to record a run.
//   build/release/tests/bench_history FILE TRIALS [RUNS IN A TRANSACTION]
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>

#include "core/util/sha256.h"
#include "db/history/store.h"

namespace {

using namespace ablate;
using namespace ablate::db;

nlohmann::json trial(int number) {
  const char* attentions[] = {"softmax", "linear", "adamra", "performer"};
  const char* rates[] = {"1/2", "1/4", "1/8", "1/16", "1/32"};
  return {{"attention", {{"plugin", attentions[number % 4]}, {"rates", nlohmann::json::array({rates[number / 4 % 5]})}}},
          {"task", {{"plugin", "listops"}, {"length", 128 * (1 + number / 20 % 10)}}},
          {"model", {{"layers", 2}, {"d_model", 64}}},
          {"train", {{"steps", 1000}, {"batch", 32}, {"learning_rate", 0.001}}},
          {"seed", number / 200}};
}

std::vector<MetricInfo> metrics() {
  std::vector<MetricInfo> all = {{"test/accuracy", "%", "max", "share of test examples that are right"}};
  for (int i = 1; i < 10; ++i) all.push_back({"test/score" + std::to_string(i), "", "max", "another"});
  return all;
}

Attempt attempt(const std::string& key, int number) {
  Attempt one;
  one.key = key, one.outcome = "done";
  one.started_us = 1'700'000'000'000'000 + number;
  one.wall_s = 2.5, one.cpu_s = 2.25, one.peak_resident_bytes = 64 << 20;
  one.environment = {{"host", "here"}, {"torch", "2.11.0"}};
  one.main_metric = "test/accuracy";
  one.plugins = {{"attention", "linear", "1.0.0", "a", "b", "linear.so"}, {"task", "listops", "1.0.0", "c", "d", "listops.so"}};
  for (const auto& metric : metrics()) one.results[metric.name] = 50 + number % 4 + number * 7919 % 1000 / 250.0;
  return one;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return std::fprintf(stderr, "usage: bench_history FILE TRIALS [RUNS IN A TRANSACTION]\n"), 2;
  const int trials = std::atoi(arguments[2]), together = count > 3 ? std::atoi(arguments[3]) : 1;
  Store store(arguments[1]);
  store.put_metrics(metrics());
  const auto experiment = store.put_experiment({"bench", "", "bench.toml", "[grid]", {}});
  std::vector<GridTrial> grid;
  for (int i = 0; i < trials; ++i) {
    auto resolved = trial(i);
    auto key = sha256(resolved.dump());
    grid.push_back({std::move(key), std::move(resolved)});
  }
  const auto start = std::chrono::steady_clock::now();
  const auto processor = std::clock();
  const auto say = [&](const char* what) {
    const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
    std::printf("%s %.4f ms a run, %.4f ms of processor time\n", what, passed.count() / trials,
                1e3 * static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC / trials);
  };
  store.put_trials(experiment, grid);
  say("listed");
  for (int i = 0; i < trials; i += together)
    store.together([&] {
      for (int j = i; j < std::min(trials, i + together); ++j)
        store.put_attempt(attempt(grid[static_cast<std::size_t>(j)].key, j));
    });
  say("listed and recorded");
}
