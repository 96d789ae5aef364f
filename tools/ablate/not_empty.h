// Options whose absence means something.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ablate {

/// For an option's check(): an empty text, as a shell writes it for a variable that is not set, must not stand for all or for
/// the default.
inline CLI::Validator not_empty() {
  return {[](const std::string& text) {
            return text.empty() ? std::string("found an empty text; leave it out where all, or the default, is meant") : "";
          },
          ""};
}

}  // namespace ablate
