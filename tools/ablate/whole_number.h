// Options that are whole numbers.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "core/util/whole_number.h"

namespace ablate {

/// Returns a check() for an option: only decimal digits, from `least` to `most`.
/// @param what name of the counted things, such as "trials at a time"
inline CLI::Validator whole_number(int least, int most, const std::string& what) {
  return {[=](const std::string& text) {
            const auto value = whole_number_of(text);
            return value && *value >= least && *value <= most
                       ? std::string()
                       : fmt::format("found {}, expected {}: a whole number from {} to {}", text, what, least, most);
          },
          ""};
}

}  // namespace ablate
