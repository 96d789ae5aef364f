#include "tools/ablate/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "core/util/error.h"
#include "core/util/nearest.h"

namespace ablate {
namespace {

/// Not a number below 0.
bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::isdigit(static_cast<unsigned char>(word[1])) == 0 && word[1] != '.';
}

/// --db of --db=FILE, -j of -j4.
std::string name_of(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

void add_names(const CLI::App& app, std::vector<std::string>& names) {
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    for (const auto& name : option->get_snames()) names.push_back("-" + name);
  }
}

/// An option that has no place before the command, but after some.
std::string commands_with(const CLI::App& app, const std::string& name) {
  std::vector<std::string> all;
  for (const auto* command : app.get_subcommands({}))
    if (command->get_option_no_throw(name) != nullptr) all.push_back(command->get_name());
  return fmt::format("{}", fmt::join(all, ", "));
}

/// @param command nullptr: before it
const CLI::Option& option_of(const CLI::App& app, const CLI::App* command, const std::string& name) {
  if (command != nullptr)
    if (const auto* option = command->get_option_no_throw(name); option != nullptr) return *option;
  if (const auto* option = app.get_option_no_throw(name); option != nullptr) return *option;
  const auto of = command == nullptr ? "" : " of " + command->get_name();
  if (name == "--json" && command != nullptr && command->get_option_no_throw("--format") != nullptr)
    throw Error(fmt::format("no option --json{}; write --format json", of));
  if (const auto commands = commands_with(app, name); command == nullptr && !commands.empty())
    throw Error(fmt::format("option {} stands before the command; it goes after one of: {}", name, commands));
  std::vector<std::string> known;
  if (command != nullptr) add_names(*command, known);
  add_names(app, known);
  const auto near = nearest(name, known);
  throw Error(fmt::format("no option {}{}{}; `ablate {}` lists them", name, of,
                          near.empty() ? "" : " (did you mean " + near + "?)",
                          command == nullptr ? "help" : "help " + command->get_name()));
}

}  // namespace

void expect_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string> commands;
  for (const auto* command : app.get_subcommands({})) commands.push_back(command->get_name());
  if (std::find(commands.begin(), commands.end(), name) != commands.end()) return;
  if (name == "runs") throw Error("no command \"runs\" (it is called attempts now)");
  throw Error(fmt::format("no command \"{}\"{}", name, hint(name, commands)));
}

void check_words(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = nullptr;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const auto& word = words[i];
    if (is_option(word)) {
      const auto name = name_of(word);
      const auto& option = option_of(app, command, name);
      if (option.get_items_expected_max() > 0 && word == name) ++i;  // --db FILE
    } else if (command == nullptr) {
      expect_command(app, word);
      command = app.get_subcommand(word);
    }
  }
}

}  // namespace ablate
