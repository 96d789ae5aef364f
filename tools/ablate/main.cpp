// ablate: the command line. Torch-free; plugin code never runs here.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/grid/study.h"
#include "core/util/error.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/questions/questions.h"

namespace {

int parse_and_run(int count, char** arguments) {
  CLI::App app("ablate: ablation studies of efficient attention, from plugins to the table");
  ablate::Options options;
  int exit_code = 0;
  app.set_version_flag("--version", "ablate " ABLATE_VERSION ", torch " ABLATE_TORCH_VERSION);
  app.require_subcommand(1);
  app.fallthrough();  // --db and --plugins may stand after the command as well
  app.add_option("--db", options.database, "the run history; default: $ABLATE_DB, else ./ablate.db")->type_name("FILE");
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
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ablate::ExitCode::kUsage);
  }
  return exit_code;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return parse_and_run(count, arguments);
  } catch (const ablate::ConfigError& error) {
    fmt::print(stderr, "{}\n", error.what());  // each line begins with file:line:column, as editors expect
    return static_cast<int>(error.code());
  } catch (const ablate::Error& error) {
    fmt::print(stderr, "ablate: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "ablate: {}\n", error.what());
    return static_cast<int>(ablate::ExitCode::kUsage);
  }
}
