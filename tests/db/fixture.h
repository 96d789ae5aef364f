// A run history in its own folder, and helpers to fill it.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "core/util/error.h"
#include "core/util/sha256.h"
#include "db/history/reader.h"
#include "db/history/store.h"
#include "tests/support/temporary.h"

namespace ablate::db {

using Folder = TemporaryFolder;

inline std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Returns the message of the Error that f throws; "" if it throws none.
inline std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Note below trained scores of a study without [grid.longer].
inline const std::string kOneBudget =
    "trained with one number of steps: more steps may change a score or an order ([grid.longer])";

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Returns the settings of a trial with an attention (and its rates, if any) and the task image.
inline nlohmann::json trial(const std::string& attention, const std::vector<std::string>& rates, int seed) {
  nlohmann::json resolved = {{"task", {{"plugin", "image"}, {"pool", 2}}},
                             {"attention", {{"plugin", attention}}},
                             {"train", {{"learning_rate", 0.001}, {"shuffle", true}}},
                             {"seed", seed}};
  if (!rates.empty()) resolved["attention"]["rates"] = rates;
  return resolved;
}

inline std::string key_of(const nlohmann::json& resolved) { return sha256(resolved.dump()); }

inline Attempt done(const nlohmann::json& resolved, double accuracy) {
  Attempt attempt;
  attempt.key = key_of(resolved);
  attempt.outcome = "done";
  attempt.started_us = 1'700'000'000'000'000;
  attempt.wall_s = 2.5;
  attempt.cpu_s = 2.25;
  attempt.peak_resident_bytes = 64 << 20;
  attempt.environment = {{"host", "here"}, {"torch", "2.11.0"}};
  attempt.results = {{"test/accuracy", accuracy}, {"train/step_time", 100 - accuracy}};
  return attempt;
}

inline Attempt failed(const nlohmann::json& resolved, const std::string& reason, const std::string& outcome = "failed") {
  auto attempt = done(resolved, 0);
  attempt.outcome = outcome;
  attempt.reason = reason;
  attempt.results.clear();
  return attempt;
}

inline std::vector<MetricInfo> usual_metrics() {
  return {{"test/accuracy", "%", "max", "share of test examples that are right"},
          {"dev/accuracy", "%", "max", "share of dev examples that are right"},
          {"train/step_time", "ms", "min", "median", MetricKind::kCost, MetricOwner::kHost, true}};
}

/// Stores an experiment of the trials. Each trial gets the key that key_of() returns for it.
inline std::int64_t put(Store& store, const std::string& name, const std::vector<nlohmann::json>& trials) {
  store.put_metrics(usual_metrics());
  const auto id = store.put_experiment({name, "", "experiments/" + name + ".toml", "[grid]", {"train.steps=20"}});
  std::vector<GridTrial> keyed;
  for (const auto& resolved : trials) keyed.push_back({key_of(resolved), resolved});
  store.put_trials(id, keyed);
  return id;
}

}  // namespace ablate::db
