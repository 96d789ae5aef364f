// Everything about one attempt.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/history/reader.h"

namespace ablate::db {

/// Everything on one attempt: {attempt: its number, key, experiments: [{name, file, overrides, latest_grid}], outcome, reason,
/// signal, exit_code, started_us, wall_s, step, steps, cpu_s, peak_resident_bytes (null: not known), parameters: {path: value},
/// results: [{metric, value, unit, direction}], curves: {metric: [[step, value], ...]}, plugins: [{kind, id, version,
/// code_identity, content_hash, path, verdict, failed_checks: as the suite's were known when it started}], environment, output
/// (its end), files: [{kind (output, weights, checkpoints), file, bytes, of_bytes (that there were), is_there, removed_us or
/// null}], resumed: {step: after which it went on, attempt: whose checkpoint that was, null where that one was not recorded,
/// processor: of another kind that it was written on, or null (of versions before environments were recorded), environments: in
/// which steps before were computed, as core/records/environment_parts.h has differences}, or null, attempts: [{attempt,
/// outcome}] all attempts at the trial, repeat: the command that runs it again, with the study and overrides of its
/// experiment's latest run and the folders of its plugins, repeat_note: why that would not repeat this attempt, or ""}. A value
/// that is no number is null. Of an environment that is no JSON object there is {"damaged": what it is}.
/// @param name its number, or the first digits of a trial's key: then the trial's latest attempt that is done, else its
/// latest. Throws Error: no such attempt, or several trials begin so.
/// @param default_folders where `ablate run` looks for plugins without being told
/// @param code_in the identity of the code that a library's file holds today; "" where that is not known
nlohmann::ordered_json show_attempt(const Reader& reader, const std::string& name,
                                    const std::vector<std::filesystem::path>& default_folders = {},
                                    const std::function<std::string(const std::string& path)>& code_in = {});

struct FoundAttempt {
  std::int64_t attempt = 0, trial = 0;
  bool by_key = false;  ///< it was named by its trial's key, so another attempt at the trial will do
};

/// @param name a number, or the first digits of a trial's key: its latest attempt that is done, else its latest. Throws Error:
/// no such attempt, or several trials begin so.
FoundAttempt find_attempt(const Reader& reader, const std::string& name);

}  // namespace ablate::db
