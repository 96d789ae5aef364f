#include "tools/ablate/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "db/report/format.h"
#include "tools/ablate/streams.h"
#include "tools/ablate/words.h"
#include "tools/ablate/wrapped.h"

namespace ablate {
namespace {

constexpr std::size_t kNames = 30;  ///< columns before an option's help

/// Formats names with their help beside them, or below them if they are long.
std::string entry(const std::string& names, const std::string& help) {
  const auto left = "  " + names;
  const auto between = db::width(left) < kNames ? std::string(kNames - db::width(left), ' ') : "\n" + std::string(kNames, ' ');
  return left + (help.empty() ? "" : between + wrapped(help, kNames, kNames)) + "\n";
}

/// Wraps a text line by line.
std::string paragraphs(const std::string& text) {
  std::istringstream lines(text);
  std::string all;
  for (std::string line; std::getline(lines, line);) all += (line.starts_with(' ') ? line : wrapped(line, 0, 0)) + "\n";
  return all;
}

}  // namespace

std::string HelpFormatter::make_description(const CLI::App* app) const { return paragraphs(app->get_description()); }

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return entry(command->get_name(), command->get_description());
}

std::string HelpFormatter::make_footer(const CLI::App* app) const { return paragraphs(app->get_footer()); }

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  std::string text;
  if (option->get_type_size() != 0) {
    if (const auto type = option->get_type_name(); !type.empty()) text += " " + type;
    if (option->get_required()) text += " (required)";
  }
  return text;
}

std::string overview(const CLI::App& app) {
  return app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
}

void add_help(CLI::App& app) {
  auto* command = app.add_subcommand("help", "Describe a command and its options, with an example")->group("Help");
  auto name = std::make_shared<std::string>();
  command->add_option("COMMAND", *name, "run, table or another command; default: list all commands")->type_name("");
  command->footer("Example:\n  ablate help table");
  command->callback([name, &app] {
    if (name->empty()) {
      print("{}", overview(app));
    } else {
      expect_command(app, *name);
      print("{}", app.get_subcommand(*name)->help(app.get_name()));
    }
  });
}

}  // namespace ablate
