// Texts for verdicts of the conformance suite.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/shared/verdict_memory.h"
#include "tools/ablate/commands.h"

namespace ablate {

/// "checked", "FAILED" or "unchecked".
const char* verdict_word(const StoredVerdict& verdict);

/// Returns "all passed (2026-11-22), without timing; longest checked lengths: 2,113 causal; unchecked: cuda", or
/// "FAILED: padding, gradient (2026-11-22)", or "never", with the command that checks the plugin.
std::string verdict_line(const PluginInfo& info, const StoredVerdict& verdict, const Options& options);

/// Returns {"verdict", "failed": [names], "unchecked": [names], "timed", "checked_s", "lengths": {place: tokens}}, or only the
/// verdict if the plugin was never checked.
nlohmann::json to_json(const StoredVerdict& verdict);

/// Warns on stderr, in at most one line each, about plugins that failed their checks and plugins that were never checked.
void warn_of_verdicts(const std::vector<PluginInfo>& used, const Options& options);

}  // namespace ablate
