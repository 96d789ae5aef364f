// Shares of a grid as an array of Slurm's jobs: who has which, and how each task ended; and Slurm's own commands, asked in the
// forms that every release since 20.02 prints alike: never JSON, never sacct. Torch-free.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/util/clock.h"

namespace ablate::slurm {

/// Judges by the remaining time, never by which signal came: sites differ in what they announce, and whether. One thread.
class TimeLimit {
 public:
  /// Seconds left; nothing: no limit, or nobody knows.
  using Ask = std::function<std::optional<double>()>;

  /// @param ask at most each half minute @param near called once, when the time left is just enough to write everything down
  TimeLimit(Ask ask, std::function<void(double left_s)> near, const Clock& clock = machine_clock())
      : ask_(std::move(ask)), near_(std::move(near)), clock_(clock) {}

  /// To be called some times a second.
  void look();

  /// Of a job with so much time in all: at least kLeast_s, so that jobs of a minute are right, too.
  static double margin_s(double whole_s);

  static constexpr double kLeast_s = 20, kMost_s = 120;

 private:
  Ask ask_;
  std::function<void(double)> near_;
  const Clock& clock_;
  std::optional<double> end_s_;    ///< by the clock
  std::optional<double> whole_s_;  ///< left when it was first asked
  double next_ask_s_ = 0;
  bool is_told_ = false;
};

/// One task of an array of jobs, as the queue has it.
struct QueuedTask {
  std::string array;   ///< the job id that sbatch told
  int task = 0;        ///< the index in the array; kAll: of an array that was cancelled before it began
  std::string state;   ///< "PENDING", "RUNNING", "COMPLETED", "CANCELLED", "TIMEOUT", "PREEMPTED", "NODE_FAIL", ...
  std::string reason;  ///< of a pending one: "Resources", "Priority", ...

  static constexpr int kAll = -1;
  /// Whether it runs, or is going to without anybody's doing.
  bool is_live() const;
};

/// The user's tasks of this name that Slurm still knows: ended ones for MinJobAge. Throws Error where squeue fails.
std::vector<QueuedTask> queued(const std::string& name);

/// What squeue prints with kQueueFormat, a task a line.
inline constexpr const char* kQueueFormat = "%F|%K|%T|%r";
std::vector<QueuedTask> queued_in(const std::string& text);

/// The largest array is of indexes 0 to this minus 1 (MaxArraySize). Throws Error where scontrol fails.
int most_tasks();

/// Submits a script. Throws Error with sbatch's words. @param words sbatch's, the script last @return the job's id
std::string submit(std::vector<std::string> words);

/// What `scontrol show` prints of one thing on one line: NAME=VALUE. "" where the name is not there.
std::string value_in(const std::string& line, const std::string& name);

/// "1-02:03:04", "02:03:04", "03:04", "04"; nothing of UNLIMITED, INVALID and the like.
std::optional<double> seconds_in(const std::string& time);

/// How long this process's job may still run, in seconds, by squeue. Nothing outside of a job, and where squeue does not
/// answer.
std::optional<double> own_time_left();

/// What becomes of a task that was told to stop.
enum class Next {
  kRequeue,   ///< its time is nearly over, or an administrator told it: it asks to be put into the queue again
  kTimedOut,  ///< its time was over before it looked: likewise
  kSubmit,    ///< preempted where that cancels: only a new job goes on with it
  kBySlurm,   ///< Slurm puts it into the queue again by itself
  kNothing,   ///< somebody cancelled it
};
/// @param job what `scontrol -o show job ID` prints @param partition_mode PreemptMode of its partition, or of the cluster
Next next_of(const std::string& job, const std::string& partition_mode);

/// This process's job, for Slurm's commands: "ID", of an array "ID_TASK"; "" where it is none.
std::string own_job();

/// The same for this process's job, asked of scontrol.
Next next_of_own_job();

/// Puts this process's job into the queue again, which ends this process. @return why that failed
std::string requeue_own_job();

/// A job array that was submitted, or a later job that goes on with one of its tasks.
struct Submission {
  std::string job;
  std::map<int, std::vector<int>> shares;  ///< of each task of the array
};

/// Share k, k + tasks, k + 2 tasks, ... of those given to task k.
std::map<int, std::vector<int>> dealt(const std::vector<int>& shares, int tasks);

/// The name of all jobs of a shared folder, by which squeue finds them: "ablate-" and digits.
std::string job_name(const std::filesystem::path& shared);

/// The script of an array, for sbatch: a task takes the shares that stand in it, `... --share 0,8,16/32`.
/// @param options sbatch's, which stand in the script, so that it can be submitted again @param shares of each task @param of
/// how many shares @param run the command that takes them, word by word
std::string script(const std::vector<std::string>& options, const std::map<int, std::vector<int>>& shares, int of,
                   const std::vector<std::string>& run);
/// Where one that has not been written yet may lie.
std::filesystem::path new_script(const std::filesystem::path& shared);

/// From the plan to the note of a job, one process a shared folder: two would submit all shares twice.
class Submitting {
 public:
  /// Throws Error where another one is at it.
  explicit Submitting(const std::filesystem::path& shared);
  ~Submitting();
  Submitting(const Submitting&) = delete;
  Submitting& operator=(const Submitting&) = delete;

 private:
  std::filesystem::path file_;
};

/// What stands in the shared folder. Written whole or not at all, by one process each. Throw Error.
void remember(const std::filesystem::path& shared, const Submission& submission);
std::vector<Submission> submissions(const std::filesystem::path& shared);

/// The last word of a task: "done", "failed", "cancelled", "time-limited", "requeued" (so it asked), "resubmitted".
/// Best effort: what is not written counts as lost.
void say_end(const std::filesystem::path& shared, const std::string& job, int task, const std::string& word);
std::string end_of(const std::filesystem::path& shared, const std::string& job, int task);

/// Where a task stands, by the queue first and its own last word then.
/// @return "queued" (and why, in parentheses), "running", "done", "failed", "cancelled", "time-limited", "resubmitted" or
/// "lost"
std::string standing_of(const QueuedTask* queued, const std::string& last_word);

}  // namespace ablate::slurm
