// What a PNG says of itself beside its dots.
#pragma once

#include <string>

namespace ablate {

/// The PNG with its resolution (pHYs), so that a paper shows it in its size, who wrote it and what it is (tEXt Software and
/// iTXt Title; PNG specification, third edition, section 11.3).
std::string with_chunks(const std::string& png, double dots_per_inch, const std::string& software, const std::string& title);

}  // namespace ablate
