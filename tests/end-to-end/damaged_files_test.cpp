// Files of an earlier run that are damaged or of another version. They are detected, and reported or rebuilt.
#include <SQLiteCpp/SQLiteCpp.h>

#include <fstream>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

namespace fs = std::filesystem;

namespace {

/// Returns a grid with one trial for each number in `steps`.
std::string grid(const std::string& steps) {
  return kTiny + "[attention]\nplugin = \"linear\"\n[grid]\ntrain.steps = [" + steps + "]\n";
}

}  // namespace

TEST_CASE("a damaged history is never taken for a finished grid") {
  Workplace place;
  const auto study = place.study(grid("3, 4")).string();
  REQUIRE(place.run({"run", study}).exit_code == 0);
  const auto file = place.folder() / "ablate.db";
  std::int64_t page = 0;
  {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
    page = database.execAndGet("SELECT rootpage FROM sqlite_master WHERE name = 'result'").getInt64();
  }
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp((page - 1) * 4096) << std::string(4096, 'x');
  const auto before = read_text(file);
  CHECK(place.run({"run", study, "--dry-run"}).exit_code == 2);
  const auto ended = place.run({"run", study});
  CHECK(ended.exit_code == 2);
  CHECK_FALSE(says(ended.err, "0 done"));
  CHECK(says(ended.err, "ablate.db is a damaged SQLite database"));
  CHECK(says(ended.err, ".recover | sqlite3 "));
  CHECK(read_text(file) == before);
}

TEST_CASE("a task's cached answer from another version is replaced") {
  Workplace place;
  place.set("XDG_CACHE_HOME", (place.folder() / "cache").string());
  const auto study = place.study(grid("3")).string();
  REQUIRE(place.run({"run", study}).exit_code == 0);
  const auto spoil = [&] {
    int spoilt = 0;
    for (const auto& entry : fs::directory_iterator(place.folder() / "cache/ablate/data"))
      std::ofstream(entry.path()) << R"({"files": {}, "length": "24"})", ++spoilt;
    return spoilt;
  };
  CHECK(spoil() >= 2);
  CHECK(place.run({"run", study, "--dry-run"}).exit_code == 0);
  CHECK(spoil() >= 2);
  const auto ended = place.run({"run", study});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(says(ended.err, "0 done, 1 done before"));
}

TEST_CASE("reading a damaged history leaves no file beside it") {
  const auto cut = GENERATE(true, false);  // false: the file is overwritten after its first page
  Workplace place;
  const auto study = place.study(grid("3, 4")).string();
  REQUIRE(place.run({"run", study}).exit_code == 0);
  const auto file = place.folder() / "ablate.db";
  if (cut)
    fs::resize_file(file, fs::file_size(file) / 2);
  else
    std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(4096)
        << std::string(fs::file_size(file) - 4096, 'x');
  const auto before = read_text(file);
  const std::vector<std::vector<std::string>> commands = {
      {"table", "tiny"},          {"attempts"}, {"show", "1"}, {"query"}, {"query", "SELECT * FROM metrics"},
      {"run", study, "--dry-run"}};
  for (const auto& command : commands) {
    const auto ended = place.run(command);
    INFO(command.front() << ": " << ended.err);
    CHECK(ended.exit_code == 2);
    for (const auto* end : {"-wal", "-shm"}) CHECK_FALSE(fs::exists(file.string() + end));
  }
  CHECK(read_text(file) == before);
}
