#include "tests/host/simulated/store.h"

#include <algorithm>

namespace ablate::simulated {

std::vector<std::string> History::outcomes(const std::string& key) const {
  std::vector<std::string> all;
  for (const auto& attempt : attempts)
    if (attempt.key == key) all.push_back(attempt.outcome);
  return all;
}

MemoryStore::MemoryStore(Disk& disk, std::filesystem::path file, int process)
    : disk_(disk), file_(std::move(file)), process_(process) {
  disk_.fails(file_);
  disk_.files[file_];
}

History& MemoryStore::history() {
  try {
    disk_.fails(file_);
  } catch (const db::Unavailable&) {
    disk_.clock.wait(patience_ms_ / 1000.0);
    throw;
  }
  return disk_.files.at(file_);
}

bool MemoryStore::knows(const std::string& key) {
  const auto& trials = disk_.files.at(file_).trials;
  return std::find(trials.begin(), trials.end(), key) != trials.end();
}

void MemoryStore::rescue(const std::filesystem::path& file) {
  if (disk_.files.contains(file)) throw Error("cannot rescue the run history into " + file.string() + ": it exists");
  disk_.fails(file);
  disk_.files[file] = disk_.files.at(file_);  // readable even if the history's file cannot be written
}

std::unique_ptr<db::GridStore> MemoryStore::open(const std::filesystem::path& file) const {
  return std::make_unique<MemoryStore>(disk_, file, process_);
}

void MemoryStore::together(const std::function<void()>& writes) {
  const auto before = history();
  disk_.writer = this;
  try {
    writes();
  } catch (...) {
    disk_.files.at(file_) = before;
    disk_.writer = nullptr;
    throw;
  }
  disk_.writer = nullptr;
}

std::int64_t MemoryStore::put_experiment(const db::Experiment& experiment) {
  auto& all = history().experiments;
  const auto found = std::find(all.begin(), all.end(), experiment.name);
  const auto number = found - all.begin() + 1;
  if (found == all.end()) all.push_back(experiment.name);
  return number;
}

void MemoryStore::put_trials(std::int64_t, const std::vector<db::GridTrial>& trials) {
  auto& all = history().trials;
  for (const auto& trial : trials)
    if (!knows(trial.key)) all.push_back(trial.key);
}

void MemoryStore::put_published(std::int64_t, const std::vector<db::PublishedValue>&) { history(); }
void MemoryStore::put_parts(const std::vector<std::pair<std::string, Identity>>&) { history(); }
void MemoryStore::put_verdicts(const std::vector<db::KnownVerdict>&) { history(); }

void MemoryStore::put_metrics(const std::vector<MetricInfo>& metrics) {
  for (const auto& metric : metrics) history().metrics[metric.name] = metric;
}

std::set<std::string> MemoryStore::done(const std::vector<std::string>& keys) {
  std::set<std::string> found;
  for (const auto& attempt : history().attempts)
    if (attempt.outcome == "done" && std::find(keys.begin(), keys.end(), attempt.key) != keys.end()) found.insert(attempt.key);
  return found;
}

std::map<std::string, db::PastTries> MemoryStore::tries(const std::vector<std::string>& keys) {
  const auto is_done = done(keys);
  std::map<std::string, db::PastTries> found;
  for (const auto& attempt : history().attempts) {
    if (is_done.contains(attempt.key) || std::find(keys.begin(), keys.end(), attempt.key) == keys.end()) continue;
    auto& one = found[attempt.key];
    one.outcomes.push_back(attempt.outcome);
    one.peak_bytes = std::max(one.peak_bytes, attempt.peak_resident_bytes);
  }
  return found;
}

std::int64_t MemoryStore::put_attempt(const db::Attempt& attempt) {
  auto& known = history();
  if (!knows(attempt.key)) throw db::UnknownTrial("no such trial: " + attempt.key);
  for (const auto& [metric, value] : attempt.results)
    if (!known.metrics.contains(metric)) throw Error("no such metric: " + metric);
  known.attempts.push_back(attempt);
  return static_cast<std::int64_t>(known.attempts.size());
}

void MemoryStore::put_running(const std::vector<db::RunningTrial>& trials) {
  auto& known = history();
  known.running[process_] = trials;
  for (const auto& [slot, owner] : known.owners)
    if (owner.process == process_) known.heard_s[slot] = disk_.clock.now_s();
}

}  // namespace ablate::simulated
