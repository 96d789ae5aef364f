// Checks the words of a command line before CLI11 does: finds unknown words and suggests the nearest names.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ablate {

/// Throws Error if the first word is no command, if an option belongs neither to the command nor to ablate, if an option's
/// value is another option or empty, or if a word follows a command's last argument. If a word is a study's value without
/// --set (--steps 3, train.steps=3), the error suggests --set. CLI11 alone would only name the word, report a missing command,
/// print the help for --help, or use the other option as a file's name.
void check_words(const CLI::App& app, const std::vector<std::string>& words);

/// Throws Error with the nearest name for an unknown command.
void expect_command(const CLI::App& app, const std::string& name);

}  // namespace ablate
