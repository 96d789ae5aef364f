// What every task has to keep to, whatever it is about (ablate/task.h): free functions, each of which shows a finding what is
// to be as expected of some splits, and the one table that runs them (task/checks.cpp).
#pragma once

#include <set>

#include "core/trial/conformance/engine/finding.h"
#include "core/trial/conformance/task/sampled_task.h"

namespace ablate {

/// Subject of a task's checks. Has a loaded task, a second one with the same parameters, a third one with another data_seed,
/// and the files that a load reads.
class TaskSubject : public SampledTask {
 public:
  using SampledTask::SampledTask;

  /// Makes and loads all of them, `other` where `seed` is not kNone; before, the first one in a child, to see what it opens:
  /// what that leaves in the cache folder the first one here finds, and the second one has to make anew. A quick look makes
  /// data once, of few examples where the task takes them: the second one finds them, and there is no other one.
  void load();

  std::unique_ptr<Task> again;
  std::vector<std::filesystem::path> files;
  std::set<std::filesystem::path> opened;  ///< what a load really reads, where `untraced` is empty
  bool keeps_data = false;                 ///< in its cache folder
  std::string untraced;                    ///< why it cannot be seen here
};

/// Makes and loads the task twice, and once more where it has a data_seed, and runs all checks. A task that cannot be made or
/// loaded fails "load" alone. @param scratch a folder for what tasks make @param quick looks at fewer examples
/// @param elsewhere names that an exemption may have, too: of what looks at tasks and is no check
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

// Positions of a stream, read across the rows of its grid (task/streams.cpp).
/// Returns consecutive positions from `begin` on, read in rows of the stream's length; fewer if the split ends.
Example stretch(const TaskSubject& subject, Split split, std::int64_t begin, std::int64_t count);

/// Returns the starts of stretches all over a split, which cover it if it has at most `most` positions. @param each positions
/// in a stretch
std::vector<std::int64_t> stretches(std::int64_t size, std::int64_t most, std::int64_t each);

/// Returns a symbol for each position of a stretch.
std::vector<std::uint64_t> symbols_of(const TaskSubject& subject, const Example& text);

}  // namespace ablate
