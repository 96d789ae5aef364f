// What is known of a trial while it runs: from its messages and from its end, an attempt of the history.
#pragma once

#include <limits>
#include <optional>
#include <utility>

#include "core/host/client/job_outcome.h"
#include "core/host/scheduler/plan.h"
#include "core/records/outcome.h"
#include "core/shared/messages.h"
#include "core/shared/verdict_memory.h"
#include "db/types/records.h"

namespace ablate {

class AttemptInProgress {
 public:
  /// @param clock_s the scheduler's own time; see Scheduler @param started_us since 1970, UTC @param verdicts on the trial's
  /// plugins, as they are known now
  AttemptInProgress(const PlannedTrial& planned, const nlohmann::json& environment, double clock_s, std::int64_t started_us,
                    const VerdictMemory& verdicts);

  const PlannedTrial& planned() const { return *planned_; }
  const db::Attempt& attempt() const { return attempt_; }
  /// @param fence of the lease that it runs under
  void is_leased(std::int64_t fence) { attempt_.fence = fence; }
  /// Bytes, as far as the worker has told; and why its file lacks some of the first.
  std::int64_t printed() const { return printed_; }
  const std::string& unkept() const { return unkept_; }
  /// Whether it took more memory than it was given, and was ended for it, or was refused it: alone it would be so, too. Where a
  /// trial has a limit of its own, the host's refusal (std::bad_alloc) counts as that limit's, which the kernel does not tell
  /// apart.
  bool was_over_limit() const { return was_over_limit_; }
  /// It has ended, and the trial goes back into the queue.
  void goes_back() { attempt_.is_tried_again = true; }
  void has_left(std::vector<db::Artifact> files) { attempt_.artifacts = std::move(files); }
  db::RunningTrial running() const;
  double started_s() const { return started_s_; }

  /// What the trial says: progress, points of its curves, definitions of metrics, results, or why it fails. What is none of
  /// these makes it fail.
  void take(const nlohmann::json& data);

  /// Whether the latest message told any.
  bool has_progress() const { return has_progress_; }
  const Progress& progress() const { return progress_; }
  /// Definitions told so far.
  const std::vector<MetricInfo>& metrics() const { return metrics_; }

  /// What it said of the checkpoint that it goes on from, once.
  std::optional<Resumed> take_resumed() { return std::exchange(resumed_, std::nullopt); }
  bool is_resumed() const { return before_.step > 0; }
  /// The latest checkpoint of its own, and how many there were.
  const Saved& saved() const { return saved_; }
  int saves() const { return saves_; }

  /// An EndedEvent or a NotStartedEvent. Done is what gave its results and then ended without a fault. @param timeout_s what
  /// it was given @param memory_bytes likewise; 0: any amount
  void end(const Event& event, double timeout_s, std::int64_t memory_bytes = 0);
  /// Where the worker told no end: the outcome and the reason that are known without it.
  void end(std::string_view outcome, const std::string& reason, double wall_s);
  /// "test/accuracy 71.09 %, 24.8 ms a step" (the main metric), as far as it has them; of what is not done, why. Where values
  /// are tuned it has the metric on dev: nobody sees a test result of a value that is not chosen.
  std::string summary() const;
  /// Whatever its outcome was until now.
  void fail(const std::string& reason, std::string_view outcome = outcome::kFailed);

 private:
  void read(const nlohmann::json& data);
  void hear(const CurvePart& curve);
  void hear(TrialResult result);
  void hear(Progress progress);
  void hear(Resumed resumed);
  void hear(const Saved& saved);
  void add_spent_before();
  void end_done();
  void end(const JobOutcome& outcome, double timeout_s);

  const PlannedTrial* planned_;
  double started_s_;
  db::Attempt attempt_;
  std::int64_t printed_ = 0;
  bool was_over_limit_ = false;
  std::string unkept_;
  std::vector<MetricInfo> metrics_;
  HeardOfJob heard_;
  bool has_progress_ = false;
  Resumed before_;                  ///< what it goes on from
  std::optional<Resumed> resumed_;  ///< that nobody has taken yet
  Saved saved_;
  int saves_ = 0;
  Progress progress_{.loss = std::numeric_limits<double>::quiet_NaN(), .dev = std::numeric_limits<double>::quiet_NaN()};
};

}  // namespace ablate
