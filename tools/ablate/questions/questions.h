// Commands that query the run history. Torch-free; no plugin is loaded.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ablate {
namespace db {
class Reader;
}

inline constexpr const char* kDefaultDatabase = "ablate.db";

using DatabaseFile = std::function<std::filesystem::path()>;

/// Adds all commands. Their callbacks print to stdout, set exit_code and throw ablate::Error for a query without an answer.
/// @param database returns the file after options are parsed; the objects that it refers to, and exit_code, must outlive app
void add_questions(CLI::App& app, const DatabaseFile& database, int& exit_code);

/// Returns the progress of a grid whose shares are in a folder.
using SharesStanding = std::function<std::string(const std::filesystem::path& folder)>;
/// Adds the same commands, and `ablate watch --shared`.
void add_questions(CLI::App& app, const DatabaseFile& database, const SharesStanding& shares, int& exit_code);

void add_table(CLI::App& app, const DatabaseFile& database, int& exit_code);
void add_verify(CLI::App& app, const DatabaseFile& database, int& exit_code);
void add_power(CLI::App& app, const DatabaseFile& database, int& exit_code);
void add_effects(CLI::App& app, const DatabaseFile& database, int& exit_code);
void add_claims(CLI::App& app, const DatabaseFile& database, int& exit_code);
void add_windows(CLI::App& app, const DatabaseFile& database, int& exit_code);
void add_attempts(CLI::App& app, const DatabaseFile& database, int& exit_code);
void add_watch(CLI::App& app, const DatabaseFile& database, const SharesStanding& shares, int& exit_code);
void add_show(CLI::App& app, const DatabaseFile& database, int& exit_code);
void add_diff(CLI::App& app, const DatabaseFile& database, int& exit_code);
void add_query(CLI::App& app, const DatabaseFile& database, int& exit_code);
void add_export(CLI::App& app, const DatabaseFile& database, int& exit_code);
void add_export_weights(CLI::App& app, const DatabaseFile& database, int& exit_code);  ///< subcommand of `ablate export`

/// Adds EXPERIMENT, which limits an answer to the trials of some experiments.
void add_experiments(CLI::App* command, std::vector<std::string>& experiments);
/// Adds an option whose values mean the same as for `ablate table`.
/// @param delimiter between values; 0: none
void add_as_of_table(CLI::App* command, const char* name, std::vector<std::string>& values, const char* type,
                     char delimiter = ',');

/// Throws Error if the history has several experiments, because an answer over all is rarely wanted. `remedy`: "name one".
void refuse_several(const db::Reader& reader, const std::string& remedy);

/// Reports on stderr the parts of the history that could not be read; call it after the query.
void warn_of_left_out(const db::Reader& reader);

inline constexpr const char* kQuestions = "Ask the run history";  ///< group in `ablate --help`

}  // namespace ablate
