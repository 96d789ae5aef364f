// Rounds of a random test: a few in tools/test, very many in tools/test --soak.
#pragma once

#include <cstdlib>

/// @return `soaked` if the variable ABLATE_SOAK is set, else `usual`
inline int rounds(int usual, int soaked) { return std::getenv("ABLATE_SOAK") ? soaked : usual; }
