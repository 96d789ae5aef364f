// The texts of an SVG, which cairo draws as outlines, for readers that search or speak.
#pragma once

#include <string>
#include <vector>

#include "tools/plot/canvas.h"

namespace ablate {

/// The SVG with a title, and a description of all texts, a line each.
std::string with_texts(const std::string& svg, const std::string& title, const std::vector<PlacedText>& texts);

}  // namespace ablate
