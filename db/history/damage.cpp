#include "db/history/damage.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <array>
#include <fstream>
#include <string_view>

#include "core/util/error.h"
#include "core/util/one_line.h"
#include "db/history/files_beside.h"
#include "db/history/recovery.h"
#include "db/history/schema.h"

namespace ablate::db {
namespace {

constexpr std::uintmax_t kMostBytes = 20'000'000;

/// Detects an incomplete last page, which quick_check ignores. While the log holds pages, a sound file may be shorter than its
/// page count requires. This order of checks gives no false alarm, even if another process writes or checkpoints meanwhile.
std::string what_is_cut_off(SQLite::Database& database, const std::filesystem::path& file) {
  const auto number = [&](const char* pragma) { return database.execAndGet(pragma).getInt64(); };
  const auto expected = static_cast<std::uintmax_t>(number("PRAGMA page_size") * number("PRAGMA page_count"));
  std::error_code none;
  if (const auto log = std::filesystem::file_size(file.string() + "-wal", none); !none && log > 0) return "";
  const auto bytes = std::filesystem::file_size(file, none);
  return none || bytes >= expected ? "" : fmt::format("it has {} bytes, but its pages need {}", bytes, expected);
}

}  // namespace

std::string first_fault(SQLite::Database& database, const std::filesystem::path& file) {
  if (auto fault = what_is_cut_off(database, file); !fault.empty()) return fault;
  std::error_code unseen;
  const auto bytes = std::filesystem::file_size(file, unseen);
  if (unseen || bytes > kMostBytes) return "";
  const auto found = database.execAndGet("PRAGMA quick_check(1)").getString();
  sqlite3_db_release_memory(database.getHandle());  // cached pages would hide that the file is overwritten later
  return found == "ok" ? "" : one_line(found, 200);
}

void expect_sound(SQLite::Database& database, const std::filesystem::path& file) {
  if (const auto fault = first_fault(database, file); !fault.empty()) throw Error(damaged_text(file, fault));
}

void expect_sound(const std::filesystem::path& file) {
  std::error_code none;
  if (std::filesystem::file_size(file, none) == 0 || none) return;
  const FilesBeside beside(file);
  try {
    SQLite::Database database(file.string(), SQLite::OPEN_READONLY);
    trust_nothing(database);
    expect_sound(database, file);
  } catch (const SQLite::Exception& exception) {
    const int code = exception.getErrorCode() & 0xFF;  // without the extended part
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) fail(exception, file, 0);
  }
}

bool begins_as_sqlite(const std::filesystem::path& file) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  std::ifstream in(file, std::ios::binary);
  std::array<char, kMagic.size()> found{};
  return in.read(found.data(), found.size()) && std::string_view(found.data(), found.size()) == kMagic;
}

std::string damaged_text(const std::filesystem::path& file, const std::string& found) {
  return fmt::format(
      "{} is a damaged SQLite database, cut off or overwritten in part ({}); expected a whole one. Nothing was changed. {}",
      file.string(), found, recovery_remedy(file));
}

}  // namespace ablate::db
