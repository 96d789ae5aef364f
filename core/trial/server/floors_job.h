// What predictors of a few lines get on a task's test examples, as a job of ablate-checker.
#pragma once

#include "core/trial/server/jobs.h"

namespace ablate {

/// Of FloorsJob (core/shared/floors_job.h). Loads the data as a study does. Throws as audit_job does, and where a split has
/// no target.
extern const NamedHandler floors_job;

}  // namespace ablate
