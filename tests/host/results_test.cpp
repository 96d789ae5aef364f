// The raw cells of experiments/results: one line for each trial, each identified uniquely.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace {

namespace fs = std::filesystem;

/// Returns the fields of each line. Quoted fields may contain commas.
std::vector<std::vector<std::string>> read_csv(const fs::path& path) {
  std::vector<std::vector<std::string>> all;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    auto& fields = all.emplace_back(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"')
        quoted = !quoted;
      else if (c == ',' && !quoted)
        fields.emplace_back();
      else
        fields.back() += c;
    }
    CHECK_FALSE(quoted);
  }
  return all;
}

}  // namespace

TEST_CASE("raw cells are complete: a line for each trial, with commit, key, seed, and each metric's number") {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(ABLATE_SOURCE_DIR) / "experiments/results")) {
    if (entry.path().extension() != ".csv") continue;
    ++files;
    INFO(entry.path().filename());
    CHECK(fs::exists(fs::path(entry.path()).replace_extension(".sql")));
    const auto lines = read_csv(entry.path());
    REQUIRE(lines.size() > 1);
    const auto& names = lines.front();
    const auto at = [&](const std::string& name) {
      const auto found = std::ranges::find(names, name);
      INFO(name);
      REQUIRE(found != names.end());
      return static_cast<std::size_t>(found - names.begin());
    };
    const auto study = at("experiment"), commit = at("environment.git"), key = at("key"), seed = at("seed"),
               asked = at("test/examples[examples]");
    std::set<std::string> keys;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const auto& line = lines[i];
      INFO("line " << i + 1);
      REQUIRE(line.size() == names.size());
      CHECK(line[study] == entry.path().stem());
      CHECK(line[commit].size() >= 7);
      CHECK(line[commit].find("dirty") == std::string::npos);
      CHECK(line[key].size() == 64);
      CHECK(keys.insert(line[key]).second);
      CHECK(std::stoll(line[seed]) > 0);
      CHECK(std::stoll(line[asked]) > 0);
      // The field of a parameter is empty if the method lacks the parameter. The field of a metric is a number.
      for (std::size_t j = 0; j < names.size(); ++j) {
        if (names[j].find('/') == std::string::npos) continue;
        INFO(names[j]);
        std::size_t read = 0;
        CHECK_NOTHROW(std::stod(line[j], &read));
        CHECK(read == line[j].size());
      }
    }
  }
  CHECK(files > 0);
}
