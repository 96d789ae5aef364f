// What is known today of the code that attempts ran with.
#pragma once

#include <optional>

#include "db/history/reader.h"

namespace ablate {

/// From the user's cache, else what the history was told by this suite's version; nothing where neither knows that code.
std::optional<db::PluginVerdict> verdict_today(const db::Reader& history, const db::UsedPlugin& plugin);

}  // namespace ablate
