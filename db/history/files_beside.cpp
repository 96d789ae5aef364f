#include "db/history/files_beside.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include <exception>

#include "db/history/schema.h"

namespace ablate::db {
namespace {

bool is_any_there(const std::filesystem::path& file) {
  std::error_code none;
  return std::filesystem::exists(file.string() + "-wal", none) || std::filesystem::exists(file.string() + "-shm", none);
}

}  // namespace

FilesBeside::FilesBeside(const std::filesystem::path& file)
    : file_(file), were_there_(is_any_there(file)), exceptions_(std::uncaught_exceptions()) {}

FilesBeside::~FilesBeside() {
  if (were_there_ || std::uncaught_exceptions() == exceptions_ || !is_any_there(file_)) return;
  std::error_code none;
  if (std::filesystem::file_size(file_.string() + "-wal", none) > 0 && !none) return;  // another process writes now
  // Only SQLite knows whether another process has the files open. The last connection that can write removes the
  // two files under a lock. An empty log does not change the history.
  try {
    SQLite::Database last(file_.string(), SQLite::OPEN_READWRITE);
    trust_nothing(last);
    last.tryExec("SELECT count(*) FROM sqlite_master");
  } catch (const SQLite::Exception&) {  // the files stay
  }
}

}  // namespace ablate::db
