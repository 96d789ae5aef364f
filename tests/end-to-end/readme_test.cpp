// Follows README.md: builds its plugin of 40 lines outside the tree, runs its grid of 20 lines and its queries. Everything
// that README.md and the other pages name must be in the tree.
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

namespace {

/// Returns a fenced block of a language. `which` counts the language's blocks from 0.
std::string block(const std::string& language, int which = 0) {
  const auto readme = read_text(std::string(ABLATE_SOURCE_DIR) + "/README.md");
  std::size_t at = 0;
  for (int i = 0; i <= which; ++i) at = readme.find("\n```" + language + "\n", i == 0 ? 0 : at + 1);
  REQUIRE(at != std::string::npos);
  const auto start = at + language.size() + 5;
  return readme.substr(start, readme.find("\n```", start) + 1 - start);
}

/// Returns names on a page that a clone's reader cannot resolve: paths outside of the clone, unknown people, missing files.
std::vector<std::string> strange_to_a_clone(const std::string& page) {
  std::vector<std::string> found;
  for (const std::string outside : {"../shared", "founders", "Founders"})
    if (says(page, outside)) found.push_back(outside);
  static const std::regex path(R"((^|[^\w./-])((tools|experiments|tests)/[\w./-]*\w))");
  for (std::sregex_iterator at(page.begin(), page.end(), path), end; at != end; ++at)
    if (const auto file = (*at)[2].str(); !std::filesystem::exists(std::string(ABLATE_SOURCE_DIR) + "/" + file))
      found.push_back(file);
  return found;
}

}  // namespace

