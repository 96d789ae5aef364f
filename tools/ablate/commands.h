// Shared by all commands: the options that are valid before or after any command, and the search for plugins.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/host/client/executors.h"
#include "core/host/launch/planned_study.h"
#include "core/host/scheduler/scheduler.h"
#include "core/registry/scan.h"
#include "tools/ablate/shares/shares.h"

namespace ablate {

struct Options {
  std::string database;              ///< --db
  std::vector<std::string> plugins;  ///< --plugins, folders

  /// Returns --db, else ABLATE_DB, else "".
  std::filesystem::path named_database() const;
  /// Returns --db, else ABLATE_DB, else ./ablate.db.
  std::filesystem::path database_file() const;
};

/// Returns the libraries in all plugin folders. An executor starts only for a library that was never scanned, and stays alive.
std::vector<FoundLibrary> find_libraries(const Options& options, Executors& executors);

/// Returns a catalog of the usable plugins. Its where_looked calls where_plugins_are. `options` must outlive the catalog.
Catalog usable(const std::vector<FoundLibrary>& libraries, const Options& options);

/// True if the word is a library's path and not a plugin's id.
bool is_path(const std::string& name);

/// Scans the library at a path. Throws Error if it cannot be loaded.
FoundLibrary library_at(const std::filesystem::path& path, Executors& executors);

/// Returns the end of a message about an unknown plugin: the searched folders, and how to add a folder. If a library of that id
/// exists nearby, the text names its folder.
std::string where_plugins_are(const Options& options, const std::string& id);

struct RunArguments {
  std::string file;
  std::vector<std::string> overrides;
  std::vector<std::string> only;  ///< first digits of keys; empty: all trials
  int at_a_time = 0;              ///< trials at a time; 0: auto, processors / train.threads
  bool again = false;             ///< run done trials, too
  int prove = 0;                  ///< least number of trials to repeat for a proof that an edit changed no number; 0: none
  std::int64_t unprove = 0;       ///< proof to delete; 0: none
  std::optional<double> timeout_s = {};  ///< replaces the study's timeout
  std::int64_t memory_bytes = 0;         ///< memory limit of a trial; 0: none
  std::vector<std::string> retry = {};   ///< outcomes
  std::string max_failures = {};         ///< "5", "10%"; "": any number
  std::string notify = {};               ///< a command line
  bool by_cost = false;                  ///< sort the dry run by cost, cheapest first
  bool dry_run = false;                  ///< check and print only
  ShareArguments shares = {};
  std::vector<std::string> table;  ///< words of the command that the summary suggests; default: table NAME
};

/// Runs a study's trials that the history lacks, reports on stderr how it went, and returns the exit code. Throws Error.
int run_study(const RunArguments& arguments, const Options& options);

/// Returns the request for plan_study and launch, with the options' history.
LaunchRequest launch_request(const RunArguments& arguments, const Options& options);

/// Calls plan_study with the plugins that the options name; writes notes to stderr.
PlannedStudy planned_study(const LaunchRequest& request, const Options& options, Executors& executors);

/// Prints on stderr how a run went, and the command for its table.
void say_summary(const Study& study, const RunSummary& summary, const RunArguments& arguments, const Options& options);

/// Returns a command for the same history: "ablate" and the words, quoted for a shell, and --db unless the file is the default.
std::string next_command(const Options& options, std::vector<std::string> words);

void add_bench(CLI::App& app, const Options& options, int& exit_code);
/// Adds the options of `ablate run` for a trial's limits, retries and notifications.
void add_run_limits(CLI::App& command, RunArguments& arguments);
/// Returns --max-failures in the form of RunOptions.
MostFailures max_failures_of(const RunArguments& arguments);
/// Returns `run`, the study and the options that select its trials, as words for next_command().
/// @param file the study
std::vector<std::string> words_of_run(const RunArguments& arguments, const std::string& file,
                                      const std::vector<std::string>& retry);
/// Returns a line for each group of trials that a run skips, with the command that would run them.
std::vector<std::string> set_aside_lines(const SetAside& set_aside, const RunArguments& arguments, const Options& options);
void add_run(CLI::App& app, const Options& options, int& exit_code);
void add_plugins(CLI::App& app, const Options& options, int& exit_code);
void add_check(CLI::App& app, const Options& options, int& exit_code);
void add_audit(CLI::App& app, const Options& options, int& exit_code);
void add_new(CLI::App& app, const Options& options, int& exit_code);
/// @param words words of the command line, which the program that draws receives
void add_plot(CLI::App& app, const std::vector<std::string>& words);

}  // namespace ablate
