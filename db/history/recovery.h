// Remedies for a damaged run history. No SQLite.
#pragma once

#include <filesystem>
#include <string>

namespace ablate::db {

/// Returns the remedy: "Restore an earlier copy if there is one. Otherwise write all readable rows into a new file: sqlite3
/// a.db .recover | sqlite3 a.recovered.db; ...". The user decides which file is better, because ablate cannot judge that.
std::string recovery_remedy(const std::filesystem::path& file);

}  // namespace ablate::db
