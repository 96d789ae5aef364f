// Comments and white space do not count as code, and no code is read as a comment or white space.
#include "tools/identity/code.h"

#include "tests/support/catch.h"

using ablate::identity::read_code;

TEST_CASE("comments and white space do not change the code identity") {
  const auto [left, right] = GENERATE(table<std::string, std::string>({
      {"int x=a+b;", "int  x = a + b ; // sum"},
      {"int x;", "/* what\n it is */ int\n\n x\t;\r\n"},
      {"f(1, -2)", "f( 1,-2 )"},
      {"#define A 1\n", "  #  define  A  1  // one\n"},
      {"#define A(x) x\n", "#define A(x)   x\n"},
      {"#define A b c\n", "#define A b \\\n c\n"},
      {"int ab;", "int a\\\nb;"},
      {"x; // a \\\n still a comment\ny;", "x; y;"},
      {"#include <vector>\n", "#include<vector> // for all\n"},
      {"size - 1; x = -1;", "size-1;x=-1;"},
      {"a + \"text\" + b", "a+\"text\"+b"},
      {"1'000 + 0x1p-3", "1'000+0x1p-3"},
      {"x", "x /* never closed"},
  }));
  INFO(left << " | " << right);
  CHECK(read_code(left) == read_code(right));
}

TEST_CASE("code that differs for a compiler has a different identity") {
  const auto [left, right] = GENERATE(table<std::string, std::string>({
      {"a+++b", "a+ ++b"},
      {"a + +b", "a ++b"},
      {"int a b", "int ab"},
      {"\"a b\"", "\"a  b\""},
      {"\"// a\"", "\"// b\""},
      {"'\\'' // a", "'\"' // a"},
      {"R\"(a // b)\"", "R\"(a // c)\""},
      {"R\"x(a)\" // )x\"", "R\"x(a)\" /* )x\""},
      {"R\"(a\\\nb)\"", "R\"(ab)\""},
      {"R\"(a\nb)\"", "R\"(a b)\""},
      {"#define A(x) x\n", "#define A (x) x\n"},
      {"#define A 1\nB\n", "#define A 1 B\n"},
      {"1.5e-3", "1.5e - 3"},
      {"\"a\"s", "\"a\" s"},
      {"#include <a.h>\n", "#include \"a.h\"\n"},
      {"// a\\\n+b\nx", "// a\n+b\nx"},
  }));
  INFO(left << " | " << right);
  CHECK(read_code(left) != read_code(right));
}

TEST_CASE("the path of a file in a unity build is not part of the code identity") {
  CHECK(read_code("#include \"/home/a/x.cpp\"\n") == read_code("#include \"/home/b/x.cpp\"\n"));
}
