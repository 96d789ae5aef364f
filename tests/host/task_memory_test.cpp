// A task's cached answer is used only with equal code, parameters and files.
#include "core/host/scheduler/task_memory.h"

#include <cstdlib>

#include "ablate/data_files.h"
#include "core/shared/jobs.h"
#include "core/util/file_stamp.h"
#include "core/util/sha256.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using ablate::file_stamp;
using ablate::TaskMemory;
using nlohmann::json;

namespace {

struct Variable {
  Variable(const char* variable, const std::string& value) : name(variable) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  const char* name;
};

}  // namespace

TEST_CASE("a task's answer is valid for its code, its question, and the current content of its files") {
  const TemporaryFolder folder;
  const auto file = folder.write("data.txt", "abc");
  const TaskMemory memory(folder / "memory");
  const json asked{{"kind", "prepare-task"}, {"section", {{"plugin", "bytes"}}}};
  const json answer{{"digest", "d"}, {"files", {{file.string(), file_stamp(file)}}}};
  const auto find = [&] { return memory.find(memory.path_of("code", asked)); };
  CHECK_FALSE(find());
  memory.put(memory.path_of("code", asked), answer);
  REQUIRE(find() == answer);
  CHECK_FALSE(memory.find(memory.path_of("other code", asked)));
  // In older versions, all code of a task shared one data folder. Answers of these versions may belong to other code.
  const char* const data = std::getenv("ABLATE_DATA");
  const json former{"code", asked, std::filesystem::current_path().string(), data == nullptr ? "" : data, json::object()};
  CHECK(memory.path_of("code", asked) != folder / "memory" / (ablate::sha256(former.dump()) + ".json"));
  CHECK_FALSE(memory.find(memory.path_of("code", {{"kind", "prepare-task"}, {"section", {{"plugin", "image"}}}})));

  SECTION("another content") { folder.write("data.txt", "abcd"); }
  SECTION("another file of the same content in its place") {
    folder.write("new.txt", "abc");
    std::filesystem::rename(folder / "new.txt", file);
  }
  SECTION("another time") { std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now()); }
  SECTION("another content of the same size and time") {
    const auto time = std::filesystem::last_write_time(file);
    std::ofstream(file) << "abd";
    std::filesystem::last_write_time(file, time);
  }
  SECTION("no file") { std::filesystem::remove(file); }
  SECTION("forgotten") { memory.forget(memory.path_of("code", asked)); }
  SECTION("damaged") {
    for (const auto& entry : std::filesystem::directory_iterator(folder / "memory"))
      std::ofstream(entry.path()) << "{\"answer\": 3";
  }
  SECTION("another working folder, which changes the meaning of a relative path") {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    CHECK_FALSE(find());
    std::filesystem::current_path(before);
    return;
  }
  SECTION("another folder of data sets") {
    const Variable root("ABLATE_DATA", folder / "elsewhere");
    CHECK_FALSE(find());
    return;
  }
  CHECK_FALSE(find());
}

TEST_CASE("another file that is now found first makes the answer invalid") {
  const TemporaryFolder folder;
  const auto here = std::filesystem::current_path();
  std::filesystem::create_directories(folder / "work");
  std::filesystem::create_directories(folder / "root");
  const Variable root("ABLATE_DATA", folder / "root");
  std::filesystem::current_path(folder / "work");
  std::ofstream(folder / "work/set") << "1";
  const TaskMemory memory(folder / "memory");
  const json asked{{"kind", "prepare-task"}, {"section", {{"plugin", "work"}, {"data", "set"}}}};
  const auto data = [] { return ablate::find_data("test", "set", "a file", ablate::is_file); };
  const auto before = data();
  memory.put(memory.path_of("code", asked), {{"files", {{before.string(), file_stamp(before)}}}});
  CHECK(memory.find(memory.path_of("code", asked)));
  std::ofstream(folder / "root/set") << "2";
  REQUIRE(data() != before);
  CHECK_FALSE(memory.find(memory.path_of("code", asked)));
  std::filesystem::remove(folder / "root/set");
  CHECK(memory.find(memory.path_of("code", asked)));
  std::filesystem::current_path(here);
}

TEST_CASE("an answer that does not list its files, or lists other files, is not stored") {
  const TemporaryFolder folder;
  const auto file = folder.write("data.txt", "abc");
  const TaskMemory memory(folder / "memory");
  const auto file_of_it = memory.path_of("code", "asked");
  memory.put(file_of_it, {{"digest", "d"}});
  CHECK_FALSE(memory.find(file_of_it));
  memory.put(file_of_it, {{"digest", "d"}, {"files", {{"/no/such/file", ""}}}});
  CHECK_FALSE(memory.find(file_of_it));
  const auto before = file_stamp(file);
  folder.write("data.txt", "abcd");
  memory.put(file_of_it, {{"digest", "d"}, {"files", {{file.string(), before}}}});
  CHECK_FALSE(std::filesystem::exists(folder / "memory"));
  memory.put(file_of_it, {{"digest", "d"}, {"files", json::object()}});
  CHECK(memory.find(file_of_it));
  const TaskMemory none("");
  none.put(none.path_of("code", "asked"), {{"files", json::object()}});
  CHECK_FALSE(none.find(none.path_of("code", "asked")));
}

TEMPLATE_TEST_CASE("an answer without this version's shape is dropped, whatever is wrong with it", "", ablate::DescribeTaskJob,
                   ablate::PrepareTaskJob) {
  const TemporaryFolder folder;
  const TaskMemory memory(folder / "memory");
  TestType job;
  constexpr bool kPrepared = std::is_same_v<TestType, ablate::PrepareTaskJob>;
  if constexpr (kPrepared) job.scan_padding = true;
  json whole{{"length", 8}, {"train_length", 8}, {"causal", true}, {"holes", false}, {"pooled", true}, {"stream", false}};
  if (kPrepared)
    whole.update(
        {{"digest", "d"}, {"train_positions", 9}, {"sizes", {{"train", 9}, {"dev", 2}, {"test", 3}}}, {"padded", true}});
  const auto file_of_it = memory.path_of("code", "asked");
  const auto find = [&](json answer) {
    answer["files"] = json::object();
    memory.put(file_of_it, answer);
    return memory.find(file_of_it, [&](const json& known) { return ablate::answer_from(known, job); });
  };
  const auto read = find(whole);
  REQUIRE(read);
  CHECK(read->length == 8);
  if constexpr (kPrepared) CHECK(read->sizes.test == 3);
  std::vector<json> bad;
  for (const auto& [name, value] : whole.items()) {
    bad.push_back(whole);
    bad.back().erase(name);
    for (const auto& other : {json(nullptr), json("8.5"), json(8.5), json(-1), json::array()}) {
      if (name == "digest" && other.is_string()) continue;
      bad.push_back(whole);
      bad.back()[name] = other;
    }
  }
  bad.push_back(whole);
  bad.back()["length"] = 0;  // the length is a divisor
  for (const auto& answer : bad) {
    INFO(answer.dump());
    CHECK_FALSE(find(answer));
    CHECK_FALSE(std::filesystem::exists(file_of_it));
  }
}
