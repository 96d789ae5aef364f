// What `ablate table` is asked for: by the command itself, and by what reads its words again.
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
  bool all = false;                                         ///< the trials of all experiments in one table
  std::string named;                                        ///< --table; "": none
  std::map<std::string, std::vector<std::string>> options;  ///< that stand on the line, in place of what a named table asks
};

/// Adds the experiments and the options that say what a table shows. @param only the options to add; none: all
void add_asked_table(CLI::App* command, const std::shared_ptr<AskedTable>& asked, const std::set<std::string>& only = {});

/// The words of the command that asks for the same again, "table", "quickstart", ..., whichever experiments come later.
std::vector<std::string> words_of(const AskedTable& asked, const db::Reader& reader);

/// @param command whose program has the folders of plugins @param carries_words whether the table knows words_of
/// Throws Error as make_table, and where the history has several experiments and none is named.
db::Table table_of(const AskedTable& asked, const CLI::App* command, const db::Reader& reader,
                   const std::filesystem::path& database, bool carries_words);

}  // namespace ablate
