// Options whose absence has a meaning. An empty value must not have that meaning.
#pragma once

#include <CLI/CLI.hpp>

#include "core/util/plain_text.h"

namespace ablate {

/// Returns empty_refusal for an option's check().
inline CLI::Validator not_empty() { return {empty_refusal, ""}; }

}  // namespace ablate
