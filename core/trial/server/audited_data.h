// The data that a job of the checker looks at.
#pragma once

#include <memory>
#include <string>

#include "core/trial/server/jobs.h"

namespace ablate {

/// A task with its data, loaded as a study does. Torch computes with one thread from here on. Throws Error where the library is
/// of other code, the data cannot be loaded, or they are not those of the digest.
std::unique_ptr<Task> audited_data(LoadedParts& loaded, const Libraries& libraries, const PluginSpec& section,
                                   const std::string& digest);

}  // namespace ablate
