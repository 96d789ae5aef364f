// What a table can be asked for, by name: the options of `ablate table`, and the keys of a study's [table.NAME].
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/questions/tables/make_table.h"

namespace ablate::db {

struct TableOption {
  std::string name;   ///< "rows"
  std::string value;  ///< "PATH"; "": it takes none
  std::string help;
  std::string excludes = {};                                  ///< another's name; "": none
  bool repeated = false;                                      ///< whether it may stand several times
  bool commas = false;                                        ///< whether commas part its values
  int each = 1;                                               ///< values that stand behind it each time
  std::string (*refuse)(const std::string& value) = nullptr;  ///< what is wrong with a value, or ""; nullptr: nothing is

  bool is_flag() const { return value.empty(); }
};

/// In the order of the help: the table's own, then one for each statistic that has one.
const std::vector<TableOption>& table_options();
/// nullptr where there is none of that name.
const TableOption* find_table_option(const std::string& name);

/// Returns why a name may not stand in an option: it stands in one of `seen` already. Else adds it, and returns "".
/// @param seen option, by name @param what the name is: "parameter"
std::string stands_already(std::map<std::string, std::string>& seen, const std::string& option, const std::string& name,
                           const char* what);

/// Asks a table for it. @param option the name of one of them
void ask(TableRequest& request, const std::string& option, const std::vector<std::string>& values);

}  // namespace ablate::db
