// Checks that tell the host of each before it starts, and after it.
#pragma once

#include "core/trial/conformance/check.h"
#include "core/trial/server/server.h"

namespace ablate {

/// @param say outlives them
Checks checks_that(const Say& say);

}  // namespace ablate
