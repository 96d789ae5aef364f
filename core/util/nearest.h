// "did you mean": finds the name nearest to an unknown name.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ablate {

/// Returns the candidate with the fewest edits (insert, delete, replace, swap neighbours); "" if no candidate is near. Near
/// means: edits are at most a third of the longer name's letters (two of six letters), or `name` is the candidate's last part.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

/// Returns " (did you mean NAME?)". If no candidate is near, returns " (known: A, B, C)" for at most 20 candidates, else "".
/// Returns " (write them apart: A B)" if the name is several candidates joined by commas.
std::string hint(std::string_view name, std::span<const std::string> candidates);

}  // namespace ablate
