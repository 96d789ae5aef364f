// Shares of a grid as an array of Slurm jobs: each task's shares, and how each task ended. Calls Slurm's commands only in forms
// whose output is the same in every release since 20.02: never JSON, never sacct. Torch-free.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/util/clock.h"

namespace ablate::slurm {

/// Detects by the remaining time that a job's end is near, because sites send different signals, or none. For one thread only.
class TimeLimit {
 public:
  /// Returns the seconds left, or nullopt if there is no limit or it is unknown.
  using Ask = std::function<std::optional<double>()>;

  /// @param ask called at most once every half minute
  /// @param near called once, when the time left just suffices to write all results
  TimeLimit(Ask ask, std::function<void(double left_s)> near, const Clock& clock = machine_clock())
      : ask_(std::move(ask)), near_(std::move(near)), clock_(clock) {}

  /// Checks the time. Call it several times a second.
  void look();

  /// Returns the time from the call of `near` to the job's end, for a job of this length: kLeast_s to kMost_s.
  static double margin_s(double whole_s);

  static constexpr double kLeast_s = 20, kMost_s = 120;  ///< kLeast_s suffices even for a job of a minute

 private:
  Ask ask_;
  std::function<void(double)> near_;
  const Clock& clock_;
  std::optional<double> end_s_;    ///< time of `clock_`
  std::optional<double> whole_s_;  ///< seconds left at the first query
  double next_ask_s_ = 0;
  bool is_reported_ = false;
};

/// One task of an array of jobs, as squeue shows it.
struct QueuedTask {
  std::string array;   ///< the job id that sbatch printed
  int task = 0;        ///< the index in the array; kAll: a whole array that was cancelled before it began
  std::string state;   ///< "PENDING", "RUNNING", "COMPLETED", "CANCELLED", "TIMEOUT", "PREEMPTED", "NODE_FAIL", ...
  std::string reason;  ///< why a task is pending: "Resources", "Priority", ...

  static constexpr int kAll = -1;
  /// True if the task runs, or will run without anyone's action.
  bool is_live() const;
};

/// Returns the user's tasks of this name, also tasks that ended less than MinJobAge ago. Throws Error if squeue fails.
std::vector<QueuedTask> queued(const std::string& name);

/// Format of squeue, and the parser of its output, which has one task per line.
inline constexpr const char* kQueueFormat = "%F|%K|%T|%r";
std::vector<QueuedTask> queued_in(const std::string& text);

/// Returns MaxArraySize: the indexes of an array are 0 to MaxArraySize - 1. Throws Error if scontrol fails.
int most_tasks();

/// Submits a script with these arguments of sbatch, the script last. Returns the job's id. Throws Error with sbatch's message.
std::string submit(std::vector<std::string> words);

/// Returns the value of NAME=VALUE in a line of `scontrol show`, or "" if the name is missing.
std::string value_in(const std::string& line, const std::string& name);

/// Parses "1-02:03:04", "02:03:04", "03:04", "04". Returns nullopt for UNLIMITED, INVALID and similar texts.
std::optional<double> seconds_in(const std::string& time);

/// Asks squeue for the seconds that this process's job may still run. Returns nullopt outside of a job, or without an answer.
std::optional<double> own_time_left();

/// Next step for a task that was asked to stop.
enum class Next {
  kRequeue,   ///< the task's time is nearly over, or an administrator stopped it: the task asks Slurm to requeue it
  kTimedOut,  ///< the task's time was over before it checked: the task also asks Slurm to requeue it
  kSubmit,    ///< the cluster preempted the task, and cancels preempted jobs: only a new job can continue the task
  kBySlurm,   ///< Slurm requeues the task without a request
  kNothing,   ///< a user cancelled the task
};
/// Decides the next step from `scontrol -o show job ID`, and from the PreemptMode of the job's partition or cluster.
Next next_of(const std::string& job, const std::string& partition_mode);

/// Returns the id of this process's job for Slurm's commands: "ID", or "ID_TASK" in an array; "" outside of a job.
std::string own_job();

/// Returns next_of() for this process's job, with scontrol's answers.
Next next_of_own_job();

/// Requeues this process's job, which ends this process. If that fails, returns the reason.
std::string requeue_own_job();

/// A submitted job array, or a later job that continues one of its tasks.
struct Submission {
  std::string job;
  std::map<int, std::vector<int>> shares;  ///< by task of the array
};

/// Deals out shares: task k gets the shares at the positions k, k + tasks, k + 2 tasks, ...
std::map<int, std::vector<int>> dealt(const std::vector<int>& shares, int tasks);

/// Returns the name of all jobs of a shared folder, for squeue: "ablate-" and digits.
std::string job_name(const std::filesystem::path& shared);

/// Returns the script of an array for sbatch. A task's shares are written in it: `... --share 0,8,16/32`.
/// @param options sbatch's options, written into the script so that it can be submitted again
/// @param shares by task
/// @param of number of all shares
/// @param run the command that computes the shares, word by word
std::string script(const std::vector<std::string>& options, const std::map<int, std::vector<int>>& shares, int of,
                   const std::vector<std::string>& run);
/// Returns a path for a script that does not exist yet.
std::filesystem::path new_script(const std::filesystem::path& shared);

/// Lock of a shared folder, held until a new job is noted there. Without the lock, two processes could submit a share twice.
class Submitting {
 public:
  /// Throws Error if another process has the lock.
  explicit Submitting(const std::filesystem::path& shared);
  ~Submitting();
  Submitting(const Submitting&) = delete;
  Submitting& operator=(const Submitting&) = delete;

 private:
  std::filesystem::path file_;
};

/// Writes and reads the notes of submitted jobs in the shared folder. A note is never half-written. Throws Error.
void remember(const std::filesystem::path& shared, const Submission& submission);
std::vector<Submission> submissions(const std::filesystem::path& shared);

/// Writes and reads the last word of a task: "done", "failed", "cancelled", "time-limited", "requeued" (at the task's own
/// request), "resubmitted". Best effort: if a task has no word, and squeue does not show the task, it counts as lost.
void say_end(const std::filesystem::path& shared, const std::string& job, int task, const std::string& word);
std::string end_of(const std::filesystem::path& shared, const std::string& job, int task);

/// Returns the state of a task: from the queue if the task is live, else from its last word, else from the queue.
/// @return "queued" (with the reason in parentheses), "running", "done", "failed", "cancelled", "time-limited", "resubmitted"
/// or "lost"
std::string standing_of(const QueuedTask* queued, const std::string& last_word);

}  // namespace ablate::slurm
