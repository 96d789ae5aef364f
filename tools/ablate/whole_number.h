// Options that are whole numbers.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

namespace ablate {

/// For an option's check(): decimal digits alone, from `least` to `most`. @param what is counted, as "trials at a time"
inline CLI::Validator whole_number(int least, int most, const std::string& what) {
  return {[=](const std::string& text) {
            const bool digits = !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
            const int value = digits ? std::stoi(text) : -1;
            return digits && value >= least && value <= most
                       ? std::string()
                       : fmt::format("found {}, expected {}: a whole number from {} to {}", text, what, least, most);
          },
          ""};
}

}  // namespace ablate
