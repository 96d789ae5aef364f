// Checkpoints beside a history: removal, reports, and lists.
#include <SQLiteCpp/SQLiteCpp.h>

#include <nlohmann/json.hpp>

#include "core/records/checkpoint_files.h"
#include "db/history/artifacts.h"
#include "db/history/experiments.h"
#include "db/questions/attempts/show_attempt.h"
#include "tests/db/commands.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"
#include "tools/ablate/keeping/keeping.h"

using namespace ablate;
using namespace ablate::db;

namespace {

namespace fs = std::filesystem;

const auto kOne = trial("softmax", {}, 1), kTwo = trial("softmax", {}, 2), kThree = trial("linear", {}, 1);

std::string uid(char digit) { return std::string(32, digit); }

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

fs::path put_checkpoint(const fs::path& history, const std::string& key, int step, int age, std::size_t bytes = 100) {
  const auto file = artifact_folder(history, kCheckpoints) / checkpoint_name(uid('a'), 7, key, step);
  write(file, std::string(bytes, 'x'));
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::seconds(age));
  return file;
}

}  // namespace

TEST_CASE("names of checkpoints are parsed as they are written, and other names are refused") {
  const auto name = checkpoint_name("0wner", 7, key_of(kOne), 12);
  CHECK(name == "0wner-7-" + key_of(kOne).substr(0, 32) + "-12.checkpoint");
  const auto file = checkpoint_file("/x/" + name);
  REQUIRE(file);
  CHECK(file->owner == "0wner");
  CHECK(file->fence == 7);
  CHECK(file->trial == checkpoint_trial(key_of(kOne)));
  CHECK(file->step == 12);
  CHECK_FALSE(file->is_part);
  CHECK(checkpoint_file(name + ".123")->is_part);
  REQUIRE(checkpoint_file("a-1-b-1.checkpoint"));
  for (const char* none :
       {"notes.txt", "a-1-b.checkpoint", "-1-b-1.checkpoint", "a-1-b-.checkpoint", "a-1-b-1.checkpoint.x",
        "a-1-b-1x.checkpoint", "A-1-b-1.checkpoint", "a-1-b-1.checkpoints", "a-1-b-1.checkpoint.", "a-1-b-1.checkpoint.1.",
        "a-1-b-1.checkpoint.1.2", "a-x-b-1.checkpoint", "a-b-1.checkpoint", "a-1-b-1-1.checkpoint", ".checkpoint", ""})
    CHECK_FALSE(checkpoint_file(none));
}

TEST_CASE("checkpoints of done trials and the oldest other checkpoints are removed; checkpoints of a running trial stay") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  put(store, "study", {kOne, kTwo, kThree});
  const auto other = trial("linear", {}, 2);
  const auto old = put_checkpoint(file, key_of(kOne), 10, 30), newer = put_checkpoint(file, key_of(kOne), 20, 10);
  const auto done_file = put_checkpoint(file, key_of(kTwo), 10, 5), running = put_checkpoint(file, key_of(kThree), 10, 50);
  const auto unknown = put_checkpoint(file, key_of(other), 10, 20);
  write(artifact_folder(file, kCheckpoints) / "notes.txt", "of a person");
  CHECK(store.tidy_checkpoints({key_of(kThree)}, 400).files == 0);
  CHECK(fs::exists(done_file));

  auto cut = done(kOne, 1);
  cut.uid = uid('a'), cut.outcome = "interrupted";
  cut.artifacts = {{kCheckpoints, 100, 100, old.filename().string()}};
  store.put_attempt(cut);
  store.put_attempt(done(kTwo, 1));
  CHECK(store.tidy_checkpoints({key_of(kThree), key_of(kTwo)}, 1000).files == 0);
  CHECK(fs::exists(done_file));  // stays, because its trial runs again
  CHECK(store.tidy_checkpoints({key_of(kThree)}, 299).files == 1);
  CHECK_FALSE(fs::exists(done_file));
  CHECK_FALSE(fs::exists(old));
  for (const auto& kept : {newer, running, unknown}) CHECK(fs::exists(kept));
  CHECK(show_attempt(Reader(file), "1").at("files").at(0).at("removed_us") > 0);
  CHECK(show_attempt(Reader(file), "1").at("files").at(0).at("kind") == "checkpoints");

  CHECK(store.tidy_checkpoints({}, 200).files == 1);
  CHECK_FALSE(fs::exists(running));
  store.remove_checkpoints(key_of(kOne));
  CHECK_FALSE(fs::exists(newer));
  CHECK(fs::exists(unknown));
  CHECK(content(artifact_folder(file, kCheckpoints) / "notes.txt") == "of a person");
}

