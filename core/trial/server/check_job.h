// The conformance suite as a job of the worker.
#pragma once

#include "core/trial/server/server.h"

namespace ablate {

/// spec: {"library": path, "compressions": [paths], "parameters": {name: value}, "scratch": folder, "timed": bool};
/// compressions are partners for an attention that takes one. Says {"begin": name, "on": ...} before a check and {"check":
/// name, "on": ..., "passed": ..., "found": ..., "error": ..., "tolerance": ...} after it (an error without a number is null),
/// or {"check": name, "on": ..., "skipped": reason} for one that cannot run here, so that whoever listens knows which check did
/// not come to its end. Throws where the plugin cannot be loaded, or a parameter is wrong.
void run_check_job(const nlohmann::json& spec, const Say& say);

}  // namespace ablate
