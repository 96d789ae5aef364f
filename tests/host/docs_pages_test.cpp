// Readability of the documentation pages: no paragraph is longer than about a screen.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/temporary.h"

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostWords = 120;

struct Paragraph {
  std::size_t line, words;
};

bool is_item(const std::string& line) {
  const auto digits = line.find_first_not_of("0123456789");
  return line.starts_with("- ") || (digits != std::string::npos && digits > 0 && line.compare(digits, 2, ". ") == 0);
}

/// Returns paragraphs and list items that have more than kMostWords words. Skips code, headings and tables.
std::vector<Paragraph> too_long(const std::string& page) {
  std::vector<Paragraph> found;
  Paragraph now{};
  const auto end = [&] {
    if (now.words > kMostWords) found.push_back(now);
    now = {};
  };
  std::istringstream lines(page);
  bool is_code = false;
  std::size_t number = 0;
  for (std::string line; ++number, std::getline(lines, line);) {
    const auto from = line.find_first_not_of(' ');
    const auto text = from == std::string::npos ? "" : line.substr(from);
    if (text.starts_with("```")) is_code = !is_code;
    const bool is_code_line = is_code || text.starts_with("```") || (from != std::string::npos && from >= 4 && now.words == 0);
    if (text.empty() || is_code_line || text.front() == '|' || text.front() == '#') {
      end();
      continue;
    }
    if (is_item(text)) end();
    if (now.words == 0) now.line = number;
    std::istringstream words(text);
    for (std::string word; words >> word;) ++now.words;
  }
  end();
  return found;
}

/// Returns the code of a section, split at its blank lines.
std::vector<std::string> excerpts(const std::string& page, const std::string& heading) {
  std::vector<std::string> found;
  std::istringstream lines(page.substr(std::min(page.size(), page.find(heading) + heading.size())));
  bool is_code = false;
  for (std::string line; std::getline(lines, line) && !line.starts_with("## ");) {
    if (line.starts_with("```")) is_code = !is_code;
    if (line.empty() || line.starts_with("```")) {
      found.emplace_back();
    } else if (is_code) {
      found.back() += line + "\n";
    }
  }
  std::erase(found, "");
  return found;
}

std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += i % 10 == 9 ? "word\n" : "word ";
  return text;
}

}  // namespace

TEST_CASE("no paragraph of the pages has more than 120 words") {
  const fs::path root = ABLATE_SOURCE_DIR;
  std::vector<fs::path> pages;
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  for (const auto* folder : {"docs", "plugins"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".md") pages.push_back(entry.path());
  CHECK(pages.size() > 50);
  for (const auto& page : pages)
    for (const auto& [line, count] : too_long(read_text(page))) {
      INFO(page.string() << ":" << line << ": found " << count << " words, allowed " << kMostWords);
      CHECK(false);
    }
}

TEST_CASE("a paragraph is all lines up to a blank line, or a list item; code, tables and headings do not count") {
  const auto found = too_long("# A heading\n" + words(121) + "\n\n" + words(120) + "\n\nAfter it:\n- " + words(119) + "\n- " +
                              words(122) + "\n1. " + words(60) + "\n2. " + words(61) + "\n\n```text\n" + words(200) +
                              "```\n    " + words(130).substr(0, 40) + "\n| " + words(5) + "|\n");
  REQUIRE(found.size() == 2);
  CHECK(found[0].line == 2);
  CHECK(found[0].words == 121);
  CHECK(found[1].words == 123);  // includes the list mark
  CHECK(too_long(words(120)).empty());
}

TEST_CASE("the kernel of docs/plugins.md is the kernel of `ablate new --cuda`") {
  const fs::path root = ABLATE_SOURCE_DIR, folder = root / "tools/ablate/templates/attention-cuda";
  const auto quoted = excerpts(read_text(root / "docs/plugins.md"), "## A CUDA kernel");
  CHECK(quoted.size() == 7);
  std::string all;
  for (const auto* name : {"kernel.cu", "kernel_test.cpp", "my_method.cpp"}) all += read_text(folder / name);
  for (const auto& excerpt : quoted) {
    INFO(excerpt);
    CHECK(all.find(excerpt) != std::string::npos);
  }
}
