// How often a test tries what falls otherwise each time: a few times in tools/test, very often in tools/test --soak.
#pragma once

#include <cstdlib>

/// @return usual, or `soaked` where the variable ABLATE_SOAK is set
inline int rounds(int usual, int soaked) { return std::getenv("ABLATE_SOAK") ? soaked : usual; }
