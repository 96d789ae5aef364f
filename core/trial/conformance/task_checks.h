// What every task has to keep to, whatever it is about (ablate/task.h): free functions, each of which shows a finding what is
// to be as expected of some splits, and the one table that runs them (task_checks.cpp).
#pragma once

#include "core/trial/conformance/finding.h"
#include "core/trial/conformance/task_subject.h"

namespace ablate {

/// Makes and loads the task twice, and once more where it has a data_seed, and runs all checks. A task that cannot be made or
/// loaded fails "load" alone. @param scratch a folder for what tasks make @param quick looks at fewer examples
/// @param elsewhere names that an exemption may have, too: of what looks at tasks and is no check
void check_task(const Candidate& candidate, const std::filesystem::path& scratch, bool quick, Checks& checks,
                std::span<const std::string> elsewhere = {});

// task_contract.cpp
void task_info(const SampledTask& subject, Splits on, Finding& finding);
void task_info_after_load(const TaskSubject& subject, Splits on, Finding& finding);
void task_size(const SampledTask& subject, Splits on, Finding& finding);
void task_fields(const SampledTask& subject, Splits on, Finding& finding);
void task_answers(const TaskSubject& subject, Splits on, Finding& finding);
void task_slices(const TaskSubject& subject, Splits on, Finding& finding);
void task_outside(const TaskSubject& subject, Splits on, Finding& finding);
void task_describe(const TaskSubject& subject, Splits on, Finding& finding);

// task_streams.cpp, task_windows.cpp
void task_contiguous(const TaskSubject& subject, Splits on, Finding& finding);
void task_past_the_end(const TaskSubject& subject, Splits on, Finding& finding);
void task_starts(const TaskSubject& subject, Splits on, Finding& finding);
void task_next_token(const TaskSubject& subject, Splits on, Finding& finding);
/// Of a stream, a part of "splits are disjoint".
void task_windows(const TaskSubject& subject, Splits on, Finding& finding);

/// Of a stream, "no duplicates".
void task_passages(const TaskSubject& subject, Splits on, Finding& finding);

// task_reads.cpp
void task_repeatable(const TaskSubject& subject, Splits on, Finding& finding);
void task_alone(const TaskSubject& subject, Splits on, Finding& finding);
void task_threads(const TaskSubject& subject, Splits on, Finding& finding);

// task_digest.cpp, task_parameters.cpp, task_seeds.cpp, task_files.cpp
/// Why the files are not edited: they are copied for it, and loaded again after each edit.
std::string too_large_to_edit(const TaskSubject& subject, Splits on);
void task_digest(const TaskSubject& subject, Splits on, Finding& finding);
void task_digest_of_seed(const TaskSubject& subject, Splits on, Finding& finding);
void task_digest_of_files(const TaskSubject& subject, Splits on, Finding& finding);
void task_digest_of_parameters(const TaskSubject& subject, Splits on, Finding& finding);
void task_other_seed(const TaskSubject& subject, Splits on, Finding& finding);
void task_cache(const TaskSubject& subject, Splits on, Finding& finding);
void task_files(const TaskSubject& subject, Splits on, Finding& finding);
void task_files_opened(const TaskSubject& subject, Splits on, Finding& finding);

// task_splits.cpp
void task_disjoint(const TaskSubject& subject, Splits on, Finding& finding);
void task_duplicates(const TaskSubject& subject, Splits on, Finding& finding);

}  // namespace ablate
