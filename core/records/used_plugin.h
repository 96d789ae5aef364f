// A plugin as an attempt used it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ablate {

/// Longest length that the suite has looked at, by place (place_name). The length of a missing place is not known.
using CheckedLengths = std::map<std::string, std::int64_t>;

/// The name of an attention's place.
inline const char* place_name(bool causal, bool has_state) {
  if (has_state) return causal ? "causal with a state" : "bidirectional with a state";
  return causal ? "causal" : "bidirectional";
}
/// The one place of a compression.
inline constexpr const char* kAnyPlace = "any";

/// Keeps the longer length of each place.
inline void add_lengths(CheckedLengths& to, const CheckedLengths& more) {
  for (const auto& [place, length] : more)
    if (auto& own = to[place]; own < length) own = length;
}

/// What the conformance suite has said of a plugin's code (docs/checks.md).
struct PluginVerdict {
  std::string verdict = "unchecked";  ///< "passed", "failed", or "unchecked": nobody has looked
  std::string failed_checks;          ///< "padding, gradient"; "" where none failed
  CheckedLengths lengths = {};
};

struct UsedPlugin {
  std::string kind, id, version, code_identity, content_hash, path;
  PluginVerdict verdict = {};  ///< as it was known when the attempt started
  std::string place = {};      ///< where it stood (place_name, kAnyPlace); "" of tasks, and where it is not known
  std::int64_t length = 0;     ///< positions of the longest sequence that it saw at once; 0: likewise

  /// Returns the length up to which it was checked in its place; 0 if that is not known.
  std::int64_t checked_length() const {
    const auto at = verdict.lengths.find(place);
    return at == verdict.lengths.end() ? 0 : at->second;
  }
};

}  // namespace ablate
