// The shells' completion: `ablate completion SHELL` prints a script, which calls `ablate complete -- WORDS...` at each Tab.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ablate {

void add_completion(CLI::App& app, int& exit_code);

/// True if the words are a request of a completion script. Such a request is no command, because the help would list it.
bool is_question(const std::vector<std::string>& words);

/// Prints the answer, a line for each word: "WORD TAB description", or ":file", ":folder" or ":toml" if files complete the
/// word. Reads the history and earlier scans of plugins. Starts no process and writes nothing. Prints no error message.
/// @param words accepted by is_question(). The last word is to be completed, and may be empty.
void answer_question(CLI::App& app, const std::vector<std::string>& words);

}  // namespace ablate
