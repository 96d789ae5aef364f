// --out writes an answer to a file. Without --force it never replaces a file of another program.
#include <cstdlib>

#include "tests/db/commands.h"

using namespace ablate;
using namespace ablate::db;

namespace {

namespace fs = std::filesystem;

/// Makes the program use a cache folder of the test.
class OwnCache {
 public:
  OwnCache() {
    if (const char* was = std::getenv("XDG_CACHE_HOME"); was != nullptr) was_ = was;
    setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
  }
  ~OwnCache() {
    if (was_.empty())
      unsetenv("XDG_CACHE_HOME");
    else
      setenv("XDG_CACHE_HOME", was_.c_str(), 1);
  }
  OwnCache(const OwnCache&) = delete;
  OwnCache& operator=(const OwnCache&) = delete;

 private:
  Folder folder_;
  std::string was_;
};

void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("a table is written to a file, and replaces only a file that ablate wrote") {
  const OwnCache cache;
  const Folder folder;
  Commands run;
  const auto file = folder / "table.csv";
  const auto command = "table quickstart --format csv --out " + file.string();
  CHECK(run(command).empty());
  CHECK(run.exit_code == 0);
  CHECK(has(run.errors, "wrote " + file.string()));
  const auto printed = run("table quickstart --format csv");
  CHECK(content(file) == printed);
  CHECK(run("table quickstart --format json --out " + file.string()).empty());
  CHECK(content(file).starts_with("{"));
  CHECK(files_in(folder.path()) == 1);  // no temporary file is left
}

TEST_CASE("a file with a path relative to the current folder is recognised, too") {
  const OwnCache cache;
  const Folder folder;
  Commands run;
  const auto was = fs::current_path();
  fs::current_path(folder.path());
  for (int time = 0; time < 2; ++time) CHECK(run("table quickstart --out table.txt").empty());
  fs::current_path(was);
  CHECK(has(content(folder / "table.txt"), "softmax"));
}

TEST_CASE("a file that ablate did not write, or that was changed later, is not replaced") {
  const OwnCache cache;
  const Folder folder;
  Commands run;
  const auto file = folder / "mine.txt";
  const auto command = "table quickstart --out " + file.string();
  write(file, "mine");
  CHECK(has(run(command), "found a file that ablate did not write, or that was changed since; give another name, or --force"));
  CHECK(content(file) == "mine");
  CHECK(run(command + " --force").empty());
  CHECK(has(content(file), "softmax"));
  write(file, "changed by hand");
  CHECK(has(run(command), "--force"));
  CHECK(content(file) == "changed by hand");
}

TEST_CASE("a run history is never overwritten, with or without --force") {
  const OwnCache cache;
  const Folder folder;
  Commands run;
  const auto whole = content(run.file());
  for (const auto* command : {"table quickstart", "export quickstart", "effects quickstart"}) {
    const auto asked = std::string(command) + " --force --out " + run.file().string();
    CHECK(has(run(asked),
              "found a SQLite database, perhaps a run history; expected another file; --force does not write over databases"));
    CHECK((content(run.file()) == whole));
  }
  fs::create_symlink(run.file(), folder / "link");
  CHECK(has(run("table quickstart --force --out " + (folder / "link").string()), "found a SQLite database"));
}

TEST_CASE("a path that is not a file is refused, even with --force, and a link stays a link") {
  const OwnCache cache;
  const Folder folder;
  Commands run;
  const auto asked = [&](const fs::path& path) { return run("table quickstart --force --out " + path.string()); };
  CHECK(has(asked(folder.path()), "found a folder, expected the name of a file"));
  CHECK(has(asked("/dev/null"), "found no regular file"));
  CHECK(has(asked(folder / "none" / "a.txt"), "cannot be written: No such file or directory"));
  CHECK(has(run("table quickstart --force"), "--force requires --out"));
  fs::create_symlink("nowhere", folder / "lost");
  CHECK(has(asked(folder / "lost"), "found a link to a missing file"));
  CHECK((fs::is_symlink(folder / "lost") && !fs::exists(folder / "nowhere")));
  write(folder / "target", "");
  fs::create_symlink("target", folder / "link");
  CHECK(asked(folder / "link").empty());
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(has(content(folder / "target"), "softmax"));
}
