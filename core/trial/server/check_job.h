// The conformance suite as a job of ablate-checker.
#pragma once

#include "core/trial/server/jobs.h"

namespace ablate {

/// Of CheckJob. A task that cannot be made here, in its own words, as where its data are missing, is one check "data",
/// unchecked. Throws where a library cannot be loaded, or is not what its hash says.
extern const NamedHandler check_job;

}  // namespace ablate
