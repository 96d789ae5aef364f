// Today's verdict on the code that attempts ran with.
#pragma once

#include <optional>

#include "db/history/reader.h"

namespace ablate {

/// The verdict in the user's cache, else what this suite's version told the history; nothing where neither knows that code.
std::optional<PluginVerdict> verdict_today(const db::Reader& history, const UsedPlugin& plugin);

}  // namespace ablate
