// What is known today of the code that attempts ran with.
#pragma once

#include <optional>

#include "db/types/records.h"

namespace ablate {

/// From the user's cache; nothing where that code was never checked.
std::optional<db::PluginVerdict> verdict_today(const db::UsedPlugin& plugin);

}  // namespace ablate
