#include "db/history/recovery.h"

#include <fmt/format.h>

#include "core/util/shell_word.h"

namespace ablate::db {

std::string recovery_remedy(const std::filesystem::path& file) {
  const auto recovered = file.parent_path() / (file.stem().string() + ".recovered.db");
  return fmt::format(
      "Restore an earlier copy if there is one. Otherwise write all readable rows into a new file: sqlite3 {} .recover | "
      "sqlite3 {}; check that file with --db before you replace anything (Debian 12's sqlite3 lacks .recover and leaves the "
      "file empty; the program from sqlite.org has it)",
      shell_word(file.string()), shell_word(recovered.string()));
}

}  // namespace ablate::db
