// The user's verdicts, in a form that a history can carry to other machines.
#pragma once

#include <vector>

#include "core/registry/plugin_info.h"
#include "db/types/records.h"

namespace ablate {

/// Returns the plugins' verdicts. Plugins without a verdict are left out.
std::vector<db::KnownVerdict> known_verdicts(const std::vector<PluginInfo>& plugins);

}  // namespace ablate
