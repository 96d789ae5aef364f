// What the commands share: the options that stand before or after any of them, and the plugins found.
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
  std::vector<std::string> only;  ///< the first digits of keys; none: all trials
  int at_a_time = 0;              ///< trials at a time; 0: auto, processors / train.threads
  bool again = false;             ///< run what is done already, too
  int prove = 0;                  ///< trials to repeat at least for a proof that an edit of code changed no number; 0: none
  std::int64_t unprove = 0;       ///< a proof to delete; 0: none
  std::optional<double> timeout_s = {};  ///< in place of the study's
  std::int64_t memory_bytes = 0;         ///< that a trial may hold; 0: any amount
  std::vector<std::string> retry = {};   ///< outcomes
  std::string max_failures = {};         ///< "5", "10%"; "": any number
  std::string notify = {};               ///< a command line
  bool by_cost = false;                  ///< the dry run lists the cheapest first
  bool dry_run = false;                  ///< check and print only
  ShareArguments shares = {};
  std::vector<std::string> table;  ///< the command that is named for its results, by word; default: table NAME
};

/// Runs a study's trials that the history does not have yet and says on stderr how it went. @return the exit code. Throws
/// Error.
int run_study(const RunArguments& arguments, const Options& options);

/// What the arguments ask of plan_study and launch, with the options' history.
LaunchRequest launch_request(const RunArguments& arguments, const Options& options);

/// plan_study with the plugins that the options name, and notes on stderr.
PlannedStudy planned_study(const LaunchRequest& request, const Options& options, Executors& executors);

/// Says on stderr how a run went, and the command for its table. @param options tell its history
void say_summary(const Study& study, const RunSummary& summary, const RunArguments& arguments, const Options& options);

/// What the user can type next for the same history: "ablate" and the words, quoted for a shell, and --db where the file is not
/// the default.
std::string next_command(const Options& options, std::vector<std::string> words);

void add_bench(CLI::App& app, const Options& options, int& exit_code);
/// What a trial of `ablate run` may take, what is tried again, and who is told.
void add_run_limits(CLI::App& command, RunArguments& arguments);
/// --max-failures, as RunOptions has it.
MostFailures max_failures_of(const RunArguments& arguments);
/// `run`, the study and which of its trials are meant, by word; as next_command() takes it. @param file the study
std::vector<std::string> words_of_run(const RunArguments& arguments, const std::string& file,
                                      const std::vector<std::string>& retry);
/// What a run leaves alone, and the commands that would not, a line each.
std::vector<std::string> set_aside_lines(const SetAside& set_aside, const RunArguments& arguments, const Options& options);
void add_run(CLI::App& app, const Options& options, int& exit_code);
void add_plugins(CLI::App& app, const Options& options, int& exit_code);
void add_check(CLI::App& app, const Options& options, int& exit_code);
void add_audit(CLI::App& app, const Options& options, int& exit_code);
void add_new(CLI::App& app, const Options& options, int& exit_code);
/// @param words those of the command line, for the program that draws
void add_plot(CLI::App& app, const std::vector<std::string>& words);

}  // namespace ablate
