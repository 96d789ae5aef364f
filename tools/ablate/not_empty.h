// Options whose absence has a meaning.
#pragma once

#include <CLI/CLI.hpp>

#include "core/util/plain_text.h"

namespace ablate {

/// For an option's check(): empty_refusal.
inline CLI::Validator not_empty() { return {empty_refusal, ""}; }

}  // namespace ablate
