// "did you mean": the nearest of some names to one that was not found.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ablate {

/// The candidate with the fewest edits (insert, delete, replace, swap neighbours) if they are at most a third of the longer of
/// the two: of four letters three are the same. "" where none is near.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

/// " (did you mean NAME?)", or " (known: A, B, C)" where nothing is near and there are at most 20, or "". Of candidates with
/// commas between: " (write them apart: A B)".
std::string hint(std::string_view name, std::span<const std::string> candidates);

}  // namespace ablate
