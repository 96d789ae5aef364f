// Comma-separated text in the variants of different programs (core/util/csv.h).
#include "core/util/csv.h"

#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::string& text) {
  Rows rows;
  for (const auto& record : read_csv(text, "a.csv")) rows.push_back(record.fields);
  return rows;
}

std::string refusal_of(const std::string& text) {
  return error_of([&] { read_csv(text, "a.csv"); });
}

}  // namespace

TEST_CASE("records follow RFC 4180, with any line end, with a byte order mark, and without a last line end") {
  const Rows expected = {{"a", "b", "c"}, {"1", "", "x, \"y\"\nz"}};
  for (const std::string end : {"\n", "\r\n", "\r"})
    for (const std::string mark : {"", "\xEF\xBB\xBF"})
      for (const std::string& last : {std::string(), end, end + end})
        CHECK(rows_of(mark + "a,b,c" + end + end + "1,,\"x, \"\"y\"\"\nz\"" + last) == expected);
  CHECK(rows_of("").empty());
  CHECK(rows_of("a,b\n\"\",\n") == Rows{{"a", "b"}, {"", ""}});
  CHECK(rows_of("a\n\"x\r\ny\"\nz") == Rows{{"a"}, {"x\r\ny"}, {"z"}});
  CHECK(rows_of("größe\n\"é\"\n") == Rows{{"größe"}, {"é"}});
}

TEST_CASE("a record stores the line on which it begins, and lines within quotes count") {
  const auto records = read_csv("a\n\n\"x\ny\r\nz\"\nlast\n", "a.csv");
  REQUIRE(records.size() == 3);
  CHECK(records[1].line == 3);
  CHECK(records[2].line == 6);
}

TEST_CASE("text that is not CSV is refused with its line") {
  CHECK(has(refusal_of("a,b\n1,2\n1,2,3\n"), "a.csv:3: found 3 fields, expected 2 as in the header"));
  CHECK(has(refusal_of("a\nx\n\"y\nz\n"), "a.csv:3: found a field whose quote is never closed"));
  CHECK(has(refusal_of("a,b\nx\"y,2\n"), "a.csv:2: found a double quote inside a field"));
  CHECK(has(refusal_of("a,b\n\"x\"y,2\n"), "a.csv:2: found text behind a closing quote"));
  CHECK(has(refusal_of("a,b\n1,\xFF\n"), "a.csv:2: field 2 is no UTF-8"));
  CHECK(has(refusal_of("a,b\n1,\x1b[31m\n"), "a.csv:2: field 2 holds a control character"));
  CHECK(has(refusal_of("a;b\n1;2\n"), "a.csv:1: found semicolons, expected commas"));
  CHECK(has(refusal_of("a\tb\n"), "found tabs, expected commas"));
  CHECK(has(refusal_of(std::string("\xFF\xFE") + "a"), "found UTF-16, expected UTF-8"));
}
