// Reaction of tools/lint to clang-tidy's results, with and without time left. Fake programs replace the real ones.
#include "tests/support/catch.h"
#include "tests/support/process.h"

namespace {

namespace fs = std::filesystem;

/// Runs tools/lint in a tree with these changed sources, of one line each. clang-tidy fails for wrong.cpp, and hangs for
/// slow.cpp.
Ended lint(const std::vector<std::string>& sources, const std::string& budget = "# lines\nproduct 9 core db\n") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "tools");
  fs::copy(fs::path(ABLATE_SOURCE_DIR) / "tools/lint", folder / "tools/lint");
  for (const auto* room : {"core", "db", "plugins", "tests"}) fs::create_directories(folder / room);
  if (!budget.empty()) folder.write("size-budget", budget);
  folder.write("core/util/counted.h", "\n\n");
  std::string changed, counted = "core/util/counted.h\\0README.md\\0";
  for (const auto& source : sources) {
    folder.write("core/util/" + source, "\n");
    changed += "core/util/" + source + "\\n";
    counted += "core/util/" + source + "\\0";
  }
  const std::string version = "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'version 14.0.6'; exit; fi\n";
  folder.write("bin/clang-format", version);
  folder.write("bin/clang-tidy", version + "case $2 in *wrong.cpp) exit 1 ;; *slow.cpp) exec sleep 60 ;; esac\n");
  folder.write("bin/git", "#!/bin/sh\ncase $1 in diff) printf '" + changed + "' ;; ls-files) printf '" + counted +
                              "' ;; merge-base) echo base ;; *) echo head ;; esac\n");
  folder.write("bin/timeout", "#!/bin/sh\nshift\nexec /usr/bin/timeout 1 \"$@\"\n");
  folder.write("bin/nproc", "#!/bin/sh\necho 2\n");
  for (const auto& entry : fs::directory_iterator(folder / "bin")) fs::permissions(entry, fs::perms::owner_all);
  return Process({"/bin/bash", (folder / "tools/lint").string()}, {{"PATH", (folder / "bin").string() + ":/usr/bin:/bin"}})
      .wait();
}

bool says(const Ended& ended, const std::string& text) { return ended.err.find(text) != std::string::npos; }

}  // namespace

TEST_CASE("tools/lint: an error of clang-tidy makes it fail") {
  const auto right = lint({"right.cpp", "also_right.cpp"});
  INFO(right.err);
  CHECK(right.exit_code == 0);
  CHECK(says(right, "passed 2 of 2 changed"));
  const auto wrong = lint({"right.cpp", "wrong.cpp"});
  INFO(wrong.err);
  CHECK(wrong.exit_code == 1);
  CHECK(says(wrong, "passed 1 of 2 changed"));
  CHECK(says(wrong, "clang-tidy failed for core/util/wrong.cpp\n"));
  CHECK(lint({}).exit_code == 0);
}

TEST_CASE("tools/lint: running out of time hides no earlier failure, and is no failure by itself") {
  const auto slow = lint({"right.cpp", "slow.cpp"});
  INFO(slow.err);
  CHECK(slow.exit_code == 0);
  CHECK(says(slow, "passed 1 of 2 changed"));
  const auto both = lint({"slow.cpp", "wrong.cpp"});
  INFO(both.err);
  CHECK(both.exit_code == 1);
  CHECK(says(both, "passed 0 of 2 changed"));
  CHECK(says(both, "clang-tidy failed for core/util/wrong.cpp\n"));
}

TEST_CASE("tools/lint: more C++ lines than size-budget allows, or an unreadable budget, make it fail") {
  CHECK(lint({"right.cpp"}, "product 3 core db\ntests 3 core\n").exit_code == 0);
  const auto over = lint({"right.cpp"}, "product 3 core db\ntests 2 core\n");
  INFO(over.err);
  CHECK(over.exit_code == 1);
  CHECK(says(over, "found 3 lines of C++ in core (tests), expected at most 2 (size-budget)"));
  CHECK_FALSE(says(over, "core db"));
  const auto none = lint({"right.cpp"}, "");
  INFO(none.err);
  CHECK(none.exit_code != 0);
  CHECK(says(none, "size-budget"));
}
