// How deeply a TOML text nests: asked before it is parsed, because the parser and the tree's destructor recurse.
#pragma once

#include <optional>
#include <string_view>

#include "core/host/study/study.h"

namespace ablate {

inline constexpr int kMostLevels = 64;

/// Where (in no file; columns count characters) brackets, braces and the parts of dotted keys together are more than
/// kMostLevels deep; nothing where they nowhere are. Knows strings and comments; of a text that is no TOML it may say either,
/// but never misses what a parser would go into.
std::optional<Location> nested_too_deeply(std::string_view toml);

}  // namespace ablate
