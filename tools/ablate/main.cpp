// ablate: the command line. Torch-free; plugin code never runs here.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <sstream>

#include "core/host/study/study.h"
#include "core/util/error.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/completion/completion.h"
#include "tools/ablate/help.h"
#include "tools/ablate/keeping/keeping.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/report/report.h"
#include "tools/ablate/streams.h"
#include "tools/ablate/words.h"

namespace {

constexpr std::chrono::seconds kLastWords(2);  ///< time to write the text that stderr has not yet accepted

int parse_and_run(int count, char** arguments) {
  CLI::App app("ablate: ablation studies of efficient attention, from plugins to the table", "ablate");
  app.formatter(std::make_shared<ablate::HelpFormatter>());
  const std::vector<std::string> words(arguments + std::min(count, 1), arguments + count);
  ablate::Options options;
  int exit_code = 0;
  app.set_version_flag("--version", "ablate " ABLATE_VERSION ", torch " ABLATE_TORCH_VERSION);
  app.require_subcommand(1);
  app.fallthrough();  // --db and --plugins are valid after the command, too
  app.add_option("--db", options.database, "the run history; default: $ABLATE_DB, else ./ablate.db")
      ->check(ablate::not_empty())
      ->type_name("FILE");
  app.add_option("--plugins", options.plugins,
                 "also look for plugins in this folder; repeat it for more (or $ABLATE_PLUGIN_PATH)")
      ->check(ablate::not_empty())
      ->type_name("DIR")
      ->allow_extra_args(false);
  ablate::add_run(app, options, exit_code);
  ablate::add_bench(app, options, exit_code);
  ablate::add_plugins(app, options, exit_code);
  ablate::add_check(app, options, exit_code);
  ablate::add_audit(app, options, exit_code);
  ablate::add_new(app, options, exit_code);
  const ablate::DatabaseFile database = [&options] { return options.database_file(); };
  ablate::add_questions(app, database, ablate::shares_standing, exit_code);
  ablate::add_report(app, database, exit_code);
  ablate::add_plot(app, words);
  ablate::add_experiment(app, database, exit_code);
  ablate::add_db(app, database, exit_code);
  ablate::add_import(app, database, exit_code);
  ablate::add_merge(app, database, exit_code);
  ablate::add_help(app);
  ablate::add_completion(app, exit_code);
  for (auto* command : app.get_subcommands({}))  // otherwise --dry-run=false would run the study
    for (auto* option : command->get_options())
      if (option->get_items_expected() == 0) option->disable_flag_override();
  app.footer(
      "A trial is one set of settings, named by its key; an attempt is one run of it, named by its number.\n"
      "`ablate help COMMAND` shows an example of each command. Exit codes: 0 all done, 1 some trials failed, 2 usage or "
      "configuration, 3 a plugin's library is refused or fails, 75 a share that was stopped, 130 interrupted, 141 the reader "
      "of the output has gone.");
  app.failure_message([](const CLI::App* program, const CLI::Error& error) {
    const auto commands = program->get_subcommands();
    return fmt::format("ablate: {}; `ablate help{}` shows its usage\n", error.what(),
                       commands.empty() ? "" : " " + commands.front()->get_name());
  });
  if (words.empty()) {
    ablate::print("{}", ablate::overview(app));
    return 0;
  }
  if (ablate::is_question(words)) {
    ablate::answer_question(app, words);
    return 0;
  }
  ablate::check_words(app, words);
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
    if (std::ferror(stdout) == 0) ablate::say("ablate: {}\n", error.what());  // otherwise end_output reports it
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
