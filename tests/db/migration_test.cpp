// A history of the previous schema is migrated when it is opened for writing. A merge migrates a copy.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "db/history/schema.h"
#include "db/questions/tables/make_table.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

void write_old(const std::filesystem::path& file) {
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec(content(std::filesystem::path(ABLATE_SOURCE_DIR) / "tests/db/schema23.sql"));
}

std::string ask(const std::filesystem::path& file, const std::string& sql) {
  return SQLite::Database(file.string()).execAndGet("SELECT coalesce((" + sql + "), '')").getString();
}

/// Returns every column, key, reference, index and view of a file.
std::string schema_text(const std::filesystem::path& file) {
  std::string all;
  for (const auto* of : {"name || cid || type || \"notnull\" || ifnull(dflt_value, '-') || pk, pragma_table_info",
                         "\"table\" || \"from\" || ifnull(\"to\", '-'), pragma_foreign_key_list",
                         "name || \"unique\" || origin || partial, pragma_index_list"}) {
    const std::string text(of), row = text.substr(0, text.rfind(',')), pragma = text.substr(text.rfind(' '));
    all +=
        ask(file, fmt::format("SELECT group_concat(one, x'0a') FROM (SELECT m.name || ' ' || (SELECT group_concat({}) FROM {}"
                              "(m.name)) AS one FROM sqlite_master m WHERE m.type = 'table' ORDER BY m.name)",
                              row, pragma));
  }
  return all + ask(file, "SELECT group_concat(sql) FROM (SELECT sql FROM sqlite_master WHERE type = 'index' ORDER BY name)") +
         ask(file, "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name)");
}

}  // namespace

TEST_CASE("a file of schema 23 is migrated with all its content, including its proofs") {
  Folder folder;
  const auto file = folder / "old.db", fresh = folder / "new.db";
  write_old(file);
  CHECK(has(error_of([&] { Reader reader(file); }), fmt::format("found schema 23, expected {}", kSchema)));
  const auto keys = ask(file, "SELECT group_concat(key) FROM (SELECT key FROM alias ORDER BY key)");
  Store store(file);
  { const Store other(fresh); }
  CHECK(schema_text(file) == schema_text(fresh));
  CHECK(ask(file, "SELECT count(*) FROM pragma_foreign_key_check") == "0");
  CHECK(ask(file, "SELECT group_concat(seed || ':' || \"test/accuracy\", ' ') FROM trials") == "1:9.375 2:7.8125 3:5.859375");
  CHECK(ask(file, "SELECT group_concat(key) FROM (SELECT key FROM alias ORDER BY key)") == keys);
  CHECK(ask(file, "SELECT group_concat(proof || ':' || attempts || ':' || trials, ' ') FROM proofs") == "1:1:2 2:3:3");
  const auto notes = make_table(Reader(file), {.experiments = {"old"}}).notes;
  for (const auto* note : {"2 trials ran under earlier code and count because of proof 1 (",
                           "2 trials ran under earlier code and count because of proof 2 ("})
    CHECK(std::any_of(notes.begin(), notes.end(), [&](const auto& one) { return one.starts_with(note); }));
  // Two keys of the second proof depend on the first proof.
  CHECK(store.delete_proof(1) == 4);
  CHECK(ask(file, "SELECT group_concat(proof || ':' || trials) FROM proofs") == "2:1");
}

TEST_CASE("a file of schema 23 is merged through a copy, and stays unchanged") {
  Folder folder;
  const auto old = folder / "old.db";
  write_old(old);
  const auto before = content(old);
  Store store(folder / "new.db");
  const OtherHistory other(old);
  CHECK(other.is_copied());
  CHECK(store.merge(other).attempts == 3);
  CHECK(content(old) == before);
  CHECK(ask(folder / "new.db", "SELECT count(*) FROM alias") == "5");
}
