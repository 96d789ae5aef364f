// The jobs of ablate-checker beside those of a study, and what they share.
#pragma once

#include <memory>
#include <string>

#include "core/trial/conformance/engine/check.h"
#include "core/trial/server/jobs.h"

namespace ablate {

/// CheckJob: the conformance suite. A task that cannot be made here, in its own words, as where its data are missing, is one
/// check "data", unchecked. Throws where a library cannot be loaded, or is not what its hash says.
extern const NamedHandler check_job;

/// AuditJob: what a task's data tell without a model. Loads the data as a study does. Throws where the library cannot be
/// loaded, the data cannot, or they are not those of the digest.
extern const NamedHandler audit_job;

/// FloorsJob: what predictors of a few lines get on a task's test examples. Throws as audit_job does, and where a split has no
/// target.
extern const NamedHandler floors_job;

/// Checks that tell the host of each before it starts, and after it. @param say outlives them
Checks checks_that(const Say& say);

/// A task with its data, loaded as a study does. Torch computes with one thread from here on. Throws Error where the library is
/// of other code, the data cannot be loaded, or they are not those of the digest.
std::unique_ptr<Task> audited_data(LoadedParts& loaded, const Libraries& libraries, const PluginSpec& section,
                                   const std::string& digest);

}  // namespace ablate
