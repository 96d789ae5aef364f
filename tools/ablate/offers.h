// Which words an option takes, for the shells' completion: they stand where the option is declared, and nowhere else.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace ablate {

/// For an option's check(): refuses nothing, and carries words, without '|', in the validator's name. A word in capitals is
/// what an option's value would be called that takes the same: EXPERIMENT.
inline CLI::Validator offers(const std::vector<std::string>& words) {
  return {[](const std::string&) { return std::string(); }, "", fmt::format("offers|{}", fmt::join(words, "|"))};
}

/// Those that offers() gave it; none where it gave none.
inline std::vector<std::string> offered(CLI::Option& option) {
  std::vector<std::string> words;
  try {
    for (int i = 0;; ++i) {
      std::istringstream name(option.get_validator(i)->get_name());
      std::string word;
      if (!std::getline(name, word, '|') || word != "offers") continue;
      while (std::getline(name, word, '|')) words.push_back(word);
    }
  } catch (const CLI::OptionNotFound&) {  // there is no further validator
  }
  return words;
}

}  // namespace ablate
