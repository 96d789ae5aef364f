// What the commands share: the options that stand before or after any of them, and the plugins found.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/host/client/executors.h"
#include "core/registry/scan.h"

namespace ablate {

struct Options {
  std::string database;              ///< --db
  std::vector<std::string> plugins;  ///< --plugins, folders

  /// --db, else ABLATE_DB, else ./ablate.db.
  std::filesystem::path database_file() const;
};

/// The libraries in all plugin folders. An executor is started only where a library was never seen before, and stays.
std::vector<FoundLibrary> find_libraries(const Options& options, Executors& executors);

/// The usable plugins of these libraries; Catalog::where_looked is where_plugins_are. The options outlive it.
Catalog usable(const std::vector<FoundLibrary>& libraries, const Options& options);

/// Whether the word is a library's path, and not a plugin's id.
bool is_path(const std::string& name);

/// The plugin of the library at a path, as a scan gives it. Throws Error where it cannot be loaded.
FoundLibrary library_at(const std::filesystem::path& path, Executors& executors);

/// Where plugins were looked for, and how to add a folder; with one at hand that holds a library of that id: for the end of a
/// message that there is no such plugin.
std::string where_plugins_are(const Options& options, const std::string& id);

struct RunArguments {
  std::string file;
  std::vector<std::string> overrides;
  std::vector<std::string> only;   ///< the first digits of keys; none: all trials
  int jobs = 0;                    ///< trials at a time; 0: cores / train.threads
  bool again = false;              ///< run what is done already, too
  int prove = 0;                   ///< trials to repeat at least for a proof that an edit of code changed no number; 0: none
  std::int64_t unprove = 0;        ///< a proof to withdraw; 0: none
  bool dry_run = false;            ///< check and print only
  std::vector<std::string> table;  ///< the command that is named for its results, by word; default: table NAME
};

/// Runs a study's trials that the history does not have yet and says on stderr how it went. @return the exit code. Throws
/// Error.
int run_study(const RunArguments& arguments, const Options& options);

/// What the user can type next for the same history: "ablate" and the words, quoted for a shell, and --db where the file is not
/// the default.
std::string next_command(const Options& options, std::vector<std::string> words);

void add_bench(CLI::App& app, const Options& options, int& exit_code);
void add_run(CLI::App& app, const Options& options, int& exit_code);
void add_plugins(CLI::App& app, const Options& options, int& exit_code);
void add_check(CLI::App& app, const Options& options, int& exit_code);
void add_audit(CLI::App& app, const Options& options, int& exit_code);
void add_new(CLI::App& app, const Options& options, int& exit_code);
/// @param words those of the command line, for the program that draws
void add_plot(CLI::App& app, const std::vector<std::string>& words);

}  // namespace ablate
