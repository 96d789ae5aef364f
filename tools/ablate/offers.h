// Words that an option accepts, declared with the option and used by the shells' completion.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace ablate {

/// Returns a check() that refuses nothing and stores the words in the validator's name. No word may contain '|'. A word in
/// capitals is a type of words, such as EXPERIMENT.
inline CLI::Validator offers(const std::vector<std::string>& words) {
  return {[](const std::string&) { return std::string(); }, "", fmt::format("offers|{}", fmt::join(words, "|"))};
}

/// Returns the words that offers() stored, or none.
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
