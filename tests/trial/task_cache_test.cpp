// A task has one cache folder for each version of its code. Folders of former versions are removed.
#include "core/trial/server/task_cache.h"

#include <map>
#include <optional>

#include "core/util/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using ablate::TaskCache;

namespace {

namespace fs = std::filesystem;

std::string code(char of) { return std::string(64, of); }

}  // namespace

TEST_CASE("each code of a plugin has its own folder, whose content stays") {
  const TemporaryFolder folder;
  const auto plugin = folder / "tasks/one";
  const auto first = TaskCache(plugin, code('a')).path();
  CHECK(first == plugin / std::string(16, 'a'));
  std::ofstream(first / "data") << "of a";
  const auto second = TaskCache(plugin, code('b')).path();
  CHECK(second != first);
  CHECK(fs::is_empty(second));
  CHECK(TaskCache(plugin, code('a')).path() == first);
  CHECK(fs::exists(first / "data"));
  const auto in_the_way = folder.write("tasks/two", "");
  CHECK_THROWS_AS(TaskCache(in_the_way, code('a')), ablate::Error);
}

TEST_CASE("a new code's folder removes folders of former codes, except the last three and folders in use") {
  const TemporaryFolder folder;
  const auto plugin = folder / "tasks/one";
  const auto age = [](const fs::path& path, int hours) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  std::map<char, fs::path> of;
  std::optional<TaskCache> in_use;
  for (int i = 0; i < 6; ++i) {
    const auto each = static_cast<char>('a' + i);
    of[each] = plugin / std::string(16, each);
    if (each == 'a')
      in_use.emplace(plugin, code(each));
    else
      fs::create_directory(of[each]);
    std::ofstream(of[each] / "data") << each;
  }
  const auto file = folder.write("tasks/one/one-0123.bin", "of no code");
  for (int i = 0; i < 6; ++i) age(of[static_cast<char>('a' + i)], 10 - i);
  age(file, 20);
  fs::create_directory_symlink(folder.path(), plugin / "link");

  TaskCache(plugin, code('c'));  // exists, and is now the last used folder
  CHECK(fs::exists(of['b']));
  CHECK(fs::exists(file));

  TaskCache(plugin, code('g'));
  CHECK(fs::exists(of['a'] / "data"));  // this folder is in use
  CHECK_FALSE(fs::exists(of['b']));
  CHECK(fs::exists(of['c'] / "data"));
  CHECK_FALSE(fs::exists(of['d']));
  CHECK_FALSE(fs::exists(of['e']));
  CHECK(fs::exists(of['f'] / "data"));
  CHECK_FALSE(fs::exists(file));
  CHECK(fs::is_symlink(plugin / "link"));
  CHECK(fs::exists(folder / "tasks"));

  in_use.reset();
  age(of['a'], 10);
  TaskCache(plugin, code('h'));
  CHECK_FALSE(fs::exists(of['a']));
}
