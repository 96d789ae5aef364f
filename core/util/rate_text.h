// Compression rates as text: "1/8", 0.125.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ablate/rate.h"

namespace ablate {

/// Parses "1/8", "1", "0.125" to a fraction in lowest terms; nullopt if the text is no number in (0, 1].
std::optional<Rate> parse_rate(std::string_view text);

/// Returns the fraction with the smallest denominator up to 1,000,000 that equals the decimal: 0.125 -> 1/8, 0.3 -> 3/10.
std::optional<Rate> rate_from(double value);

/// Returns "1/8"; "1" for a rate of 1.
std::string to_text(Rate rate);

}  // namespace ablate
