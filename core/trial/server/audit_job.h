// What a task's data tell without a model, as a job of ablate-checker.
#pragma once

#include "core/trial/server/jobs.h"

namespace ablate {

/// Of AuditJob. Loads the data as a study does. Throws where the library cannot be loaded, the data cannot, or they are not
/// those of the digest.
extern const NamedHandler audit_job;

}  // namespace ablate
