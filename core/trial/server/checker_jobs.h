// Jobs that ablate-checker has beside the jobs of a study, and their common functions.
#pragma once

#include <memory>
#include <string>

#include "core/trial/conformance/engine/check.h"
#include "core/trial/server/jobs.h"

namespace ablate {

/// CheckJob: the conformance suite. If a task cannot be made here, for example without its data, the check "data" is unchecked
/// and has the task's message. Throws if a library cannot be loaded or has another hash.
extern const NamedHandler check_job;

/// AuditJob: the audit, which examines a task's data without a model. Loads the data as a study does. Throws if the library or
/// the data cannot be loaded, or if the data have another digest.
extern const NamedHandler audit_job;

/// FloorsJob: scores simple predictors on a task's test examples. Throws if audit_job would throw, or if a split has no target.
extern const NamedHandler floors_job;

/// Returns a Checks object that reports each check to the host before it starts and after it ends. `say` must outlive it.
Checks checks_that(const Say& say);

/// Returns a task with its data, loaded as a study does. Torch computes with one thread from now on. Throws Error if the
/// library has other code, or if the data cannot be loaded or have another digest.
std::unique_ptr<Task> audited_data(LoadedParts& loaded, const Libraries& libraries, const PluginSpec& section,
                                   const std::string& digest);

}  // namespace ablate
