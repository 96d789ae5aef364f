#include "tools/ablate/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "core/records/setting_paths.h"
#include "core/shared/sections.h"
#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/shell_word.h"

namespace ablate {
namespace {

/// True for an option; false for a negative number.
bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::isdigit(static_cast<unsigned char>(word[1])) == 0 && word[1] != '.';
}

/// Returns "--db" for --db=FILE, and "-j" for -j4.
std::string name_of(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

void add_names(const CLI::App& app, std::vector<std::string>& names) {
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    for (const auto& name : option->get_snames()) names.push_back("-" + name);
  }
}

/// Returns the commands that have an option, for an option that was found before the command.
std::string commands_with(const CLI::App& app, const std::string& name) {
  std::vector<std::string> all;
  for (const auto* command : app.get_subcommands({}))
    if (command->get_option_no_throw(name) != nullptr) all.push_back(command->get_name());
  return fmt::format("{}", fmt::join(all, ", "));
}

/// True if a command changes values by --set PATH=VALUE; `ablate check` uses a plugin's NAME=VALUE instead.
bool sets_paths(const CLI::App* command) {
  const auto* set = command == nullptr ? nullptr : command->get_option_no_throw("--set");
  return set != nullptr && set->get_type_name() == "PATH=VALUE";
}

/// Returns "train.steps" for --steps or --train.steps; "" if the option names no value that every study has.
std::string study_path(const std::string& option) {
  auto name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  std::replace(name.begin(), name.end(), '-', '_');
  if (name == setting::kSeed || name == "seeds") return "seeds";
  for (const auto& [section, parameters] : {std::pair("train", train_parameters()), std::pair("model", model_parameters())})
    for (const auto& parameter : parameters)
      if (auto path = fmt::format("{}.{}", section, parameter.name); name == parameter.name || name == path) return path;
  return "";
}

/// Throws Error for a value without its --set, which would be read as the name of a file or a plugin.
void refuse_lone_value(const CLI::App& command, const std::string& word) {
  std::error_code none;
  const auto name = word.substr(0, word.find('='));
  if (command.get_option_no_throw("--set") == nullptr || name.size() == word.size() || name.empty()) return;
  const bool is_path = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
  if (is_path && !std::filesystem::exists(word, none))
    throw Error(fmt::format("{}: expected --set before a value: write --set {}", word, shell_word(word)));
}

/// Returns an option of the command or of ablate itself. Throws Error with a remedy for an unknown option.
/// @param command nullptr: the option is before the command
const CLI::Option& option_of(const CLI::App& app, const CLI::App* command, const std::string& name) {
  if (command != nullptr)
    if (const auto* option = command->get_option_no_throw(name); option != nullptr) return *option;
  if (const auto* option = app.get_option_no_throw(name); option != nullptr) return *option;
  const auto of = command == nullptr ? "" : " of " + command->get_name();
  if (name == "--json" && command != nullptr && command->get_option_no_throw("--format") != nullptr)
    throw Error(fmt::format("no option --json{}; write --format json", of));
  if (const auto commands = commands_with(app, name); command == nullptr && !commands.empty())
    throw Error(fmt::format("found option {} before the command, expected it after one of: {}", name, commands));
  if (const auto path = sets_paths(command) ? study_path(name) : ""; !path.empty())
    throw Error(fmt::format("no option {}{}; --set {}=VALUE sets this value of the study", name, of, path));
  std::vector<std::string> known;
  if (command != nullptr) add_names(*command, known);
  add_names(app, known);
  auto near = nearest(name, known);
  if (near.empty() && command == nullptr) {
    for (const auto* each : app.get_subcommands({})) add_names(*each, known);
    near = nearest(name, known);
    if (!near.empty())
      throw Error(
          fmt::format("no option {} (did you mean {}? It goes after one of: {})", name, near, commands_with(app, near)));
  }
  throw Error(fmt::format("no option {}{}{}; `ablate {}` lists them", name, of,
                          near.empty() ? "" : " (did you mean " + near + "?)",
                          command == nullptr ? "help" : "help " + command->get_name()));
}

/// Throws Error if an option's value is empty (--db=), or missing before another option, which would become the value. If a
/// file's name is expected, a word that begins with '-' is more likely an option after a forgotten value.
/// @param word "--db" or "--db=FILE"
/// @param next the next word, or nullptr
void check_value(const CLI::Option& option, const std::string& word, const std::string* next) {
  const auto name = name_of(word);
  const bool is_inside = word != name;
  if (!is_inside && next == nullptr) return;  // CLI11 reports that it is missing
  const auto value = !is_inside ? *next : word.substr(name.size() + (word[name.size()] == '=' ? 1 : 0));
  const auto type = option.get_type_name();
  if (is_inside && value.empty())
    throw Error(fmt::format("{} is empty, expected {}{}; leave it out for the default", word, name, " " + type));
  const bool is_path = type == "FILE" || type == "DIR";
  if (!is_path && (is_inside || !is_option(value))) return;
  if (is_path && !value.starts_with('-')) return;
  const auto remedy = is_path                  ? fmt::format("; for that path, write ./{}", value)
                      : name.starts_with("--") ? fmt::format("; if that is the value, write {}={}", name, value)
                                               : "";
  throw Error(fmt::format("{0}: found {1}, which looks like an option, expected {0} {2}{3}", name, value, type, remedy));
}

/// Throws Error for a word after all arguments of a command.
void refuse_extra_word(const CLI::App& command, std::size_t nth, const std::string& before, const std::string& word) {
  std::size_t most = 0;
  std::string names;
  for (const auto* option : command.get_options())
    if (option->get_positional())
      most += static_cast<std::size_t>(option->get_items_expected_max()), names += " " + option->get_name(true);
  if (nth < most) return;
  const auto& name = command.get_name();
  throw Error(fmt::format("{}: found \"{}\"{}, expected {}; `ablate help {}` shows its usage", name, word,
                          nth == 0 ? "" : fmt::format(" behind \"{}\"", before),
                          most == 0 ? "only options" : names.substr(1) + " and no more", name));
}

}  // namespace

void expect_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string> commands;
  for (const auto* command : app.get_subcommands({})) commands.push_back(command->get_name());
  if (std::find(commands.begin(), commands.end(), name) != commands.end()) return;
  if (name == "runs") throw Error("no command \"runs\" (it is called attempts now)");
  const auto near = nearest(name, commands);
  throw Error(
      fmt::format("no command \"{}\"{}", name, near.empty() ? "; `ablate help` lists them" : " (did you mean " + near + "?)"));
}

void check_words(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = nullptr;
  std::size_t taken = 0;
  std::string before;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const auto& word = words[i];
    if (is_option(word)) {
      const auto name = name_of(word);
      const auto& option = option_of(app, command, name);
      if (option.get_items_expected_max() == 0) continue;  // a flag
      check_value(option, word, i + 1 < words.size() ? &words[i + 1] : nullptr);
      if (word == name) ++i;  // --db FILE
    } else if (command == nullptr) {
      expect_command(app, word);
      command = app.get_subcommand(word);
    } else {
      refuse_lone_value(*command, word);
      refuse_extra_word(*command, taken++, before, word);
      before = word;
    }
  }
}

}  // namespace ablate
