// State of a trial while it runs. Its messages and its end become an attempt of the history.
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
  /// @param clock_s the scheduler's own time
  /// @param started_us microseconds since 1970, UTC
  /// @param verdicts verdicts on plugins when the trial starts
  AttemptInProgress(const PlannedTrial& planned, const nlohmann::json& environment, double clock_s, std::int64_t started_us,
                    const VerdictMemory& verdicts);

  const PlannedTrial& planned() const { return *planned_; }
  const db::Attempt& attempt() const { return attempt_; }
  /// Sets the fence of the trial's lease.
  void is_leased(std::int64_t fence) { attempt_.fence = fence; }
  /// Bytes of the trial's whole output. unkept(): why the output file lacks some of the first bytes. The worker reports both.
  std::int64_t printed() const { return printed_; }
  const std::string& unkept() const { return unkept_; }
  /// True if the trial's memory limit ended it or refused memory. The trial would then also fail if it ran alone. If there is a
  /// limit, std::bad_alloc counts as a reached limit, because the kernel does not report whether the host or the limit refused.
  bool was_over_limit() const { return was_over_limit_; }
  /// Records that the attempt has ended, and the trial returns to the queue.
  void goes_back() { attempt_.is_tried_again = true; }
  void has_left(std::vector<db::Artifact> files) { attempt_.artifacts = std::move(files); }
  db::RunningTrial running() const;
  double started_s() const { return started_s_; }

  /// Handles a message of the trial: progress, points of its curves, definitions of metrics, results, or why it fails. Any
  /// other message makes the trial fail.
  void take(const nlohmann::json& data);

  /// True if the latest message was progress.
  bool has_progress() const { return has_progress_; }
  const Progress& progress() const { return progress_; }
  /// Definitions received so far.
  const std::vector<MetricInfo>& metrics() const { return metrics_; }

  /// Returns the trial's report about the checkpoint that it continues from, or nullopt if no new report has arrived.
  std::optional<Resumed> take_resumed() { return std::exchange(resumed_, std::nullopt); }
  bool is_resumed() const { return before_.step > 0; }
  /// The trial's latest message about a checkpoint that it wrote, and the number of such messages.
  const Saved& saved() const { return saved_; }
  int saves() const { return saves_; }

  /// Handles an EndedEvent or a NotStartedEvent. An attempt is done if it sent results and then ended without a fault. The
  /// other arguments are the trial's limits; 0: none.
  void end(const Event& event, double timeout_s, std::int64_t memory_bytes = 0);
  /// Ends the attempt with this outcome and reason, because the worker reported no end.
  void end(std::string_view outcome, const std::string& reason, double wall_s);
  /// Returns "test/accuracy 71.09 %, 24.8 ms a step" (the main metric) for a done attempt, else the reason. If values are
  /// tuned, the text has the metric on dev, because no user may see a test result of a value that is not chosen.
  std::string summary() const;
  /// Sets this outcome and reason, which replace any earlier outcome.
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
  Resumed before_;                  ///< checkpoint that the trial continues from
  std::optional<Resumed> resumed_;  ///< until take_resumed()
  Saved saved_;
  int saves_ = 0;
  Progress progress_{.loss = std::numeric_limits<double>::quiet_NaN(), .dev = std::numeric_limits<double>::quiet_NaN()};
};

}  // namespace ablate
