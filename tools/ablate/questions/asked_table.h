// Arguments of `ablate table`, used by the command and by code that parses its words again.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "db/history/reader.h"
#include "db/types/table.h"

namespace ablate {

struct AskedTable {
  std::vector<std::string> experiments;
  bool all = false;                                         ///< one table for the trials of all experiments
  std::string named;                                        ///< --table; "": none
  std::map<std::string, std::vector<std::string>> options;  ///< from the command line; they replace a named table's options
};

/// Adds the experiments and the options that select what a table shows.
/// @param only the options to add; empty: all
void add_asked_table(CLI::App* command, const std::shared_ptr<AskedTable>& asked, const std::set<std::string>& only = {});

/// Returns the words of a command that makes the same table even if experiments are added later: "table", "quickstart", ...
std::vector<std::string> words_of(const AskedTable& asked, const db::Reader& reader);

/// Makes the table. Throws Error like make_table, and if the history has several experiments and `asked` names none.
/// @param command any command of the program; the program has the option for plugin folders
/// @param carries_words true if the table stores words_of
db::Table table_of(const AskedTable& asked, const CLI::App* command, const db::Reader& reader,
                   const std::filesystem::path& database, bool carries_words);

}  // namespace ablate
