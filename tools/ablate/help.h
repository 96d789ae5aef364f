// Help for a terminal: `ablate --help`, `ablate help`, `ablate help COMMAND`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ablate {

/// Formats CLI11's help in lines of at most 100 columns. Lines that begin with a blank, as examples do, stay unchanged.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_footer(const CLI::App* app) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  /// Returns the text between an option's name and its help: only its values, without CLI11's notation for rules.
  std::string make_option_opts(const CLI::Option* option) const override;
};

/// Lists all commands, with the options that are valid before or after any command.
std::string overview(const CLI::App& app);

/// Adds `ablate help [COMMAND]`. Its callback throws Error for an unknown command.
void add_help(CLI::App& app);

}  // namespace ablate
