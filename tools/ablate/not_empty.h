// Options whose absence has a meaning.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ablate {

/// For an option's check(): refuses an empty text, which a shell writes for a variable that is not set, and which must not mean
/// "all" or the default.
inline CLI::Validator not_empty() {
  return {[](const std::string& text) {
            return text.empty()
                       ? std::string("found an empty text, as of a variable that is not set; name one, or leave it out")
                       : "";
          },
          ""};
}

}  // namespace ablate
