// make_report FOLDER COUNT: writes a history of about COUNT trials (240 or more) to FOLDER/ablate.db, and its report by
// `ablate report` to FOLDER/report.html. The history has hostile names, failed and repeated trials, two hosts, and curves.
#include <chrono>
#include <cmath>
#include <cstdio>

#include "tests/db/fixture.h"
#include "tools/ablate/report/report.h"

using namespace ablate;
using namespace ablate::db;

namespace {

const std::string kHostile = "</script><img src=x onerror=alert(1)>\"'&\xE2\x80\xA8";
const std::string kStudy =
    "[experiment]\nname = \"grid\"\n[table.methods]\nrows = [\"attention\"]\nmetric = [\"test/accuracy\", "
    "\"train/step_time\"]\n[table.widths]\nrows = [\"attention\"]\ncols = [\"model.width\"]\n";

/// Returns about `count` trials of 10 parameters: all combinations of attentions, rates, widths, depths and seeds.
std::vector<nlohmann::json> trials_of(int count) {
  std::vector<nlohmann::json> all;
  const int widths = count < 1000 ? 2 : 5, depths = count < 1000 ? 1 : 5, rates = count < 1000 ? 3 : 5;
  const int seeds = count / (4 * widths * depths * rates);
  const std::string attentions[] = {"softmax", "linear", "adamra", kHostile};
  for (const auto& attention : attentions)
    for (int rate = 0; rate < rates; ++rate)
      for (int width = 1; width <= widths; ++width)
        for (int depth = 1; depth <= depths; ++depth)
          for (int seed = 1; seed <= seeds; ++seed) {
            auto one = trial(attention,
                             attention == "adamra" ? std::vector<std::string>{"1/2", "1/4"} : std::vector<std::string>(), seed);
            one["train"]["learning_rate"] = 0.0001 * std::pow(3, rate);
            one["train"]["steps"] = 2000;
            one["train"]["batch"] = 32;
            one["model"] = {{"width", 32 * width}, {"depth", depth}};
            all.push_back(std::move(one));
          }
  return all;
}

std::vector<MetricInfo> metrics() {
  auto all = usual_metrics();
  all.push_back({"train/loss", "", "min", "mean over the steps since the point before"});
  all.push_back({"memory/peak_tensor", "MiB", "min", "", MetricKind::kCost, MetricOwner::kHost});
  for (int i = 0; i < 5; ++i) all.push_back({"method/own_" + std::to_string(i), "", "max", ""});
  return all;
}

/// Returns a pseudo-random number between 0 and 1.
double noise(std::size_t i, int of) {
  const double x = std::sin(static_cast<double>(i) * 12.9898 + of * 78.233) * 43758.5453;
  return x - std::floor(x);
}

Attempt attempt_of(const nlohmann::json& one, std::size_t i) {
  const auto attention = one["attention"]["plugin"].get<std::string>();
  const double good = attention == "softmax" ? 4 : attention == "adamra" ? 6 : attention == "linear" ? 0 : -3;
  const double width = one["model"]["width"].get<double>();
  auto attempt = done(one, 70 + good + width / 20 + 3 * noise(i, 0));
  attempt.results["train/step_time"] = width / 8 * (attention == "linear" ? 0.6 : 1) + noise(i, 1);
  attempt.results["dev/accuracy"] = attempt.results["test/accuracy"] - noise(i, 2);
  attempt.results["memory/peak_tensor"] = width * 3 + noise(i, 3);
  attempt.results["train/loss"] = 0.5 + noise(i, 4);
  for (int m = 0; m < 5; ++m) attempt.results["method/own_" + std::to_string(m)] = noise(i, 5 + m);
  attempt.main_metric = "test/accuracy";
  attempt.environment = {
      {"host", i % 3 == 0 ? "first" : "second"}, {"torch", "2.11.0"}, {"variables", {{"PATH", "</script>"}}}};
  attempt.started_us += static_cast<std::int64_t>(i) * 1'000'000;
  for (int step = 10; step <= 2000; step += 10) {
    attempt.curve.push_back({"train/loss", step, 0.5 + 2 * std::exp(-step / (400.0 + 20 * good)) + 0.1 * noise(i, step)});
    if (step % 200 == 0) attempt.curve.push_back({"dev/accuracy", step, 60 + good + step / 100.0 + noise(i, step)});
  }
  return attempt;
}

void put_attempts(Store& store, const std::vector<nlohmann::json>& trials) {
  const std::string reasons[] = {"signal 11 (Segmentation fault)", "out of memory", "loss is nan at step 12", kHostile};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (i % 53 == 52) continue;  // has not run
    auto attempt = attempt_of(trials[i], i);
    const bool fails = i % 17 == 16, is_late = i % 41 == 40;
    if (fails || is_late || i % 29 == 28) {
      auto failure = failed(trials[i], is_late ? "" : reasons[i % 4], is_late ? "timeout" : "failed");
      failure.started_us = attempt.started_us - 1000;
      store.put_attempt(failure);
      if (fails || is_late) continue;
    }
    store.put_attempt(attempt);
  }
}

}  // namespace

int main(int count, char** words) try {
  if (count != 3) throw Error("make_report: expected FOLDER COUNT");
  const std::filesystem::path folder = words[1], file = folder / "ablate.db";
  if (!std::filesystem::exists(file)) {
    Store store(file);
    store.put_metrics(metrics());
    const auto trials = trials_of(std::stoi(words[2]));
    const auto grid = store.put_experiment({"grid <b>1</b>", "tries " + kHostile, "grid.toml", kStudy, {}});
    std::vector<GridTrial> keyed;
    for (const auto& one : trials) keyed.push_back({key_of(one), one});
    store.put_trials(grid, keyed);
    put_attempts(store, trials);
    put(store, "small", {trials[0], trials[1]});
  }
  CLI::App app;
  int exit_code = -1;
  add_report(
      app, [&] { return file; }, exit_code);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::string> line = {"--force", (folder / "report.html").string(), "--out", "report"};  // reversed for CLI11
  app.parse(line);
  std::printf("%.2f s, %.2f MB\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
              static_cast<double>(std::filesystem::file_size(folder / "report.html")) / 1e6);
  return exit_code;
} catch (const std::exception& error) {
  std::fprintf(stderr, "make_report: %s\n", error.what());
  return 2;
}
