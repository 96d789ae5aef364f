// Lets Ctrl-C end SQLite's current work. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include "core/util/stop_on_signal.h"

namespace ablate::db {

/// While this object lives, a signal to stop (StopOnSignal) ends a statement, and fail() of schema.h throws Interrupted.
class StopSteps {
 public:
  explicit StopSteps(SQLite::Database& database) : database_(database) {
    constexpr int kStepsBetweenLooks = 10'000;
    sqlite3_progress_handler(
        database_.getHandle(), kStepsBetweenLooks, [](void*) { return asked_to_stop != 0 ? 1 : 0; }, nullptr);
  }
  ~StopSteps() { sqlite3_progress_handler(database_.getHandle(), 0, nullptr, nullptr); }
  StopSteps(const StopSteps&) = delete;
  StopSteps& operator=(const StopSteps&) = delete;

 private:
  SQLite::Database& database_;
};

}  // namespace ablate::db
