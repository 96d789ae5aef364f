// A shared folder whose file system disappears during a share, and returns.
#include <SQLiteCpp/SQLiteCpp.h>

#include "core/host/shares/share_files.h"
#include "core/host/shares/shared_copy.h"
#include "core/host/shares/shares_plan.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"
#include "tests/support/set_clock.h"

using namespace ablate;
using namespace ablate::db;
namespace fs = std::filesystem;

namespace {

struct Place {
  Place() {
    fs::create_directories(shared);
    write_shares(plan_of_shares(shared), plan);
  }
  /// Makes the folder look like a mount point without its file system.
  void unmount() const {
    fs::rename(shared, away);
    fs::create_directories(shared);
  }

  Folder folder;
  const fs::path shared = folder / "shared", away = folder / "away", history = folder / "history.db";
  const SharesPlan plan{"study", 1, {{"key", "label", 1, 0}}};
};

ExitCode code_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    CHECK(has(error.what(), " is not the folder that this share began with: found "));
    return error.code();
  }
  return ExitCode::kDone;
}

}  // namespace

TEST_CASE("a share writes and removes nothing below an unmounted shared folder, and copies all when it is back") {
  const Place place;
  SetClock clock;
  std::vector<std::string> notes;
  SharedCopy own(
      place.history, place.shared, 0, [&](const std::string& line) { notes.push_back(line); }, clock);
  own.bring();
  const auto one = trial("softmax", {}, 1);
  Store store(place.history);
  put(store, "study", {one});
  store.put_attempt(done(one, 61));
  place.unmount();
  const auto part = place.shared / "share-0.0123abcd.db.77";
  std::ofstream(part) << "half";
  fs::last_write_time(part, fs::file_time_type::clock::now() - std::chrono::hours(2));
  own.keep_up(1);
  REQUIRE(notes.size() == 1);
  CHECK(has(notes[0], "is not the folder that this share began with: found another"));
  CHECK(code_of([&] { own.finish(); }) == ExitCode::kAgain);
  CHECK(std::distance(fs::directory_iterator(place.shared), {}) == 1);
  fs::remove_all(place.shared);
  CHECK(code_of([&] { own.finish(); }) == ExitCode::kAgain);
  CHECK_FALSE(fs::exists(place.shared));

  fs::rename(place.away, place.shared);
  own.finish();
  CHECK(SQLite::Database(own.copy_file().string()).execAndGet("SELECT count(*) FROM attempt").getInt() == 1);
}

TEST_CASE("a remounted shared folder is recognized by its plan; a folder with another plan or no plan is refused") {
  const Place place;
  SharedFolderMark mark(place.shared);
  mark.expect();
  place.unmount();
  CHECK(code_of([&] { mark.expect(); }) == ExitCode::kAgain);
  write_shares(plan_of_shares(place.shared), place.plan);  // equal trials, from a share that started in the empty mount point
  CHECK(code_of([&] { mark.expect(); }) == ExitCode::kAgain);
  fs::copy_file(plan_of_shares(place.away), plan_of_shares(place.shared), fs::copy_options::overwrite_existing);
  mark.expect();
  CHECK(digest_of(read_shares(plan_of_shares(place.shared))) == digest_of(place.plan));

  std::ofstream(plan_of_shares(place.shared)) << shares_document(place.plan);  // format of an earlier version
  SharedFolderMark old(place.shared);
  old.expect();
  fs::rename(place.shared, place.folder / "old");
  fs::copy(place.folder / "old", place.shared);
  CHECK(code_of([&] { old.expect(); }) == ExitCode::kAgain);
}
