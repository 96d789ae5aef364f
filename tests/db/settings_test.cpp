// A trial shows the settings that it was trained with, even if the history recorded other settings first.
#include <SQLiteCpp/SQLiteCpp.h>

#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

TEST_CASE("a trial shows the settings that its done attempt was trained with") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  auto recorded = trial("softmax", {}, 1);
  recorded["attention"]["heads"] = 2;
  auto trained = recorded;
  trained["attention"]["heads"] = 4, trained["attention"]["depth"] = 3;
  put(store, "study", {recorded});
  auto attempt = done(recorded, 50);
  attempt.resolved = trained;
  const auto shown = [&] {
    SQLite::Database database(file.string(), SQLite::OPEN_READONLY);
    const auto ask = [&](const std::string& path) {
      SQLite::Statement found(database, "SELECT number FROM parameters WHERE trial = 1 AND path = ?");
      found.bind(1, path);
      return found.executeStep() ? found.getColumn(0).getInt() : 0;
    };
    const auto document = nlohmann::json::parse(database.execAndGet("SELECT json FROM resolved").getString());
    CHECK(document["attention"].value("heads", 0) == ask("attention.heads"));
    return std::pair(ask("attention.heads"), ask("attention.depth"));
  };
  CHECK(shown() == std::pair(2, 0));
  store.put_attempt(attempt);
  CHECK(shown() == std::pair(4, 3));
  attempt.outcome = "failed", attempt.resolved = recorded, attempt.results.clear();
  store.put_attempt(attempt);
  CHECK(shown() == std::pair(4, 3));

  SECTION("a trial whose key a proof added keeps its own settings") {
    store.put_proof({.before = {{"runtime", 3}},
                     .now = {{"runtime", 4}},
                     .environment = {{"host", "here"}},
                     .aliases = {{"new key", 1, {{"runtime", 4}}}}});
    attempt.key = "new key", attempt.outcome = "done";
    store.put_attempt(attempt);
    SQLite::Database database(file.string(), SQLite::OPEN_READONLY);
    CHECK(database.execAndGet("SELECT number FROM parameters WHERE trial = 2 AND path = 'attention.heads'").getInt() == 2);
    CHECK(
        database.execAndGet("SELECT t.configuration = (SELECT configuration FROM trial WHERE id = 1) FROM trial t WHERE id = 2")
            .getInt() == 0);
  }
}
