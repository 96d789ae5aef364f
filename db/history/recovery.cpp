#include "db/history/recovery.h"

#include <fmt/format.h>

#include "core/util/shell_word.h"

namespace ablate::db {

std::string recovery_remedy(const std::filesystem::path& file) {
  const auto recovered = file.parent_path() / (file.stem().string() + ".recovered.db");
  return fmt::format(
      "A copy from before is best. Else what can still be read goes into a new file by: sqlite3 {} .recover | sqlite3 {}; "
      "look at that with --db before you replace anything (a sqlite3 without .recover, as Debian 12 has it, leaves it empty; "
      "sqlite.org has one)",
      shell_word(file.string()), shell_word(recovered.string()));
}

}  // namespace ablate::db
