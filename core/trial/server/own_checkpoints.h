// Checkpoints of a running trial: resumes from the latest checkpoint, and writes new ones.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "core/shared/jobs.h"
#include "core/shared/library_watch.h"
#include "core/trial/server/server.h"
#include "core/trial/training/trial.h"

namespace ablate {

/// Checkpoints of a trial, used in its process. Times count from the construction of this object. The last two usable files
/// stay, because the newest file may have caused a failure. Problems with files are reported and never fail the trial.
class OwnCheckpoints {
 public:
  OwnCheckpoints(CheckpointPlan plan, Say say);

  /// Returns a run resumed from the latest usable file, or a new run. Sends Resumed if there was any file.
  /// @param make returns a new run
  std::unique_ptr<TrialRun> begin(const std::function<std::unique_ptr<TrialRun>()>& make);

  /// Called between two steps. Writes a checkpoint if it is due or was requested, and then sends Saved.
  void after_step(const TrialRun& run);

 private:
  using Clock = std::chrono::steady_clock;

  void write(const TrialRun& run);
  nlohmann::json spent() const;

  CheckpointPlan plan_;
  Say say_;
  std::vector<UsedPlugin> libraries_;  ///< libraries of the plan: path and content
  LibraryWatch watch_;
  Clock::time_point start_ = Clock::now(), due_;
  Resumed before_;                                    ///< state that the run resumed from
  nlohmann::json earlier_ = nlohmann::json::array();  ///< environments before the current one, the latest first
  std::filesystem::path good_before_;                 ///< latest complete file
};

}  // namespace ablate
