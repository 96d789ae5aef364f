#include "db/history/patience.h"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "core/util/stop_on_signal.h"

namespace ablate::db {
namespace {

constexpr int kBetweenTriesMs = 10, kPatienceAskedToStopMs = 200;

/// @return 0 to wait no more
int wait(void* milliseconds, int tries) {
  const auto most = reinterpret_cast<std::intptr_t>(milliseconds);
  if (tries * kBetweenTriesMs >= (asked_to_stop != 0 ? std::min<std::intptr_t>(most, kPatienceAskedToStopMs) : most)) return 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(kBetweenTriesMs));
  return 1;
}

}  // namespace

void set_patience(SQLite::Database& database, int milliseconds) {
  sqlite3_busy_handler(database.getHandle(), wait, reinterpret_cast<void*>(static_cast<std::intptr_t>(milliseconds)));
}

}  // namespace ablate::db
