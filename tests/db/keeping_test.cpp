// Checks, copies, rescues and compaction of the run history.
#include "db/history/keeping.h"

#include <sqlite3.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "db/history/artifacts.h"
#include "db/history/experiments.h"
#include "db/history/reader.h"
#include "tests/db/ask.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

/// Changes the file without ablate, like another program.
void change(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  CHECK(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

void fill(Store& store) {
  std::vector<nlohmann::json> trials;
  for (int seed = 1; seed <= 40; ++seed) trials.push_back(trial("softmax", {}, seed));
  put(store, "study", trials);
  for (const auto& one : trials) store.put_attempt(done(one, 60.5));
}

void make(const std::filesystem::path& file) {
  Store store(file);
  fill(store);
}

const std::string kAll = "SELECT * FROM trials ORDER BY trial";

}  // namespace

TEST_CASE("a history has the same name through any link") {
  Folder folder;
  const auto real = folder / "real.db", link = folder / "link.db";
  { const Store made(real); }
  std::filesystem::create_symlink("real.db", link);
  const Store store(link);
  CHECK(store.file() == real);
  CHECK(artifact_folder(link, kOutput) == artifact_folder(real, kOutput));
}

TEST_CASE("a history with two hard links can be read, but is never written, by either name") {
  Folder folder;
  const auto real = folder / "real.db", other = folder / "other.db";
  make(real);
  std::filesystem::create_hard_link(real, other);
  for (const auto& file : {real, other}) {
    CHECK(has(error_of([&] { const Store store(file); }), file.string() + " has 2 names (hard links), expected one"));
    CHECK(has(error_of([&] { compact(file); }), "hard links"));
    CHECK(has(error_of([&] { tag_experiment(file, "study", {"tag"}); }), "hard links"));
    CHECK(has(ask(file, kAll), "softmax"));
  }
  const auto message = error_of([&] { const Store store(other); });
  const auto from = message.find('`') + 1;  // the remedy in the message
  REQUIRE(std::system(message.substr(from, message.find('`', from) - from).c_str()) == 0);
  CHECK(Store(other).file() == other);
  CHECK(Store(real).file() == real);
}

TEST_CASE("a rescue does not overwrite a file that another process writes") {
  Folder folder;
  Store store(folder / "a.db");
  const auto file = folder / "a.rescued.db";
  std::ofstream(file) << "another's";
  CHECK_THROWS_WITH(store.rescue(file), Catch::Contains("it exists"));
  CHECK(std::filesystem::file_size(file) == 9);
  std::filesystem::remove(file);
  store.rescue(file);
  CHECK(Store(file).leases().held.empty());
}

TEST_CASE("a rescue does not change the log of a history that has replaced the file") {
  Folder folder;
  const auto file = folder / "a.db", to = folder / "rescued.db";
  Store store(file);
  const auto one = trial("softmax", {}, 1);
  put(store, "study", {one});
  store.put_attempt(done(one, 70));
  std::filesystem::rename(file, folder / "moved.db");
  for (const auto* part : {"-wal", "-shm"}) std::filesystem::remove(file.string() + part);
  Store other(file);
  put(other, "another", {one});
  REQUIRE(std::filesystem::file_size(file.string() + "-wal") > 0);
  store.rescue(to);
  CHECK(Reader(to).experiments() == std::vector<std::string>{"study"});
  for (const auto* part : {"-wal", "-shm"}) CHECK(std::filesystem::exists(file.string() + part));
  CHECK(Reader(file).experiments() == std::vector<std::string>{"another"});
}

TEST_CASE("a sound history passes the check; a page of zeros and a dangling row are reported as faults") {
  Folder folder;
  const auto file = folder / "a.db";
  make(file);
  CHECK(faults(file).empty());
  change(file, "DELETE FROM experiment");
  const auto dangling = faults(file);
  REQUIRE_FALSE(dangling.empty());
  CHECK(has(dangling.front(), "points to a missing row of experiment"));
  std::fstream pages(file, std::ios::in | std::ios::out | std::ios::binary);
  pages.seekp(static_cast<std::streamoff>(std::filesystem::file_size(file) / 4096 / 2 * 4096));
  pages.write(std::string(4096, '\0').data(), 4096);
  pages.close();
  std::vector<std::string> found;
  const auto error = error_of([&] { found = faults(file); });
  CHECK((!error.empty() || found.size() > dangling.size()));
}

TEST_CASE("a backup is a separate history, also while another program writes, and never overwrites a file") {
  Folder folder;
  const auto file = folder / "a.db", copy = folder / "copy.db";
  Store store(file);
  fill(store);
  store.together([&] {  // the copy is made during an unfinished write, and has the state before it
    store.put_attempt(done(trial("softmax", {}, 1), 99));
    back_up(file, copy);
  });
  CHECK(ask(copy, "SELECT count(*) AS n FROM attempts") == "n\n40\n");
  CHECK(faults(copy).empty());
  const auto before = content(copy);
  CHECK(has(error_of([&] { back_up(file, copy); }), "the file exists already"));
  CHECK(content(copy) == before);
  CHECK(has(error_of([&] { back_up(file, folder / "none" / "copy.db"); }), "none"));
  CHECK(has(error_of([&] { back_up(folder / "missing.db", folder / "b.db"); }), "no run history"));
  CHECK_FALSE(std::filesystem::exists(folder / "missing.db"));
  CHECK(has(error_of([&] { back_up(file, "/proc/copy.db"); }), "cannot be copied into /proc/copy.db: unable to open"));
  const auto unwritable = folder / "large.db";
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const auto handled = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{8 << 10, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto error = error_of([&] { back_up(file, unwritable); });
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handled);
  INFO(error);
  CHECK(has(error, unwritable.string()));
  CHECK_FALSE(has(error, file.string()));
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) files += has(entry.path().string(), ".part");
  CHECK(files == 0);
}

TEST_CASE("a compacted history is smaller with the same content; a history in use is not compacted") {
  Folder folder;
  const auto file = folder / "a.db";
  make(file);
  change(file,
         "CREATE TABLE waste AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 500) SELECT "
         "randomblob(1000) AS b FROM c; DROP TABLE waste");
  const auto rows = ask(file, kAll);
  const auto made = compact(file);
  CHECK(made.after + 400'000 < made.before);
  CHECK(std::filesystem::file_size(file) == made.after);
  CHECK(ask(file, kAll) == rows);
  CHECK(faults(file).empty());
  CHECK(has(error_of([&] { compact(folder / "missing.db"); }), "no run history"));

  Store store(file);
  store.together([&] {
    store.put_attempt(done(trial("softmax", {}, 1), 99));
    CHECK(has(error_of([&] { compact(file); }), "locked"));
  });
}