TEST_CASE("the README's plugin builds outside the tree, is found, and runs beside built-in plugins", "[out-of-tree]") {
  const auto source = block("cpp");
  CHECK(std::count(source.begin(), source.end(), '\n') <= 40);
  Workplace place;
  place.folder().write("cosine/cosine.cpp", source);
  place.folder().write("cosine/CMakeLists.txt", block("cmake"));
  const auto project = (place.folder() / "cosine").string();
  const auto configured = Process({"cmake", "-S", project, "-B", project + "/build", "-G", "Ninja",
                                   "-DCMAKE_BUILD_TYPE=Release", std::string("-Dablate_DIR=") + ABLATE_BUILD_DIR})
                              .wait();
  INFO(configured.out << configured.err);
  REQUIRE(configured.exit_code == 0);
  const auto built = Process({"cmake", "--build", project + "/build"}).wait();
  INFO(built.out << built.err);
  REQUIRE(built.exit_code == 0);

  // A copy in the user's folder is found.
  std::filesystem::create_directories(place.folder() / "data/ablate/plugins");
  std::filesystem::copy_file(project + "/build/cosine.so", place.folder() / "data/ablate/plugins/cosine.so");
  const auto shown = place.run({"plugins", "cosine"});
  REQUIRE(shown.exit_code == 0);
  CHECK(says(shown.out, "sharpness"));
  const auto ran = place.run({"run", place.study(kTiny + "[grid]\nattention.plugin = [\"softmax\", \"cosine\"]\n").string()});
  INFO(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(place.query("SELECT attention FROM trials WHERE outcome = 'done' ORDER BY attention").dump() ==
        R"([{"attention":"cosine"},{"attention":"softmax"}])");
}

TEST_CASE("the README's grid and its queries work exactly as printed") {
  const auto text = block("toml");
  CHECK(std::count(text.begin(), text.end(), '\n') <= 20);
  Workplace place;
  place.folder().write("resolutions.toml", text);
  const auto dry = place.run({"run", "resolutions.toml", "--dry-run"});
  REQUIRE(dry.exit_code == 0);
  CHECK(says(dry.out, "18 trials"));
  const auto ran = place.run({"run", "resolutions.toml", "--set", "train.steps=2", "--set", "seeds=2", "--set",
                              "train.evaluate_batches=1", "--set", "train.test_batches=1"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(says(ran.err, "12 done"));
  CHECK(place
            .run({"table", "resolutions", "--rows", "attention,attention.rates", "--cols", "train.batch", "--metric",
                  "test/accuracy"})
            .exit_code == 0);
  CHECK(place.query(R"(SELECT "attention.rates", avg("train/step_time") FROM trials GROUP BY 1)").size() == 3);
}

TEST_CASE("after the quickstart, everything that README and `ablate new` name is built") {
  const std::string root = ABLATE_SOURCE_DIR;
  std::set<std::string> built;
  std::istringstream lines(read_text(root + "/tools/quickstart"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("tools/setup ")) {
      std::istringstream words(line);
      built.insert(std::istream_iterator<std::string>(words), {});
    }
  auto needed = std::set<std::string>{"ablate", "ablate-worker", "ablate-checker"};  // run, check and audit need these
  auto texts = block("toml") + read_text(root + "/experiments/quickstart.toml") + read_text(root + "/tools/ablate/bench.cpp");
  for (const std::string kind : {"attention", "compression", "task"})
    texts += read_text(root + "/tools/ablate/templates/" + kind + "/study.toml");
  static const std::regex value("plugin = \\\\?\"([\\w-]+)|plugin = \\[([^\\]]*)\\]"), word("\"([\\w-]+)\"");
  for (std::sregex_iterator at(texts.begin(), texts.end(), value), end; at != end; ++at) {
    if ((*at)[1].matched) needed.insert((*at)[1]);
    const auto list = (*at)[2].str();
    for (std::sregex_iterator one(list.begin(), list.end(), word); one != end; ++one) needed.insert((*one)[1]);
  }
  needed.erase("my-method");
  CHECK(needed.contains("listops"));
  CHECK(needed.contains("bytes"));
  CHECK(needed.contains("adamra"));
  for (const auto& target : needed) {
    INFO(target);
    CHECK(built.contains(target));
  }
}

TEST_CASE("for a plugin of the source tree that is not built yet, the message has the command that builds it") {
  Workplace place;
  const auto study = place.study(kTiny + "[attention]\nplugin = \"mine\"\n").string();
  const auto plugins = (place.folder() / "build/quick/lib/ablate/plugins").string();
  std::filesystem::create_directories(plugins);
  place.folder().write("build/quick/CMakeCache.txt", "");
  place.folder().write("plugins/mine/CMakeLists.txt", "");
  const std::vector<std::vector<std::string>> commands = {
      {"plugins", "mine"}, {"check", "mine"}, {"bench", "mine"}, {"run", study}};
  for (auto command : commands) {
    command.insert(command.begin(), {"--plugins", plugins});
    const auto ended = place.run(command);
    CHECK(ended.exit_code == 2);
    CHECK(says(ended.err, "; it is not built yet: `cmake --build --preset quick --target mine` builds it"));
  }
  std::filesystem::remove(place.folder() / "plugins/mine/CMakeLists.txt");
  CHECK(says(place.run({"--plugins", plugins, "plugins", "mine"}).err, "; looked in " + plugins));
}

TEST_CASE("pages and studies name only files that a clone has") {
  const std::filesystem::path root = ABLATE_SOURCE_DIR;
  std::vector<std::filesystem::path> pages = {root / "README.md", root / "CONTRIBUTING.md"};
  for (const auto* folder : {"docs", "experiments"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file()) pages.push_back(entry.path());
  CHECK(pages.size() > 50);
  for (const auto& page : pages) {
    INFO(page);
    CHECK(strange_to_a_clone(read_text(page.string())) == std::vector<std::string>{});
  }
  CHECK(strange_to_a_clone("as the founders did: `../shared/x`, tools/no-such, tools/test.") ==
        std::vector<std::string>{"../shared", "founders", "tools/no-such"});
}

TEST_CASE("every study in experiments/ resolves with the existing plugins") {
  Workplace place;
  // The data may be missing here: all steps before the data must still work.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(ABLATE_SOURCE_DIR) + "/experiments")) {
    if (entry.path().extension() != ".toml" || entry.path().parent_path().filename() == "presets") continue;
    const auto ended = place.run({"run", entry.path().string(), "--dry-run"});
    INFO(entry.path() << ": " << ended.err);
    const bool lacks_data =
        says(ended.err, "ABLATE_DATA") || says(ended.err, "Missing: ") || says(ended.err, "expected bytes = ");
    CHECK((ended.exit_code == 0 || lacks_data));
  }
}
