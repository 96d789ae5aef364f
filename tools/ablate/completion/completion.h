// The shells' completion: `ablate completion SHELL` prints a script, which asks `ablate complete -- WORDS...` at each Tab.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ablate {

void add_completion(CLI::App& app, int& exit_code);

/// Whether the words are what a script asks. Not a command, which people would see in the help.
bool is_question(const std::vector<std::string>& words);

/// Prints the answer: "WORD TAB what it is" a line; ":file", ":folder" or ":toml" where files complete the word. Reads what the
/// history and earlier scans of plugins hold, and starts and writes nothing. What fails completes nothing.
/// @param words as is_question has found them; the last is to be completed, and may be empty
void answer_question(CLI::App& app, const std::vector<std::string>& words);

}  // namespace ablate
