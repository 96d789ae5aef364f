// Follows docs/plugins.md from nothing to a row in the table, then does the same for other kinds, with an installed ablate.
#include <nlohmann/json.hpp>
#include <random>

#include "tests/end-to-end/stranger.h"

namespace {

/// Returns all shell commands of a page, in their order.
std::string commands_of(const std::string& page) {
  std::string commands;
  for (auto at = page.find("\n```sh\n"); at != std::string::npos; at = page.find("\n```sh\n", at + 1)) {
    const auto start = at + 7;
    commands += page.substr(start, page.find("\n```", start) + 1 - start);
  }
  return commands;
}

/// Returns rows of the history in a folder: [{"...": value}].
nlohmann::json query(const Stranger& stranger, const std::string& folder, const std::string& sql) {
  return nlohmann::json::parse(stranger.output_of("cd " + folder + " && ablate query \"" + sql + "\" --format json"));
}

}  // namespace

TEST_CASE("docs/plugins.md works step by step as printed", "[plugins-page]") {
  Stranger stranger;
  // The page assumes a built checkout.
  std::filesystem::create_directory(stranger.work() / "build");
  std::filesystem::create_directory_symlink(ABLATE_BUILD_DIR, stranger.work() / "build/release");
  const auto commands = commands_of(read_text(std::string(ABLATE_SOURCE_DIR) + "/docs/plugins.md"));
  REQUIRE(says(commands, "ablate check"));
  const auto printed = stranger.output_of(commands);
  INFO(printed);
  CHECK(says(printed, "100% tests passed, 0 tests failed out of 2"));

  // The page's promises: after a rebuild nothing runs, after an edit only the edited method runs, and a comment is no edit.
  const std::string again = "export PATH=~/ablate/bin:$PATH; cd my-attention; cmake --build build; ablate run study.toml";
  CHECK(says(stranger.output_of(again), "0 done, 6 done before"));
  const std::string edit = " >> my-attention/my_attention.cpp; ";
  CHECK(says(stranger.output_of("echo '// a comment'" + edit + again + " --plugins build"), "0 done, 6 done before"));
  const auto edited = stranger.output_of("echo 'int edited = 1;'" + edit + again + " --plugins build");
  CHECK(says(edited, "2 done, 4 done before"));
}

namespace {

/// Writes the source and CMakeLists.txt from the section of docs/plugins.md that has the call `ablate_add_plugin(NAME ...)`.
void write_from_page(const Stranger& stranger, const std::string& heading, const std::string& name, const std::string& file) {
  const auto page = read_text(std::string(ABLATE_SOURCE_DIR) + "/docs/plugins.md");
  const auto section = page.find(heading);
  REQUIRE(section != std::string::npos);
  const auto start = page.find("\n```cpp\n", section) + 8, build = page.find("`ablate_add_plugin(" + name + " ", start);
  REQUIRE(build != std::string::npos);
  std::ofstream(stranger.work() / file) << page.substr(start, page.find("\n```", start) + 1 - start);
  std::ofstream(stranger.work() / "CMakeLists.txt")
      << "cmake_minimum_required(VERSION 3.25)\nproject(page CXX)\nfind_package(ablate REQUIRED)\n"
      << page.substr(build + 1, page.find('`', build + 1) - build - 1) << "\n";
}

}  // namespace

TEST_CASE("the attention with a state in docs/plugins.md builds as printed, passes the checks and trains", "[plugins-page]") {
  Stranger stranger;
  stranger.install();
  write_from_page(stranger, "## An attention with a state", "running-mean", "running_mean.cpp");
  std::ofstream(stranger.work() / "study.toml") << "[task]\nplugin = \"recall\"\nlength = 32\nvocabulary = 64\npairs = "
                                                   "\"2,4\"\ntrain = 400\ndev = 60\ntest = 60\n[model]\nlayers = 1\n"
                                                   "d_model = 16\n[train]\nsteps = 5\nbatch = 8\n[attention]\nplugin = "
                                                   "\"running-mean\"\n[grid]\nmodel.segment = [0, 16]\n";
  CHECK(says(
      stranger.output_of("cmake -G Ninja -S . -B build; cmake --build build; ablate check build/running-mean.so --no-timing"),
      "all passed"));
  CHECK(says(stranger.output_of("ablate --plugins build run study.toml"), "2 done"));
}

TEST_CASE("the task in docs/plugins.md builds as printed, passes the checks and trains", "[plugins-page]") {
  Stranger stranger;
  stranger.install();
  write_from_page(stranger, "## A task's kit", "reviews", "reviews.cpp");
  {
    std::ofstream lines(stranger.work() / "reviews.txt");
    std::mt19937 random(1);
    for (int i = 0; i < 2000; ++i) {
      lines << random() / 2147483648u << ' ';
      for (int letter = 0; letter < 24; ++letter) lines << static_cast<char>('a' + random() % 26);
      lines << '\n';
    }
  }
  std::ofstream(stranger.work() / "study.toml")
      << "[task]\nplugin = \"reviews\"\nlength = 12\n[model]\nlayers = 1\nd_model = 16\n"
         "[train]\nsteps = 5\nbatch = 8\n[attention]\nplugin = \"linear\"\n";
  CHECK(says(stranger.output_of("cmake -G Ninja -S . -B build; cmake --build build; ablate check build/reviews.so"),
             "all passed"));
  CHECK(says(stranger.output_of("ablate --plugins build run study.toml"), "1 done"));
  std::ofstream(stranger.work() / "reviews.txt", std::ios::app) << "good\n";
  const auto refused = stranger.shell("ablate --plugins build run study.toml");
  CHECK(refused.exit_code == 2);
  CHECK(says(refused.err, "reviews.txt:2001: found \"good\", expected 0 or 1, a space and a text"));
}

TEST_CASE("a new compression and a new task build, pass their tests and run", "[new]") {
  Stranger stranger;
  stranger.install();
  const std::string kind = GENERATE("compression", "task");
  const auto printed =
      stranger.output_of("ablate new " + kind + " my-" + kind + "; cd my-" + kind +
                         "; cmake -B build -G Ninja; cmake --build build; ctest --test-dir build --output-on-failure;"
                         "ablate --plugins build run study.toml; ablate table my-" +
                         kind);
  INFO(printed);
  CHECK(says(printed, "100% tests passed, 0 tests failed out of 2"));
  const auto rows = query(stranger, "my-" + kind,
                          "SELECT " + std::string(kind == "task" ? "task" : "\\\"attention.compression\\\"") +
                              " AS id, count(*) AS n FROM trials WHERE outcome = 'done' "
                              "GROUP BY 1 ORDER BY 1");
  CHECK(rows.dump() ==
        (kind == "task" ? R"([{"id":"my-task","n":4}])" : R"([{"id":"my-compression","n":4},{"id":"segment-mean","n":4}])"));
  // No placeholder of the template is left in the new source file.
  const auto source = read_text(stranger.work() / ("my-" + kind) / ("my_" + kind + ".cpp"));
  CHECK_FALSE(says(source, "method"));
  CHECK_FALSE(says(source, "MyMethod"));
}
