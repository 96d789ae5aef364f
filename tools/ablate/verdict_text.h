// Verdicts of the conformance suite in the commands' words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/shared/verdict_memory.h"
#include "tools/ablate/commands.h"

namespace ablate {

/// "checked", "FAILED" or "unchecked".
const char* verdict_word(const StoredVerdict& verdict);

/// "all passed (2026-11-22), without timing; longest lengths looked at: 2,113 causal; unchecked there: cuda", "FAILED: padding,
/// gradient (2026-11-22)", or the remedy.
std::string verdict_line(const PluginInfo& info, const StoredVerdict& verdict, const Options& options);

/// {"verdict", "failed": [names], "unchecked": [names], "timed", "checked_s", "lengths": {place: tokens}}; the verdict alone
/// where nobody has checked.
nlohmann::json to_json(const StoredVerdict& verdict);

/// Says on stderr, at most a line each, which plugins failed their checks, and which were never checked.
void warn_of_verdicts(const std::vector<PluginInfo>& used, const Options& options);

}  // namespace ablate
