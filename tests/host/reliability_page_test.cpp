// Checks that the tests named in docs/reliability.md exist.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/temporary.h"

namespace {

/// Returns the texts in quotation marks.
std::vector<std::string> quoted(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = text.find('"'); at != std::string::npos; at = text.find('"', at + 1)) {
    const auto end = text.find('"', at + 1);
    if (end == std::string::npos) break;
    all.push_back(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return all;
}

std::vector<std::string> test_cases() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ABLATE_SOURCE_DIR "/tests")) {
    if (!entry.path().native().ends_with("_test.cpp")) continue;
    const auto text = read_text(entry.path());
    const std::string begin = "TEST_CASE(\"";
    for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1))
      names.push_back(text.substr(at + begin.size(), text.find('"', at + begin.size()) - at - begin.size()));
  }
  return names;
}

}  // namespace

TEST_CASE("the page on reliability names existing tests, each by a unique beginning") {
  const auto names = test_cases();
  auto shown = quoted(read_text(ABLATE_SOURCE_DIR "/docs/reliability.md"));
  std::erase_if(shown, [](const auto& one) { return one.find(' ') == std::string::npos || one == "17 17"; });
  CHECK(shown.size() > 40);
  for (const auto& one : shown) {
    INFO(one);
    CHECK(std::count_if(names.begin(), names.end(), [&](const auto& name) { return name.starts_with(one); }) == 1);
  }
}
