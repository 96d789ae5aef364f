#include <sstream>

#include "plugins/listops/expression.h"
#include "tests/support/catch.h"

using namespace ablate::listops;

namespace {

std::vector<Symbol> parse(const std::string& text) {
  std::istringstream words(text);
  std::vector<Symbol> symbols;
  for (std::string word; words >> word;) symbols.push_back(to_symbol(word).value());
  return symbols;
}

int value(const std::string& text) { return Evaluator()(parse(text)); }

std::string fault(const std::vector<Symbol>& symbols) {
  try {
    Evaluator()(symbols);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("operators follow their definitions") {
  CHECK(value("7") == 7);
  CHECK(value("[MIN 4 2 9 ]") == 2);
  CHECK(value("[MAX 4 2 9 ]") == 9);
  CHECK(value("[MAX 0 0 ]") == 0);
  CHECK(value("[MED 9 1 5 ]") == 5);
  CHECK(value("[MED 2 9 2 3 1 ]") == 2);
  CHECK(value("[MED 1 4 ]") == 2);      // 2.5, truncated
  CHECK(value("[MED 8 9 ]") == 8);      // 8.5
  CHECK(value("[MED 9 0 6 3 ]") == 4);  // (3 + 6) / 2 = 4.5
  CHECK(value("[MED 2 4 9 0 ]") == 3);  // (2 + 4) / 2, exact
  CHECK(value("[SM 3 4 ]") == 7);
  CHECK(value("[SM 9 9 9 ]") == 7);
  CHECK(value("[SM 5 5 ]") == 0);
}

TEST_CASE("expressions nest") {
  CHECK(value("[MAX 2 9 [MIN 4 7 ] 0 ]") == 9);  // Nangia and Bowman 2018, figure 1
  CHECK(value("[SM [MED 1 4 ] [MAX 3 [SM 9 8 ] ] 6 ]") == 5);
  CHECK(value("[MIN [MIN [MIN 5 6 ] 7 ] 4 ]") == 4);
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "[SM 1 ";
  deep += "0 ";
  for (int i = 0; i < 100000; ++i) deep += "] ";
  CHECK(value(deep) == 0);  // 100,000 nested sums, which recursion could not parse
}

TEST_CASE("ill-formed expressions are refused with the position of the fault") {
  CHECK(fault({}).find("empty") != std::string::npos);
  CHECK(fault(parse("[MAX 1 2")).find("1 ']' missing") != std::string::npos);
  CHECK(fault(parse("[MAX [MIN 1 2 ]")).find("1 ']' missing") != std::string::npos);
  CHECK(fault(parse("]")).find("closes nothing at symbol 1") != std::string::npos);
  CHECK(fault(parse("1 2")).find("goes on with '2' at symbol 2") != std::string::npos);
  CHECK(fault(parse("[SM 1 2 ] ]")).find("goes on with ']' at symbol 5") != std::string::npos);
  CHECK(fault(parse("[SM 1 [MED ] ]")).find("'[MED' without arguments ends at symbol 4") != std::string::npos);
  CHECK(fault({0}).find("id 0 is no symbol") != std::string::npos);
}

TEST_CASE("ids are fixed, and texts are the published texts") {
  const char* texts[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "[MIN", "[MAX", "[MED", "[SM", "]"};
  for (int id = 1; id <= 15; ++id) {
    CHECK(to_text(static_cast<Symbol>(id)) == texts[id - 1]);
    CHECK(to_symbol(texts[id - 1]) == static_cast<Symbol>(id));
  }
  for (const char* text : {"", "10", "MAX", "[max", "(", "[", "a"}) CHECK_FALSE(to_symbol(text).has_value());
}
