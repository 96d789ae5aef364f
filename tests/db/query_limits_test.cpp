// Limits of an SQL query: its memory, and its time if the reader of its output is gone.
#include <string>
#include <system_error>

#include "db/questions/exports/query.h"
#include "tests/db/ask.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

TEST_CASE("an endless answer is refused before it exceeds the memory limit") {
  Folder folder;
  const auto file = folder / "a.db";
  { const Store store(file); }
  const std::string endless =
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT printf('%100000d', x) AS y FROM c";
  for (const auto format : {Format::kText, Format::kMarkdown, Format::kLatex, Format::kTypst, Format::kHtml}) {
    const auto error = error_of([&] { ask(file, endless, format); });
    CHECK(has(error, "LIMIT"));
    CHECK(has(error, "--format csv or json"));
  }
  CHECK(has(error_of([&] { ask(file, endless + " ORDER BY y DESC"); }), "more memory than 1024 MiB"));
  CHECK(has(error_of([&] { ask(file, "SELECT zeroblob(70000000)"); }), "more than 64 MiB"));
  CHECK(has(error_of([&] { ask(file, "SELECT 1 AS a WHERE 1 = ?"); }), "found the parameter ?"));
  CHECK(has(error_of([&] { ask(file, "SELECT :seed"); }), "found the parameter :seed"));
  CHECK(ask(file, "SELECT 1 AS a") == "a\n1\n");  // the limits end with the query
}

TEST_CASE("a query ends if its reader is gone") {
  Folder folder;
  const auto file = folder / "a.db";
  { const Store store(file); }
  int calls = 0;
  const auto twice = [&] { return ++calls < 3; };
  const std::string silent = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
  CHECK_THROWS_AS(run_query(
                      file, silent, Format::kCsv, [](std::string_view) {}, twice),
                  std::system_error);
  CHECK(calls >= 3);
}
