// Commands that import into their own history.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/db/commands.h"
#include "tools/ablate/keeping/keeping.h"

namespace ablate::db {

inline void add_all(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  add_questions(app, database, exit_code);
  add_import(app, database, exit_code);
  add_merge(app, database, exit_code);
}

/// Commands on a history that does not exist yet, and files to import.
class Imports : public Commands {
 public:
  Imports() {
    add = add_all;
    std::filesystem::remove(file());
  }
  std::string path(const std::string& name) const { return file().parent_path() / name; }
  std::string import(const std::string& text, const std::string& options = "") {
    std::ofstream(path("in.csv"), std::ios::binary) << text;
    return (*this)("import " + path("in.csv") + " " + options);
  }
};

}  // namespace ablate::db
