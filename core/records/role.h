// Roles of trials in a study's grid. The history stores them by name.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace ablate {

/// kReported: tables show the trial. kTuning: the trial compares values on the seeds of [grid.tune]. kLonger: the trial repeats
/// a reported trial with more steps ([grid.longer]).
enum class Role { kReported, kTuning, kLonger };

inline constexpr std::array<std::string_view, 3> kRoles = {"reported", "tuning", "longer"};

constexpr std::string_view to_text(Role role) { return kRoles[static_cast<std::size_t>(role)]; }

/// Returns nullopt for an unknown name.
inline std::optional<Role> find_role(std::string_view name) {
  const auto found = std::find(kRoles.begin(), kRoles.end(), name);
  return found == kRoles.end() ? std::nullopt : std::optional(static_cast<Role>(found - kRoles.begin()));
}

}  // namespace ablate
