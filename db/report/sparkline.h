// A curve in one line of text.
#pragma once

#include <span>
#include <string>

namespace ablate::db {

/// "▇▅▃▂▁": the values from left to right between their least and their greatest, in eight heights. More values than cells are
/// averaged in equal parts; where fewer, each has a cell. What is no finite number is left out; a cell that has nothing else is
/// "×". All values alike are in the middle.
/// @param cells at most so many characters; 0: "" @return "" without values
std::string sparkline(std::span<const double> values, std::size_t cells);

}  // namespace ablate::db
