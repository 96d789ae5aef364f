// Contents of a study's [grid.match]. A run reads them from the study, and a table reads them from the history.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace ablate {

struct StudyMatch {
  static constexpr const char *kParameters = "parameters", *kStateBytes = "state_bytes";

  std::string number;     ///< kParameters or kStateBytes
  std::string reference;  ///< setting whose number the other settings must match: "attention=softmax attention.heads=2"
  std::string width;      ///< path of the parameter that is solved for: "model.hidden"

  bool is_of_state() const { return number == kStateBytes; }
  /// Returns the name of the metric that measures `number`.
  const char* metric() const { return is_of_state() ? "memory/state" : "model/parameters"; }
  /// Returns the word for a sentence: "parameters".
  const char* text() const { return is_of_state() ? "state bytes" : "parameters"; }
};

/// Largest difference of a matched number from the reference's number, relative to the reference's number.
inline constexpr double kMatchedWithin = 0.02;

inline bool is_matched(std::int64_t number, std::int64_t of_reference) {
  return std::abs(static_cast<double>(number - of_reference)) <= kMatchedWithin * static_cast<double>(of_reference);
}

}  // namespace ablate
