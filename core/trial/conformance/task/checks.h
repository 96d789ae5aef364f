// Requirements on every task, whatever its content (ablate/task.h). Each check is a free function that examines some splits
// and reports to a finding. One table runs them all (task/checks.cpp).
#pragma once

#include <set>

#include "core/trial/conformance/engine/finding.h"
#include "core/trial/conformance/task/sampled_task.h"

namespace ablate {

/// Subject of a task's checks: a loaded task, a second task with its parameters, a task of another data_seed, and their files.
class TaskSubject : public SampledTask {
 public:
  using SampledTask::SampledTask;

  /// Makes and loads the three tasks; the task of another data_seed only if the task has one. Before that, a child process
  /// loads the first task to record opened files, and leaves data in the first task's cache folder. The second task makes its
  /// data again. A quick check makes data once, with few examples if the task allows it: both tasks share the data, and there
  /// is no `other`.
  void load();

  std::unique_ptr<Task> again;
  std::vector<std::filesystem::path> files;
  std::set<std::filesystem::path> opened;  ///< files that a load really reads, if `untraced` is empty
  bool keeps_data = false;                 ///< true if the task stores data in its cache folder
  std::string untraced;                    ///< reason why opened files cannot be recorded here
};

/// Loads the task twice, or three times if it has a data_seed, and runs all checks. If it cannot be loaded, only "load" fails.
/// @param scratch folder for the files of tasks
/// @param quick true: checks fewer examples
/// @param elsewhere other names that an exemption may use: the names of the findings of an audit
void check_task(const Candidate& candidate, const std::filesystem::path& scratch, bool quick, Checks& checks,
                std::span<const std::string> elsewhere = {});

using TaskLook = void(const TaskSubject& subject, Splits on, Finding& finding);
using SampleLook = void(const SampledTask& subject, Splits on, Finding& finding);

// task/contract.cpp
SampleLook task_info, task_size, task_fields;
TaskLook task_info_after_load, task_answers, task_slices, task_outside, task_describe, task_files, task_files_opened;

TaskLook task_contiguous, task_past_the_end, task_starts, task_next_token;  // task/streams.cpp
TaskLook task_repeatable, task_alone, task_threads;                         // task/reads.cpp
TaskLook task_digest, task_digest_of_files;                                 // task/digest.cpp
TaskLook task_digest_of_parameters, task_cache;                             // task/parameters.cpp
TaskLook task_digest_of_seed, task_other_seed;                              // task/seeds.cpp
TaskLook task_disjoint, task_duplicates;                                    // task/splits.cpp

/// Returns why the files are not edited, or "". Edits are made in copies, which are loaded after each edit (task/digest.cpp).
std::string too_large_to_edit(const TaskSubject& subject, Splits on);

// Positions of a stream, read across its rows (task/streams.cpp).
/// Returns `count` consecutive positions from `begin` on, or fewer if the split ends. Reads rows of the stream's row length.
Example stretch(const TaskSubject& subject, Split split, std::int64_t begin, std::int64_t count);

/// Returns the starts of stretches spread over a split. A split of at most `most` positions is one stretch from position 0 on.
/// @param each number of positions in a stretch
std::vector<std::int64_t> stretches(std::int64_t size, std::int64_t most, std::int64_t each);

/// Returns a symbol for each position of a stretch.
std::vector<std::uint64_t> symbols_of(const TaskSubject& subject, const Example& text);

}  // namespace ablate
