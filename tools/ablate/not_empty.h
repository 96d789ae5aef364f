// Refuses empty values of options, because an empty value must not mean the same as an absent option.
#pragma once

#include <CLI/CLI.hpp>

#include "core/util/plain_text.h"

namespace ablate {

/// Returns a check() that refuses what empty_refusal refuses.
inline CLI::Validator not_empty() { return {empty_refusal, ""}; }

}  // namespace ablate
