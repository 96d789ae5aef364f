#include "db/history/keeping.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/util/error.h"
#include "db/history/damage.h"
#include "db/history/location.h"
#include "db/history/reader.h"
#include "db/history/schema.h"
#include "db/history/unlike_attempts.h"

namespace ablate::db {
namespace {

constexpr int kMostFaults = 100;
constexpr int kPatienceMs = 1000;  // short, because compact gives up if a run uses the history

/// Guard that removes an unfinished file.
class Part {
 public:
  explicit Part(std::filesystem::path path) : path_(std::move(path)) {}
  ~Part() {
    std::error_code none;
    std::filesystem::remove(path_, none);
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Opens a history without a migration. Throws Error if it is no history of this program.
SQLite::Database opened(const std::filesystem::path& file, int how) {
  const Reader expected(file);
  return SQLite::Database(file.string(), how, kPatienceMs);
}

void to_disk(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

std::vector<std::string> faults(const std::filesystem::path& file) {
  const Reader reader(file);
  reader.read_without_limit();
  return guarded(file, [&] {
    std::vector<std::string> found;
    SQLite::Statement integrity(reader.database(), fmt::format("PRAGMA integrity_check({})", kMostFaults));
    while (integrity.executeStep())
      if (auto text = integrity.getColumn(0).getString(); text != "ok") found.push_back(std::move(text));
    SQLite::Statement dangling(reader.database(), "PRAGMA foreign_key_check");
    while (found.size() < kMostFaults && dangling.executeStep())
      found.push_back(fmt::format("row {} of {} points to a missing row of {}", dangling.getColumn(1).getInt64(),
                                  dangling.getColumn(0).getString(), dangling.getColumn(2).getString()));
    return found;
  });
}

std::vector<std::string> unlike_numbers(const std::filesystem::path& file) {
  const Reader reader(file);
  reader.read_without_limit();
  return guarded(file, [&] {
    std::vector<std::string> lines;
    for (const auto& one : unlike_attempts(reader.database(), "> 0")) lines.push_back(one.text);
    return lines;
  });
}

void back_up(const std::filesystem::path& file, const std::filesystem::path& to) {
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("the run history cannot be copied into {}: {}", to.string(), why));
  };
  std::error_code none;
  if (std::filesystem::exists(std::filesystem::symlink_status(to, none))) refuse("the file exists already; name a new file");
  if (const auto folder = std::filesystem::absolute(to).parent_path(); !std::filesystem::is_directory(folder, none))
    refuse(fmt::format("there is no folder {}", folder.string()));
  const Part part(to.string() + fmt::format(".part-{}", getpid()));
  guarded(file, [&] {
    auto database = opened(file, SQLite::OPEN_READONLY);
    SQLite::Statement copy(database, "VACUUM INTO ?");
    database.execAndGet("SELECT count(*) FROM sqlite_master");  // opens the history: a later CANTOPEN is from the copy
    try {
      execute(copy, part.path().string());
    } catch (const SQLite::Exception& exception) {
      if ((exception.getErrorCode() & 0xFF) == SQLITE_CANTOPEN) refuse(exception.what());
      // Only the copy is written, so a failed write is a fault of the copy's file.
      const bool wrote = exception.getErrorCode() == SQLITE_FULL || exception.getExtendedErrorCode() == SQLITE_IOERR_WRITE;
      fail(exception, wrote ? to : file);
    }
  });
  std::string fault;
  try {
    SQLite::Database made(part.path().string(), SQLite::OPEN_READONLY);
    fault = first_fault(made, part.path());
  } catch (const SQLite::Exception& exception) {
    fault = exception.what();
  }
  if (!fault.empty()) refuse(fault);
  to_disk(part.path());
  if (link(part.path().c_str(), to.c_str()) != 0) refuse(std::strerror(errno));  // never replaces an existing file
  to_disk(std::filesystem::absolute(to).parent_path());
}

Compacted compact(const std::filesystem::path& file) {
  return guarded(file, [&] {
    Compacted done;
    check_writing_location(file);
    auto database = opened(file, SQLite::OPEN_READWRITE);
    done.before = std::filesystem::file_size(file);
    database.exec("VACUUM");
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    done.after = std::filesystem::file_size(file);
    return done;
  });
}

}  // namespace ablate::db
