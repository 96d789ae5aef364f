// Commands on a page of docs, for tests that run them.
#pragma once

#include <string>

#include "tests/support/temporary.h"

/// Returns the text between "```sh WORD" and "```".
inline std::string commands_in(const std::string& page, const std::string& word) {
  const auto text = read_text(page);
  const std::string begin = "```sh " + word + "\n";
  const auto from = text.find(begin);
  if (from == std::string::npos) return "echo no commands in " + page + "; exit 9";
  return text.substr(from + begin.size(), text.find("```", from + 3) - from - begin.size());
}