TEST_CASE("checkpoints of a killed run are listed, and removed with their experiment") {
  Commands ablate;
  ablate.add = [](CLI::App& app, const DatabaseFile& database, int& exit_code) { add_db(app, database, exit_code); };
  {
    Store store(ablate.file());
    put(store, "gone", {kTwo});
    put(store, "kept", {kThree});
  }
  const auto gone = put_checkpoint(ablate.file(), key_of(kTwo), 10, 0),
             kept = put_checkpoint(ablate.file(), key_of(kThree), 10, 0);
  const auto checked = ablate("db check");
  CHECK(has(checked, "a.db.checkpoints: 2 files, 200 bytes"));
  CHECK(has(checked, ".checkpoint: of a running or interrupted trial; the next run of its study resumes from it\n"));
  const auto going = deletion_of(Reader(ablate.file()), "gone");
  CHECK(going.files.files == 1);
  CHECK(delete_experiment(ablate.file(), "gone", going, true, ablate.file().parent_path() / "backup.db").files == 1);
  CHECK_FALSE(fs::exists(gone));
  CHECK(fs::exists(kept));
}

TEST_CASE("an attempt shows the step from which it resumed, and the attempt that saved the checkpoint") {
  Commands ablate;
  ablate.add = add_questions;
  {
    Store store(ablate.file());
    put(store, "study", {kTwo});
    auto cut = done(kTwo, 1);
    cut.uid = uid('a'), cut.outcome = "interrupted";
    store.put_attempt(cut);
    auto went_on = done(kTwo, 1);
    went_on.environment["resumed"] = {{"step", 30}, {"attempt", uid('a')}, {"processor", "an Old One"}};
    store.put_attempt(went_on);
    went_on.environment["resumed"] = {{"step", 40}, {"attempt", uid('b')}};
    store.put_attempt(went_on);
    went_on.environment["resumed"] = "a lie";
    store.put_attempt(went_on);
    went_on.environment["resumed"] = {
        {"step", 50}, {"attempt", uid('a')}, {"environments", {{{"variables", {{"X", nullptr}}}}, {{"kernels", "avx2"}}}}};
    store.put_attempt(went_on);
  }
  CHECK_FALSE(has(ablate("show 3"), "went on"));
  CHECK(has(ablate("show 4"), "went on     after step 30 of attempt 3, which ran on another processor, an Old One\n"));
  CHECK(has(ablate("show 5"), "went on     after step 40 of an attempt that was killed before it was recorded\n"));
  CHECK_FALSE(has(ablate("show 6"), "went on  "));
  CHECK(has(ablate("show 7"),
            "went on     after step 50 of attempt 3, computed in another environment: variables.X = unset; "
            "before that, kernels = avx2\n"));
}

TEST_CASE("checkpoints of a leased trial stay; if only another host reports a trial as running, its checkpoints are removed") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  put(store, "study", {kOne, kTwo});
  const auto slot = store.add_owner([](std::int64_t) { return true; }, [](const LeaseOwner&, bool) { return false; });
  store.take_lease(key_of(kOne), slot, 0, false, [](const LeaseOwner&) { return false; });
  const auto leased = put_checkpoint(file, key_of(kOne), 10, 50), reported = put_checkpoint(file, key_of(kTwo), 10, 40);
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
      .exec("INSERT INTO running VALUES ('another host', 1, 1, '" + key_of(kTwo) + "', 0, 0, 0, NULL)");
  store.tidy_checkpoints({}, 0);
  CHECK(fs::exists(leased));
  CHECK_FALSE(fs::exists(reported));
  store.remove_owner(slot, [] {});
  store.tidy_checkpoints({}, 0);
  CHECK_FALSE(fs::exists(leased));
}
