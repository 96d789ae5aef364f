// Options whose absence has a meaning, which an empty value must not replace.
#pragma once

#include <CLI/CLI.hpp>

#include "core/util/plain_text.h"

namespace ablate {

/// Returns empty_refusal for an option's check().
inline CLI::Validator not_empty() { return {empty_refusal, ""}; }

}  // namespace ablate
