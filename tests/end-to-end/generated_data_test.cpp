// Generated data belong to the code that made them.
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"
#include "tests/support/edited_code.h"

namespace {

namespace fs = std::filesystem;

/// Workplace with its own cache, and its own listops whose code can change from one run to the next.
struct Place : Workplace {
  Place() {
    fs::create_directory(folder() / "plugins");
    fs::copy(ABLATE_BUILD_DIR "/lib/ablate/plugins/listops.so", library());
    fs::create_directory(folder() / "tmp");
    set("ABLATE_PLUGIN_PATH", (folder() / "plugins").string());
    set("XDG_CACHE_HOME", (folder() / "cache").string());
    set("TMPDIR", (folder() / "tmp").string());
  }
  fs::path library() const { return folder() / "plugins/listops.so"; }
  fs::path generated() const { return folder() / "cache/ablate/tasks/listops"; }
  void edit(char with) { edit_code(library(), with); }

  void ask(const std::vector<std::string>& arguments) {
    const auto ended = run(arguments);
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == 0);
  }
};

/// Returns the regular files in a folder, at any depth.
std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  return files;
}

}  // namespace

TEST_CASE("an edited generator makes its data anew, and the old generator's data stay", "[generated]") {
  Place place;
  const auto study = place.study(kTiny + "[attention]\nplugin = \"softmax\"\n").string();
  place.edit('a');
  place.ask({"run", study, "--dry-run"});
  const auto before = files_in(place.generated());
  REQUIRE(before.size() == 1);
  CHECK(before.front().parent_path() == place.generated() / std::string(16, 'a'));
  place.edit('b');
  place.ask({"run", study, "--dry-run"});
  CHECK(files_in(place.generated() / std::string(16, 'b')).size() == 1);
  CHECK(fs::exists(before.front()));
  // A library without an identity is identified by its content.
  place.edit('\0');
  place.ask({"run", study, "--dry-run"});
  CHECK(files_in(place.generated()).size() == 3);
}

TEST_CASE("ablate check makes a task generate its data anew, and leaves no files", "[generated]") {
  Place place;
  place.edit('a');
  place.ask({"run", place.study(kTiny + "[attention]\nplugin = \"softmax\"\n").string(), "--dry-run"});
  const auto kept = files_in(place.generated());
  REQUIRE(kept.size() == 1);
  std::ofstream(kept.front()) << "of another generator";
  const auto before = fs::last_write_time(kept.front());
  place.ask({"check", "listops", "--quick", "--only", "load", "--set", "max_length=24", "--set", "min_length=5"});
  CHECK(files_in(place.generated()) == kept);
  CHECK(fs::last_write_time(kept.front()) == before);
  CHECK(fs::is_empty(place.folder() / "tmp"));
}
