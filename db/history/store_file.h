// The open file behind a Store: its transactions and its faults. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/types.h>

#include <filesystem>
#include <type_traits>

#include "db/history/grid_store.h"
#include "db/history/prepared_statements.h"
#include "db/history/schema.h"
#include "db/history/views.h"

namespace ablate::db {

/// Sets how long a writer waits for another process's lock. After a signal to stop (core/util/stop_on_signal.h), the wait ends
/// within a fifth of a second; SQLite's own busy timeout would continue.
void set_patience(SQLite::Database& database, int milliseconds);

/// Path of a file, and the file's identity when this object was constructed.
class OpenedFile {
 public:
  explicit OpenedFile(const std::filesystem::path& file);

  /// Throws Gone if the path no longer leads to that file, or if the file was emptied or overwritten with something else. Also
  /// throws Gone if its write-ahead log is gone: another process would begin a new log, and the content of the old log would be
  /// lost. SQLite does not notice any of this, because it does not read the file while the log has the needed pages. Opens
  /// nothing, because closing any descriptor of the file would release the locks that SQLite holds for this process.
  /// @param database the connection that has the file open
  void expect_there(SQLite::Database& database);
  /// True if the path still leads to that file.
  bool is_there() const;

  /// True if the write-ahead log beside the path belongs to that file.
  bool has_own_log() const;

  const std::filesystem::path& path() const { return path_; }  ///< absolute, without links

 private:
  std::filesystem::path path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  ino_t log_ = 0;  ///< inode of the log; 0: there was none yet
};

struct StoreFile {
  SQLite::Database database;
  OpenedFile file;
  PreparedStatements statements{database};
  int patience_ms = kUsualPatienceMs;

  explicit StoreFile(const std::filesystem::path& path)
      : database(std::filesystem::absolute(path).string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_URI,
                 kUsualPatienceMs),
        file(path) {
    db::set_patience(database, kUsualPatienceMs);
    trust_nothing(database);
    migrate(database, path);
  }

  /// Runs f() on the open file. Throws Gone if the file is no history any more. Throws Unavailable if SQLite cannot open a file
  /// such as the write-ahead log now, because descriptors or memory are missing for the moment.
  template <class F>
  auto use(F&& f) {
    try {
      return f();
    } catch (const SQLite::Exception& exception) {
      switch (exception.getErrorCode() & 0xFF) {
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
          throw Gone(
              fmt::format("{} is damaged, or was overwritten since it was opened ({}): nothing more can be recorded there",
                          file.path().string(), exception.what()));
        case SQLITE_CANTOPEN:
        case SQLITE_NOMEM:
          throw Unavailable(fmt::format("{}: {}", file.path().string(), exception.what()));
        default:
          fail(exception, file.path(), patience_ms);
      }
    }
  }

  /// Removes the write-ahead log of a file that is gone. SQLite would replay the log onto the next file at this path, and
  /// damage that file. The log's content first goes into the file that was opened, wherever that file is now.
  void take_log_away() {
    if (file.is_there()) return;
    const bool is_own = file.has_own_log();  // otherwise the log belongs to a newer file at this path
    SQLite::Statement(database, "PRAGMA wal_checkpoint(TRUNCATE)").tryExecuteStep();
    if (!is_own) return;
    std::error_code none;
    for (const auto* end : {"-wal", "-shm"}) std::filesystem::remove(file.path().string() + end, none);
  }

  /// Runs f() as one transaction that excludes other writers, or as a part of a transaction that has begun.
  template <class F>
  auto write(F&& f) {
    return use([&] {
      if (sqlite3_get_autocommit(database.getHandle()) == 0) return f();
      file.expect_there(database);
      SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
      const auto before = views_state(statements);
      const auto commit = [&] {
        if (views_state(statements) != before) write_views(database);
        transaction.commit();
      };
      if constexpr (std::is_void_v<decltype(f())>) {
        f();
        commit();
      } else {
        auto result = f();
        commit();
        return result;
      }
    });
  }
};

}  // namespace ablate::db
