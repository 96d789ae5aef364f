#include "db/history/other_history.h"

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "core/util/one_line.h"
#include "db/history/damage.h"
#include "db/history/files_beside.h"
#include "db/history/location.h"
#include "db/history/schema.h"
#include "db/history/stop_steps.h"

namespace ablate::db {
namespace {

/// Throws Error with the first fault. Reads the whole file, whatever its size: a page that is referenced twice could give
/// endless rows.
void expect_whole(SQLite::Database& database, const std::filesystem::path& file) {
  expect_sound(database, file);
  const auto found = database.execAndGet("PRAGMA quick_check(1)").getString();
  if (found != "ok") throw Error(damaged_text(file, one_line(found, 200)));
}

}  // namespace

std::filesystem::path OtherHistory::beside() const {
  constexpr std::size_t kDigits = 8;
  const auto run = file_.stem().extension().string();  // ".12ab34cd"
  if (!file_.filename().string().starts_with("share-") || file_.extension() != ".db" || run.size() != 1 + kDigits ||
      run.find_first_not_of("0123456789abcdef", 1) != std::string::npos)
    return file_;
  return file_.parent_path() / (file_.stem().stem().string() + ".db");
}

OtherHistory::OtherHistory(const std::filesystem::path& file) : file_(file), location_(reading_location(file)) {
  check_location(file);
  if (std::error_code none; !std::filesystem::exists(file, none))
    throw Error(
        fmt::format("no run history to merge: looked for {}", std::filesystem::absolute(file).lexically_normal().string()));
  const FilesBeside beside(file);
  guarded(file, [&] {
    SQLite::Database database(location_, SQLite::OPEN_READONLY | SQLite::OPEN_URI, kUsualPatienceMs);
    trust_nothing(database);
    const StopSteps stop(database);
    const int schema = schema_of(database, file);
    if (schema == 0)
      throw Error(fmt::format("{} is empty: expected a run history to merge, which `ablate run` makes", file.string()));
    expect_whole(database, file);
    if (schema == kSchema) return;
    folder_ = std::make_unique<ScratchFolder>();
    const auto path = folder_->path() / "copy.db";
    SQLite::Database copy(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    SQLite::Backup(copy, database).executeStep();
    trust_nothing(copy);
    const StopSteps stop_copy(copy);
    migrate(copy, path);
    location_ = reading_location(path);
  });
}

}  // namespace ablate::db
