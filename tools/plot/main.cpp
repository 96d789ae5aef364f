// ablate-plot: started by `ablate plot` with the same arguments, so that ablate itself does not load cairo.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>

#include "core/util/error.h"
#include "tools/ablate/streams.h"
#include "tools/plot/draw.h"

namespace {

constexpr std::chrono::seconds kLastWords(2);  ///< time to write the text that stderr has not yet accepted

int run(int count, char** arguments) try {
  CLI::App app("started by `ablate plot` with the same arguments", "ablate-plot");
  std::string database;
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--db", database, "the run history");
  std::vector<std::string> plugins;
  app.add_option("--plugins", plugins, "accepted like ablate's option, but not read")->allow_extra_args(false);
  const ablate::DatabaseFile file = [&]() -> std::filesystem::path {
    if (!database.empty()) return database;
    const char* set = std::getenv("ABLATE_DB");
    return set != nullptr && *set != '\0' ? set : ablate::kDefaultDatabase;
  };
  ablate::add_plot(app, [&](const ablate::PlotArguments& options) { ablate::plot(options, file); });
  app.parse(count, arguments);
  return 0;
} catch (const CLI::ParseError& error) {
  ablate::say("ablate-plot: {}; `ablate help plot` shows its usage\n", error.what());
  return static_cast<int>(ablate::ExitCode::kUsage);
} catch (const ablate::Error& error) {
  ablate::say("ablate: {}\n", error.what());
  return static_cast<int>(error.code());
} catch (const std::exception& error) {
  ablate::say("ablate: {}\n", error.what());
  return static_cast<int>(ablate::ExitCode::kUsage);
}

}  // namespace

int main(int count, char** arguments) {
  ablate::hold_standard_streams();
  const int code = run(count, arguments);
  ablate::standard_error().finish(kLastWords);
  return code;
}
