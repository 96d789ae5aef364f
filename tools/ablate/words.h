// Looks through the words of a command line before CLI11 does: which name nothing, and what is nearest to them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ablate {

/// Throws Error where the first word that should be a command is none, where an option is none of its command's and none that
/// may stand anywhere, or where an option's value is another option, or empty. CLI11 would name the word alone, or miss the
/// command, or answer --help, or take the other option for a file's name and go on without it. For a study's value without its
/// --set
/// (--steps 3, train.steps=3) the error says so.
void check_words(const CLI::App& app, const std::vector<std::string>& words);

/// Throws Error with the nearest name where there is no such command.
void expect_command(const CLI::App& app, const std::string& name);

}  // namespace ablate
