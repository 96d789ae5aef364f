// Shares of a grid as an array of Slurm's jobs: who has which, and how each task ended.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/host/slurm/slurm.h"

namespace ablate::slurm {

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
