// What a study's [grid.match] asks for: told by the study, and asked of the history by tables.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace ablate {

struct StudyMatch {
  static constexpr const char *kParameters = "parameters", *kStateBytes = "state_bytes";

  std::string number;     ///< kParameters or kStateBytes
  std::string reference;  ///< whose number the others are to have: "attention=softmax attention.heads=2"
  std::string width;      ///< the path of what is solved for: "model.hidden"

  bool is_of_state() const { return number == kStateBytes; }
  /// The metric that has it.
  const char* metric() const { return is_of_state() ? "memory/state" : "model/parameters"; }
  /// In a sentence: "parameters".
  const char* text() const { return is_of_state() ? "state bytes" : "parameters"; }
};

/// A number is matched that is so far from the reference's at most, of the reference's.
inline constexpr double kMatchedWithin = 0.02;

inline bool is_matched(std::int64_t number, std::int64_t of_reference) {
  return std::abs(static_cast<double>(number - of_reference)) <= kMatchedWithin * static_cast<double>(of_reference);
}

}  // namespace ablate
