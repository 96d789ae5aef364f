// Texts that an audit stores with a floor, and that a table looks for. Torch-free.
#pragma once

namespace ablate {

/// `how` of the largest class if all targets of dev are of one class.
inline constexpr const char* kDevOfOneClass = "all of dev is of one class";

}  // namespace ablate
