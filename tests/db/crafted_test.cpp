// A run history whose pages were crafted by hand, perhaps by an attacker.
#include <SQLiteCpp/SQLiteCpp.h>

#include <fstream>

#include "db/questions/attempts/list_attempts.h"
#include "db/questions/attempts/show_attempt.h"
#include "db/questions/exports/query.h"
#include "db/questions/tables/make_table.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

constexpr int kLevels = 16, kChildren = 64;

void put_number(std::string& bytes, std::size_t at, std::size_t number, int size) {
  for (int i = 0; i < size; ++i) bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(number >> (8 * (size - 1 - i)));
}

/// Returns an inner page of an index's b-tree (SQLite's file format, 1.6) whose children are all the same page.
/// @param entry an entry of the index: its size in one byte, below 128, and then its content
std::string inner_page(std::size_t size, std::size_t child, const std::string& entry) {
  constexpr std::size_t kHeader = 12;
  const auto cell = 4 + entry.size();
  std::string page(size, '\0');
  page[0] = 2;
  put_number(page, 3, kChildren, 2);
  put_number(page, 5, size - cell * kChildren, 2);
  put_number(page, 8, child, 4);
  for (std::size_t i = 0; i < kChildren; ++i) {
    const auto at = size - cell * (i + 1);
    put_number(page, kHeader + 2 * i, at, 2);
    put_number(page, at, child, 4);
    page.replace(at + 4, entry.size(), entry);
  }
  return page;
}

/// Repeats the first entry of an index more than 64^15 times.
void multiply(const std::filesystem::path& file, const std::string& index) {
  std::size_t root = 0, size = 0;
  {
    SQLite::Database database(file.string());
    SQLite::Statement ask(database, "SELECT rootpage FROM sqlite_master WHERE name = ?");
    ask.bind(1, index);
    REQUIRE(ask.executeStep());
    root = ask.getColumn(0).getUInt() - 1;
    size = database.execAndGet("PRAGMA page_size").getUInt();
  }
  auto bytes = content(file);
  const auto leaf = bytes.substr(root * size, size);
  REQUIRE(leaf[0] == 10);  // a leaf page of an index
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(leaf[at])); };
  const auto first = byte(8) << 8 | byte(9);
  const auto entry = leaf.substr(first, 1 + byte(first));
  bytes += leaf;
  auto last = bytes.size() / size;
  for (int level = 1; level < kLevels; ++level) bytes += inner_page(size, last, entry), ++last;
  bytes.replace(root * size, size, inner_page(size, last, entry));
  put_number(bytes, 28, last, 4);  // number of pages in the file
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace

TEST_CASE("commands that read endless pages report the fault and exit") {
  Folder folder;
  const auto file = folder / "a.db";
  {
    Store store(file);
    put(store, "study", {trial("softmax", {}, 1), trial("softmax", {}, 2)});
    store.put_attempt(done(trial("softmax", {}, 1), 60.5));
    store.put_attempt(failed(trial("softmax", {}, 2), "signal 11"));
  }
  CHECK(make_table(Reader(file), {}).trials == 2);
  const auto refused = [&](const std::function<void()>& read) {
    const auto why = error_of(read);
    INFO(why);
    CHECK(has(why, "a.db is a damaged SQLite database"));
    CHECK(has(why, "its pages refer to one another in a cycle"));
    CHECK(has(why, ".recover"));
  };
  SECTION("names of metrics") {
    multiply(file, "sqlite_autoindex_metric_1");
    refused([&] { list_attempts(Reader(file), {}); });
    refused([&] { show_attempt(Reader(file), "1"); });
  }
  SECTION("attempts at a trial: a person's query is answered, and Ctrl-C ends it") {
    multiply(file, "attempt_by_trial");
    refused([&] { make_table(Reader(file), {}); });
    std::string rows;
    run_query(file, "SELECT count(*) AS n FROM (SELECT 1 FROM attempt INDEXED BY attempt_by_trial LIMIT 9000000)", Format::kCsv,
              [&](std::string_view part) { rows += part; });
    CHECK(rows == "n\n9000000\n");
  }
}
