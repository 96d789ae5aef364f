// A plugin as an attempt used it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ablate {

/// Longest sequence length that the suite checked, by place (place_name). A place without an entry has no known length.
using CheckedLengths = std::map<std::string, std::int64_t>;

/// Returns the name of an attention's place.
inline const char* place_name(bool causal, bool has_state) {
  if (has_state) return causal ? "causal with a state" : "bidirectional with a state";
  return causal ? "causal" : "bidirectional";
}
/// The only place of a compression.
inline constexpr const char* kAnyPlace = "any";

/// Keeps the longer length of each place.
inline void add_lengths(CheckedLengths& to, const CheckedLengths& more) {
  for (const auto& [place, length] : more)
    if (auto& own = to[place]; own < length) own = length;
}

/// Verdict of the conformance suite on a plugin's code (docs/checks.md).
struct PluginVerdict {
  std::string verdict = "unchecked";  ///< "passed", "failed", or "unchecked" if the suite did not run
  std::string failed_checks;          ///< "padding, gradient"; "" if none failed
  CheckedLengths lengths = {};
};

struct UsedPlugin {
  std::string kind, id, version, code_identity, content_hash, path;
  PluginVerdict verdict = {};  ///< verdict at the start of the attempt
  std::string place = {};      ///< the plugin's place in the model (place_name, kAnyPlace); "" for tasks, or if unknown
  std::int64_t length = 0;     ///< positions of the longest sequence that it processed at once; 0 for tasks, or if unknown

  /// Returns the longest length that was checked in the plugin's place, or 0 if that is not known.
  std::int64_t checked_length() const {
    const auto at = verdict.lengths.find(place);
    return at == verdict.lengths.end() ? 0 : at->second;
  }
};

}  // namespace ablate
