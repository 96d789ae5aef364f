// Checkpoints that are no longer needed.
#include <algorithm>
#include <system_error>
#include <tuple>

#include "core/records/checkpoint_files.h"
#include "db/history/artifacts.h"
#include "db/history/prepared_statements.h"

namespace ablate::db {
namespace {

using SQLite::Statement;

/// Returns the trials with a held lease. They run here or elsewhere, or their scheduler died unnoticed.
std::set<std::string> leased_trials(SQLite::Database& database) {
  std::set<std::string> trials;
  Statement held(database, "SELECT key FROM lease WHERE outcome IS NULL");
  while (held.executeStep()) trials.insert(checkpoint_trial(held.getColumn(0).getString()));
  return trials;
}

constexpr const char* kIsDone =
    "SELECT 1 FROM trial t JOIN attempt a ON a.trial = t.id WHERE t.key >= ? AND t.key < ? AND a.outcome = 'done'";

bool has_done_attempt(Statement& ask, const std::string& trial) {
  SQLite::bind(ask, trial, trial + "g");  // "g" sorts after every hex digit
  const bool done = ask.executeStep();
  ask.reset();
  return done;
}

}  // namespace

std::vector<ArtifactFile> checkpoints_of(const std::filesystem::path& history, const std::set<std::string>& keys) {
  std::set<std::string> trials;
  for (const auto& key : keys) trials.insert(checkpoint_trial(key));
  std::vector<ArtifactFile> files;
  for (const auto& file : checkpoint_files(artifact_folder(history, kCheckpoints)))
    if (trials.contains(file.trial)) files.push_back({kCheckpoints, file.path.filename().string()});
  return files;
}

std::vector<ArtifactFile> waiting_checkpoints(SQLite::Database& database, const std::filesystem::path& other) {
  std::vector<ArtifactFile> waiting;
  Statement done(database, kIsDone);
  for (const auto& file : checkpoint_files(artifact_folder(other, kCheckpoints)))
    if (!file.is_part && !has_done_attempt(done, file.trial)) waiting.push_back({kCheckpoints, file.path.filename().string()});
  return waiting;
}

NeedlessCheckpoints needless_checkpoints(SQLite::Database& database, const std::filesystem::path& history,
                                         const std::set<std::string>& running, std::uintmax_t most_bytes) {
  NeedlessCheckpoints needless;
  const auto files = checkpoint_files(artifact_folder(history, kCheckpoints));
  if (files.empty()) return needless;
  auto spared = leased_trials(database);
  for (const auto& key : running) spared.insert(checkpoint_trial(key));
  Statement done(database, kIsDone);
  using Aged = std::tuple<std::filesystem::file_time_type, std::string, std::uintmax_t>;
  std::vector<Aged> left;
  std::uintmax_t bytes = 0;
  std::string trial;
  bool trial_is_done = false;
  for (const auto& file : files) {  // sorted by trial
    if (spared.contains(file.trial)) continue;
    if (file.trial != trial) trial_is_done = has_done_attempt(done, file.trial), trial = file.trial;
    const auto name = file.path.filename().string();
    if (trial_is_done) {
      needless.done.push_back({kCheckpoints, name});
      continue;
    }
    std::error_code failed;
    left.emplace_back(std::filesystem::last_write_time(file.path, failed), name, std::filesystem::file_size(file.path, failed));
    if (failed)
      left.pop_back();  // removed meanwhile
    else
      bytes += std::get<2>(left.back());
  }
  std::sort(left.begin(), left.end());
  for (auto one = left.begin(); one != left.end() && bytes > most_bytes; ++one) {
    bytes -= std::get<2>(*one);
    needless.oldest.push_back({kCheckpoints, std::get<1>(*one)});
  }
  return needless;
}

}  // namespace ablate::db
