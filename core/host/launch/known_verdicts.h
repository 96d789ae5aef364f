// The user's verdicts, for a history, which takes them to other machines.
#pragma once

#include <vector>

#include "core/registry/plugin_info.h"
#include "db/types/records.h"

namespace ablate {

/// Of those plugins that have one.
std::vector<db::KnownVerdict> known_verdicts(const std::vector<PluginInfo>& plugins);

}  // namespace ablate
