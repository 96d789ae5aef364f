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

/// Returns everything about one attempt as JSON. Unknown values, and values that are not numbers, are null.
///   attempt (its number), key, experiments: [{name, file, overrides, latest_grid}], outcome, reason, signal, exit_code,
///     started_us, wall_s, step, steps, cpu_s, peak_resident_bytes, parameters: {path: value}
///   results: [{metric, value, unit, direction}], main_metric (the metric that judges the trial, or null)
///   curves: {metric: [[step, value], ...]}
///   plugins: [{kind, id, version, code_identity, content_hash, path, verdict, failed_checks}]; verdict at the attempt's start
///   environment; {"damaged": its text} if it is no JSON object. output: end of the printed text
///   files: [{kind (output, weights, checkpoints), file, bytes, of_bytes (original size), is_there, removed_us or null}]
///   resumed: null, or {step and attempt (null: not recorded) of the checkpoint, environments of earlier steps as differences
///     (core/records/environment_parts.h), processor (only from old versions: the checkpoint's processor, if it differs)}
///   attempts: [{attempt, outcome}] at the trial, unlike: [UnlikeAttempts::text], repeat: command that runs the trial again as
///     in its experiment's latest run (study, overrides, plugin folders), repeat_note: "", or why its result may differ
/// Throws Error if there is no such attempt, or if several trials' keys match.
/// @param name number of an attempt, or first digits of a trial's key (find_attempt)
/// @param default_folders folders in which `ablate run` finds plugins by default
/// @param code_in returns the code identity of a library's file today; "" if it is not known
nlohmann::ordered_json show_attempt(const Reader& reader, const std::string& name,
                                    const std::vector<std::filesystem::path>& default_folders = {},
                                    const std::function<std::string(const std::string& path)>& code_in = {});

struct FoundAttempt {
  std::int64_t attempt = 0, trial = 0;
  bool by_key = false;  ///< true if `name` is a trial's key, so that the caller may use another attempt at the trial
};

/// Finds an attempt by its number, or by the first digits of a trial's key: the latest done attempt, else the latest attempt.
/// Throws Error if there is no such attempt, or if several trials' keys match.
FoundAttempt find_attempt(const Reader& reader, const std::string& name);

}  // namespace ablate::db
