// What a task's data tell without a model, as a job of ablate-checker.
#pragma once

#include "core/trial/server/jobs.h"

namespace ablate {

/// Loads the data as a study does. Throws where the library cannot be loaded, the data cannot, or they are not those of
/// the digest.
void run_audit_job(LoadedParts& loaded, const AuditJob& job, const Say& say);

}  // namespace ablate
