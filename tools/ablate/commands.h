// What the commands share: the options that stand before or after any of them, and the plugins found.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/registry/scan.h"
#include "core/worker/client.h"

namespace ablate {

struct Options {
  std::string database;              ///< --db
  std::vector<std::string> plugins;  ///< --plugins, folders

  /// --db, else ABLATE_DB, else ./ablate.db.
  std::filesystem::path database_file() const;
};

/// The libraries in all plugin folders. A worker is started only where one was never seen before, and then kept in `worker`.
std::vector<FoundLibrary> find_libraries(const Options& options, std::unique_ptr<WorkerClient>& worker);

/// What a library says of itself, from a child of the worker that loads it: a PluginInfo as JSON, {"refusal": reason} or
/// {"failed": reason}. Whatever the library does to the worker, `worker` is usable or null afterwards.
nlohmann::json inspect_library(const std::filesystem::path& path, std::unique_ptr<WorkerClient>& worker);

void add_run(CLI::App& app, const Options& options, int& exit_code);
void add_plugins(CLI::App& app, const Options& options, int& exit_code);
void add_check(CLI::App& app, const Options& options, int& exit_code);
void add_new(CLI::App& app, const Options& options, int& exit_code);

}  // namespace ablate
