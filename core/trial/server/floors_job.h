// What predictors of a few lines get on a task's test examples, as a job of ablate-checker.
#pragma once

#include "core/shared/floors_job.h"
#include "core/trial/server/jobs.h"

namespace ablate {

/// Loads the data as a study does. Throws as run_audit_job does, and where a split has no target.
FoundFloors run_floors_job(LoadedParts& loaded, const FloorsJob& job);

}  // namespace ablate
