// The open file behind a Store: what is asked and written there, and what its faults mean. Internal to db/.
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

/// Sets how long a writer waits for another process's lock. SQLite's own busy timeout outlasts a signal. After a signal to stop
/// (core/util/stop_on_signal.h), the wait ends within a fifth of a second.
void set_patience(SQLite::Database& database, int milliseconds);

/// A file as it was when this was made.
class OpenedFile {
 public:
  explicit OpenedFile(const std::filesystem::path& file);

  /// Throws Gone where the path no longer leads to that file, its write-ahead log was taken away (another process would begin a
  /// log of its own, and what is in this one would be lost), or the file was emptied or overwritten with what is no database.
  /// SQLite would not see that: while its log has the pages that it needs, it does not look at the file. Nothing is opened for
  /// it, since closing it again would release the locks that SQLite holds for this process.
  /// @param database the connection that has the file open
  void expect_there(SQLite::Database& database);
  /// Whether the path still leads to that file.
  bool is_there() const;

  /// Whether the write-ahead log that lies beside the path is that file's.
  bool has_own_log() const;

  const std::filesystem::path& path() const { return path_; }  ///< absolute, without links: what lies beside it lies there

 private:
  std::filesystem::path path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  ino_t log_ = 0;  ///< the log's inode; 0: there was none yet
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

  /// Runs f() on the open file. What was a history when it was opened and is none now is gone, and what cannot be opened now,
  /// as the write-ahead log, lacks a descriptor or memory for the moment.
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

  /// Where the file is gone, its write-ahead log still lies beside the place: SQLite would replay it onto whatever file comes
  /// there next, and damage that. What is in it goes into the file that was opened, wherever that is now.
  void take_log_away() {
    if (file.is_there()) return;
    const bool is_own = file.has_own_log();  // else it is of what came in its place since
    SQLite::Statement(database, "PRAGMA wal_checkpoint(TRUNCATE)").tryExecuteStep();
    if (!is_own) return;
    std::error_code none;
    for (const auto* end : {"-wal", "-shm"}) std::filesystem::remove(file.path().string() + end, none);
  }

  /// f() as one transaction that nobody else writes beside, or as a part of one that is begun.
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
