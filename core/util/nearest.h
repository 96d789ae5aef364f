// "did you mean": finds the name nearest to an unknown name.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ablate {

/// Returns the candidate with the fewest edits (insert, delete, replace, swap neighbours), if there are few: at most a third of
/// the longer name's length, for example one edit in four letters. "" if no candidate is near.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

/// Returns " (did you mean NAME?)", or " (known: A, B, C)" if no candidate is near and there are at most 20, or "". For a name
/// of several candidates with commas between: " (write them apart: A B)".
std::string hint(std::string_view name, std::span<const std::string> candidates);

}  // namespace ablate
