// What a person can do with a run history that is damaged. No SQLite.
#pragma once

#include <filesystem>
#include <string>

namespace ablate::db {

/// "A copy from before is best. Else what can still be read goes into a new file by: sqlite3 a.db .recover | sqlite3
/// a.recovered.db; ...". Nothing is done for the user: which of the two files is the better one, ablate cannot tell.
std::string recovery_remedy(const std::filesystem::path& file);

}  // namespace ablate::db
