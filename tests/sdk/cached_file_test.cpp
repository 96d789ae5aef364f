// Generated data in the cache folder: each file is complete and has the right key, and no other files are left.
#include "ablate/cached_file.h"

#include <chrono>
#include <fstream>

#include "ablate/digest.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using namespace ablate;

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

std::string hex_of(const std::string& text) { return Digest().add(text.data(), text.size()).hex(); }

}  // namespace

TEST_CASE("cached content is made once, and again if its file is damaged") {
  TemporaryFolder folder;
  int made = 0;
  const auto get = [&](const std::string& key) {
    return cached(folder / "cache", "one", key, [&] {
      ++made;
      return Bytes{1, 2, 3};
    });
  };
  const auto first = get("seed 0");
  CHECK(first.content == Bytes{1, 2, 3});
  CHECK(first.digest == hex_of("\1\2\3"));
  const auto path = folder / "cache" / ("one-" + hex_of("seed 0").substr(0, 16) + ".bin");
  REQUIRE(fs::file_size(path) == 3 + 32);
  CHECK(get("seed 0").digest == first.digest);
  CHECK(made == 1);
  get("seed 1");
  CHECK(made == 2);
  CHECK(std::distance(fs::directory_iterator(folder / "cache"), {}) == 2);  // no temporary file is left
  const std::string how = GENERATE("changed", "cut", "empty", "folder");
  INFO(how);
  if (how == "changed") std::ofstream(path, std::ios::in).seekp(1).put('x');
  if (how == "cut") fs::resize_file(path, 20);
  if (how == "empty") fs::resize_file(path, 0);
  if (how == "folder") fs::remove(path), fs::create_directory(path);
  CHECK(get("seed 0").content == Bytes{1, 2, 3});
  CHECK(made == 3);
  CHECK(std::distance(fs::directory_iterator(folder / "cache"), {}) == 2);
  if (how != "folder") CHECK(fs::file_size(path) == 3 + 32);
}

TEST_CASE("a file with another key is made again") {
  TemporaryFolder folder;
  const auto get = [&](const std::string& key) {
    return cached(folder / "cache", "one", key, [&] { return Bytes(key.begin(), key.end()); }).content;
  };
  const auto path = [&](const std::string& key) { return folder / "cache" / ("one-" + hex_of(key).substr(0, 16) + ".bin"); };
  for (const auto* key : {"seed 0", "seed 1"}) get(key);
  fs::copy_file(path("seed 1"), path("seed 0"), fs::copy_options::overwrite_existing);
  CHECK(get("seed 0") == Bytes{'s', 'e', 'e', 'd', ' ', '0'});
}

TEST_CASE("a killed writer's file is removed a day later, and a file being written stays") {
  TemporaryFolder folder;
  fs::create_directory(folder / "cache");
  const auto path = folder / "cache" / ("one-" + hex_of("seed 0").substr(0, 16) + ".bin");
  const auto left = path.string() + ".123.tmp", fresh = path.string() + ".124.tmp",
             other = (folder / "cache/two.bin.1.tmp").string();
  for (const auto& file : {left, fresh, other}) std::ofstream(file) << "half";
  for (const auto& file : {left, other}) fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(25));
  const auto get = [&](const char* key) { cached(folder / "cache", "one", key, [] { return Bytes{7}; }); };
  get("seed 0");
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(fresh));
  CHECK(fs::exists(other));
  CHECK(fs::exists(path));
  fs::rename(fresh, left);  // again a killed writer's file, now beside the complete file of its key
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(25));
  get("seed 1");
  CHECK_FALSE(fs::exists(left));
}

TEST_CASE("content that cannot be cached is still returned") {
  TemporaryFolder folder;
  CHECK(cached(folder.write("file", "") / "below", "one", "", [] { return Bytes{7}; }).content == Bytes{7});
}
