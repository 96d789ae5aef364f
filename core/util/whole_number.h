// Whole numbers in text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace ablate {

/// Parses decimal digits; nullopt for any other text, also for a sign or a blank, and for numbers beyond an int.
inline std::optional<int> whole_number_of(std::string_view text) {
  int number = -1;
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && number >= 0 && text.front() != '-' ? std::optional(number) : std::nullopt;
}

}  // namespace ablate
