// Options of `ablate table`, which are also the keys of a study's [table.NAME].
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/questions/tables/make_table.h"

namespace ablate::db {

struct TableOption {
  std::string name;   ///< "rows"
  std::string value;  ///< name of the value, "PATH"; "": the option takes no value
  std::string help;
  std::string excludes = {};                                  ///< name of another option that excludes this one; "": none
  bool repeated = false;                                      ///< true if the option may be repeated
  bool commas = false;                                        ///< true if commas separate its values
  int each = 1;                                               ///< number of values for each use of the option
  std::string (*refuse)(const std::string& value) = nullptr;  ///< returns a value's error, or ""; nullptr: every value is right

  bool is_flag() const { return value.empty(); }
};

/// Returns the table's own options, then the options of the statistics, in the order of the help.
const std::vector<TableOption>& table_options();
/// Returns nullptr if there is no option of that name.
const TableOption* find_table_option(const std::string& name);

/// Adds a name to `seen` and returns "". If an option already has the name, returns the error.
/// `seen` has the option of each name. `what` is the kind of the name: "parameter".
std::string stands_already(std::map<std::string, std::string>& seen, const std::string& option, const std::string& name,
                           const char* what);

/// Adds an option, by its name, to a request.
void ask(TableRequest& request, const std::string& option, const std::vector<std::string>& values);

}  // namespace ablate::db
