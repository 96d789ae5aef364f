#include "db/report/format.h"

#include <cmath>

#include "core/util/error.h"
#include "db/report/printers.h"
#include "tests/support/catch.h"

using namespace ablate::db;

TEST_CASE("digits follow the deviation") {
  CHECK(with_deviation(71.2345, 0.834) == "71.23 ± 0.83");
  CHECK(with_deviation(71.2345, 8.34) == "71.2 ± 8.3");
  CHECK(with_deviation(71.2345, 0) == "71.23 ± 0");
  CHECK(some_of({"a", "b", "c", "d", "e"}) == "a, b, c, d, e");
  CHECK(some_of({"a", "b", "c", "d", "e", "f"}) == "a, b, c, d and 2 more");
  CHECK(with_deviation(71.2345, 0.0996) == "71.23 ± 0.10");
  CHECK(with_deviation(12345.6, 123.4) == "12346 ± 123");
  CHECK(with_deviation(0.00123456, 0.0000123) == "0.001235 ± 0.000012");
  CHECK(with_deviation(71.2345, NAN) == "71.23");
  CHECK(brief(0) == "0");
  CHECK(brief(123456) == "123456");
  CHECK(brief(0.00012346) == "0.0001235");
  CHECK(brief(-1.5e-9) == "-1.500e-09");
  for (const double sign : {1.0, -1.0}) {  // inf - inf is -nan on x86
    const double nan = std::copysign(NAN, sign);
    CHECK(brief(nan) == "nan");
    CHECK(exact(nan) == "nan");
    CHECK(with_deviation(nan, nan) == "nan");
  }
}

TEST_CASE("text is aligned by its visible width, and CSV and Markdown are escaped") {
  CHECK(render_text({{"a", "b"}, {"1 ± 2", "x"}, {"", "y"}}) == "a      b\n1 ± 2  x\n       y\n");
  CHECK(render_markdown({{"a"}, {"x|y\nz"}}) == "| a |\n| --- |\n| x\\|y z |\n");
  CHECK(csv_line({"a", "1,2", "say \"no\""}) == "a,\"1,2\",\"say \"\"no\"\"\"\n");
  CHECK(printable("a\x1b[2Jb\tc\n") == "a[2Jb\tc\n");
  CHECK(printable("a\xe2\x80\xae"
                  "b\n") == "a<U+202E>b\n");
  CHECK(printable("a\x7f\xc2\x9b"
                  "b\u00a0\u017f\xc2") == "ab\u00a0\u017f\xc2");
}

TEST_CASE("durations have readable units") {
  CHECK(duration_text(0.0123) == "12 ms");
  CHECK(duration_text(12.34) == "12.3 s");
  CHECK(duration_text(250) == "4 min 10 s");
  CHECK(duration_text(7500) == "2 h 05 min");
}

TEST_CASE("the first line of a text") {
  CHECK(first_line("") == "");
  CHECK(first_line(" \n\t") == "");
  CHECK(first_line("one line\n") == "one line");
  CHECK(first_line("\n a\tb \r\nsecond") == "a b …");
  CHECK(first_line(std::string(80, 'x')) == std::string(80, 'x'));
  CHECK(first_line(std::string(81, 'x')) == std::string(79, 'x') + "…");
  std::string wide;
  for (int i = 0; i < 81; ++i) wide += "ß";
  CHECK(first_line(wide) == wide.substr(0, std::size_t{2} * 79) + "…");     // no character is cut in two
  CHECK(first_line(std::string(200, '\xBF')) == std::string(200, '\xBF'));  // text that is not UTF-8 does not crash
}

TEST_CASE("an unknown format is an error with the nearest name") {
  CHECK(format_from_name("csv") == Format::kCsv);
  try {
    format_from_name("markdwon");
    FAIL("accepted");
  } catch (const ablate::Error& error) {
    CHECK(std::string(error.what()).find("did you mean markdown?") != std::string::npos);
  }
}
