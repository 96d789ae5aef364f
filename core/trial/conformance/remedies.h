// What a finding tells the plugin's author to do.
#pragma once

namespace ablate::conformance {

/// Behind a token that changes nothing, which may be what the method means.
inline constexpr const char* kWhereSparse =
    "; where that is the method, declare it: .sparse among its capabilities, .promises where it depends on parameters, or an "
    "exemption (ablate/plugin.h)";

/// Behind a slot that is complete earlier or later than it says.
inline constexpr const char* kWhereLast =
    "; correct Memory::last, or do not promise causal_reads with these parameters (.promises in ablate/plugin.h)";

}  // namespace ablate::conformance
