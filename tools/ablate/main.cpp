// ablate: the command line. Torch-free; plugin code never runs here.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sstream>

#include "core/host/study/study.h"
#include "core/util/error.h"
#include "core/util/nearest.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"

namespace {

constexpr std::chrono::seconds kLastWords(2);  ///< for a stderr that takes nothing

/// Throws Error where the word that stands in the command's place is none. CLI11 would miss a command, or answer --help.
void check_command(const CLI::App& app, int count, char** arguments) {
  std::vector<std::string> commands;
  for (const auto* command : app.get_subcommands({})) commands.push_back(command->get_name());
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word.starts_with('-')) {
      const auto* option = app.get_option_no_throw(word);
      if (option != nullptr && option->get_items_expected_max() > 0) ++i;  // --db FILE
      continue;
    }
    if (std::find(commands.begin(), commands.end(), word) != commands.end()) return;
    commands.emplace_back("--help");  // `ablate help`
    if (word == "runs") throw ablate::Error("no command \"runs\" (it is called attempts now)");
    throw ablate::Error(fmt::format("no command \"{}\"{}", word, ablate::hint(word, commands)));
  }
}

int parse_and_run(int count, char** arguments) {
  CLI::App app("ablate: ablation studies of efficient attention, from plugins to the table");
  ablate::Options options;
  int exit_code = 0;
  app.set_version_flag("--version", "ablate " ABLATE_VERSION ", torch " ABLATE_TORCH_VERSION);
  app.require_subcommand(1);
  app.fallthrough();  // --db and --plugins may stand after the command as well
  app.add_option("--db", options.database, "the run history; default: $ABLATE_DB, else ./ablate.db")
      ->check(ablate::not_empty())
      ->type_name("FILE");
  app.add_option("--plugins", options.plugins,
                 "also look for plugins in this folder; repeat it for more (or $ABLATE_PLUGIN_PATH)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  ablate::add_run(app, options, exit_code);
  ablate::add_bench(app, options, exit_code);
  ablate::add_plugins(app, options, exit_code);
  ablate::add_check(app, options, exit_code);
  ablate::add_new(app, options, exit_code);
  ablate::add_questions(
      app, [&options] { return options.database_file(); }, exit_code);
  app.footer(
      "`ablate COMMAND --help` has an example of each. Exit codes: 0 all done, 1 some trials failed, 2 usage or "
      "configuration,\n"
      "3 a plugin cannot be loaded, 130 interrupted.");
  check_command(app, count, arguments);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    std::ostringstream answer, complaint;
    const bool asked = app.exit(error, answer, complaint) == 0;
    ablate::print("{}", answer.str());
    ablate::say("{}", complaint.str());
    return asked ? 0 : static_cast<int>(ablate::ExitCode::kUsage);
  }
  return exit_code;
}

int run(int count, char** arguments) {
  try {
    return parse_and_run(count, arguments);
  } catch (const ablate::ConfigError& error) {
    ablate::say("{}\n", error.what());  // each line begins with file:line:column, as editors expect
    return static_cast<int>(error.code());
  } catch (const ablate::Error& error) {
    ablate::say("ablate: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    if (std::ferror(stdout) == 0) ablate::say("ablate: {}\n", error.what());  // else end_output says it
    return static_cast<int>(ablate::ExitCode::kUsage);
  }
}

}  // namespace

int main(int count, char** arguments) {
  ablate::hold_standard_streams();
  const int code = ablate::end_output(run(count, arguments));
  ablate::standard_error().finish(kLastWords);
  return code;
}
