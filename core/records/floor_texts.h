// Texts that an audit stores with a floor, and by which a table recognises special floors. Torch-free.
#pragma once

namespace ablate {

/// Value of `how` for the floor of the largest class, if all targets of dev have the same class.
inline constexpr const char* kDevOfOneClass = "all of dev is of one class";

}  // namespace ablate
