// Compression rates as people write them: "1/8", 0.125.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ablate/rate.h"

namespace ablate {

/// "1/8", "1", "0.125" -> a fraction in lowest terms; nothing where the text is no number in (0, 1].
std::optional<Rate> parse_rate(std::string_view text);

/// The fraction of the smallest denominator up to 1,000,000 that is the decimal as written: 0.125 -> 1/8, 0.3 -> 3/10.
std::optional<Rate> rate_from(double value);

/// "1/8"; "1" for the whole.
std::string to_text(Rate rate);

}  // namespace ablate
