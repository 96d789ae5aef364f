// A running trial's files: what it goes on from, and when it writes itself down.
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

/// In the trial's process, whose start is this object's. Of the files of one trial the last two stay that could be gone on
/// from: the newest may be what ended the trial. Whatever goes wrong with them is said, and costs the trial nothing.
class OwnCheckpoints {
 public:
  OwnCheckpoints(CheckpointPlan plan, Say say);

  /// A run that has come as far as the latest file that can be used, or a new one. Says Resumed where there was any file.
  /// @param make a new one
  std::unique_ptr<TrialRun> begin(const std::function<std::unique_ptr<TrialRun>()>& make);

  /// Between two steps: writes the trial where it is time, or where it was asked to. Says Saved then.
  void after_step(const TrialRun& run);

 private:
  using Clock = std::chrono::steady_clock;

  void write(const TrialRun& run);
  nlohmann::json spent() const;

  CheckpointPlan plan_;
  Say say_;
  std::vector<UsedPlugin> libraries_;  ///< of the plan: path and content
  LibraryWatch watch_;
  Clock::time_point start_ = Clock::now(), due_;
  Resumed before_;                                    ///< what it went on from
  nlohmann::json earlier_ = nlohmann::json::array();  ///< other environments that its steps were computed in, the latest first
  std::filesystem::path good_before_;                 ///< the latest file but for the one that is being written
};

}  // namespace ablate
