// Help for a terminal: `ablate --help`, `ablate help`, `ablate help COMMAND`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ablate {

/// CLI11's help in lines of at most 100 columns. Lines that begin with a blank, as examples do, stay as they are.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_footer(const CLI::App* app) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  /// The text between an option's name and its help: its values alone, without CLI11's notation for rules.
  std::string make_option_opts(const CLI::Option* option) const override;
};

/// All commands, with the options that stand before or after any of them.
std::string overview(const CLI::App& app);

/// `ablate help [COMMAND]`. Its callback throws Error where there is no such command.
void add_help(CLI::App& app);

}  // namespace ablate
