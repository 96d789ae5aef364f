// The conformance suite as a job of the worker.
#pragma once

#include "core/trial/server/server.h"

namespace ablate {

/// spec: {"library": path, "parts": [paths], "parameters": {name: value}, "scratch": folder, "timed": bool}; parts are libraries
/// that parameters which are plugins are tried with (Examinee::parts). Says {"begin": name, "on": ...} before a check and
/// {"check": name, "on": ..., "passed": ..., "found": ..., "error": ..., "tolerance": ...} after it (an error without a number is
/// null), or {"check": name, "on": ..., "skipped": reason} for one that cannot run here, so that whoever listens knows which
/// check did not come to its end. Throws where a library cannot be loaded.
void run_check_job(const nlohmann::json& spec, const Say& say);

}  // namespace ablate
