// Another history beside the one that is open. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "db/history/other_history.h"
#include "db/history/schema.h"
#include "db/history/stop_steps.h"

namespace ablate::db {

/// While it lives the other one's tables are other.NAME, for reading alone, and a signal ends what SQLite is doing. Made
/// outside of a transaction.
class Attached {
 public:
  Attached(SQLite::Database& database, const OtherHistory& other) : database_(database), file_(other.file()), stop_(database) {
    guarded(file_, [&] {
      SQLite::Statement attach(database, "ATTACH ? AS other");
      execute(attach, other.location());
    });
  }
  ~Attached() { database_.tryExec("DETACH other"); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

  /// Runs f(), within a transaction. What of the other file's rows no history takes is that file's fault, and told so.
  template <class F>
  auto take(F&& f) const {
    try {
      return f();
    } catch (const SQLite::Exception& exception) {
      switch (exception.getErrorCode() & 0xFF) {
        case SQLITE_CONSTRAINT:
        case SQLITE_CORRUPT:
        case SQLITE_ERROR:
        case SQLITE_MISMATCH:
          throw Error(
              fmt::format("{} cannot be merged: found rows that are not as ablate writes them ({}). Nothing of it was taken; "
                          "`ablate db check --db FILE` looks a history through",
                          file_.string(), exception.what()));
        default:
          throw;
      }
    }
  }

 private:
  SQLite::Database& database_;
  std::filesystem::path file_;
  StopSteps stop_;
};

}  // namespace ablate::db
