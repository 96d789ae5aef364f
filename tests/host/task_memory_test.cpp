// What a task has answered is believed as long as its code, its parameters and its files are the same.
#include "core/host/scheduler/task_memory.h"

#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using ablate::TaskMemory;
using nlohmann::json;

TEST_CASE("a task's answer holds for its code, its question, and its files as they are") {
  const TemporaryFolder folder;
  const auto file = folder.write("data.txt", "abc");
  const TaskMemory memory(folder / "memory");
  const json question{{"kind", "prepare-task"}, {"section", {{"plugin", "bytes"}}}}, answer{{"digest", "d"}, {"files", {file}}};
  CHECK_FALSE(memory.find("code", question));
  memory.put("code", question, answer);
  REQUIRE(memory.find("code", question) == answer);
  CHECK_FALSE(memory.find("other code", question));
  CHECK_FALSE(memory.find("code", json{{"kind", "prepare-task"}, {"section", {{"plugin", "image"}}}}));

  SECTION("another content") { folder.write("data.txt", "abcd"); }
  SECTION("another file of the same content in its place") {
    folder.write("new.txt", "abc");
    std::filesystem::rename(folder / "new.txt", file);
  }
  SECTION("another time") { std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now()); }
  SECTION("no file") { std::filesystem::remove(file); }
  SECTION("forgotten") { memory.forget("code", question); }
  SECTION("damaged") {
    for (const auto& entry : std::filesystem::directory_iterator(folder / "memory"))
      std::ofstream(entry.path()) << "{\"answer\": 3";
  }
  SECTION("another folder, where a relative path means another file") {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    CHECK_FALSE(memory.find("code", question));
    std::filesystem::current_path(before);
    return;
  }
  CHECK_FALSE(memory.find("code", question));
}

TEST_CASE("an answer that does not say which files it is from is not remembered") {
  const TemporaryFolder folder;
  const TaskMemory memory(folder / "memory");
  memory.put("code", "question", {{"digest", "d"}});
  CHECK_FALSE(memory.find("code", "question"));
  memory.put("code", "question", {{"digest", "d"}, {"files", {"/no/such/file"}}});
  CHECK_FALSE(memory.find("code", "question"));
  memory.put("code", "question", {{"digest", "d"}, {"files", json::array()}});
  CHECK(memory.find("code", "question"));
  const TaskMemory none("");
  none.put("code", "question", {{"files", json::array()}});
  CHECK_FALSE(none.find("code", "question"));
}
