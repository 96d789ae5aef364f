// A verdict of the suite applies only to the checked code. Other files in the folder are not verdicts.
#include "core/shared/verdict_memory.h"

#include <sys/stat.h>

#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using ablate::PluginCode;
using ablate::StoredVerdict;
using ablate::VerdictMemory;

namespace {

const PluginCode kCode{"attention", "mine", "c0de"};
const StoredVerdict kPassed{.verdict = "passed", .unchecked = {"cuda"}, .checked_s = 1'700'000'000};

StoredVerdict failed(const std::string& check) { return {.verdict = "failed", .failed = {check}}; }

std::filesystem::path only_file(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) all.push_back(entry.path());
  REQUIRE(all.size() == 1);
  return all[0];
}

}  // namespace

TEST_CASE("a verdict is valid only for one kind, id and code of a plugin") {
  const TemporaryFolder folder;
  const VerdictMemory memory(folder / "verdicts");
  CHECK(memory.find(kCode).verdict == "unchecked");
  memory.put(kCode, "cpu", kPassed);
  const auto found = memory.find(kCode);
  CHECK(found.passed());
  CHECK(found.unchecked == std::vector<std::string>{"cuda"});
  CHECK(found.checked_s == kPassed.checked_s);
  CHECK(found.timed);
  CHECK(memory.find({"attention", "mine", "edited"}).verdict == "unchecked");
  CHECK(memory.find({"attention", "yours", "c0de"}).verdict == "unchecked");
  CHECK(memory.find({"compression", "mine", "c0de"}).verdict == "unchecked");
  memory.put(kCode, "cpu", failed("padding"));
  CHECK(memory.find(kCode).has_failed());
  CHECK(memory.find(kCode).failed_text() == "padding");
  only_file(folder / "verdicts");  // no temporary file is left
  const VerdictMemory none("");
  none.put(kCode, "cpu", kPassed);
  CHECK(none.find(kCode).verdict == "unchecked");
}

TEST_CASE("a damaged file, or a file of another shape or plugin, counts as a missing file") {
  const TemporaryFolder folder;
  const VerdictMemory memory(folder / "verdicts");
  memory.put(kCode, "cpu", kPassed);
  const auto file = only_file(folder / "verdicts");
  const auto whole = read_text(file);
  SECTION("truncated") { std::ofstream(file) << whole.substr(0, whole.size() / 2); }
  SECTION("empty") { std::ofstream{file}; }
  SECTION("another shape") { std::ofstream(file) << R"({"verdict": ["passed"]})"; }
  SECTION("another type") {
    auto other = nlohmann::json::parse(whole);
    other["failed"] = 7;
    std::ofstream(file) << other;
  }
  SECTION("an invalid verdict") {
    auto other = nlohmann::json::parse(whole);
    other["verdict"] = "excellent";
    std::ofstream(file) << other;
  }
  SECTION("a time that no date can express") {
    auto other = nlohmann::json::parse(whole);
    const auto when = GENERATE(nlohmann::json(1'000'000'000'000'000'000), nlohmann::json(1e300), nlohmann::json(-1));
    other["checked_s"] = when;
    std::ofstream(file) << other;
  }
  SECTION("a verdict of another suite") {
    auto other = nlohmann::json::parse(whole);
    other["subject"]["suite"] = -1;
    std::ofstream(file) << other;
  }
  SECTION("a renamed verdict of another plugin") {
    const VerdictMemory others(folder / "others");
    others.put({"attention", "yours", "c0de"}, "cpu", kPassed);
    std::filesystem::rename(only_file(folder / "others"), file);
  }
  SECTION("a folder in place of the file, and no file is left beside this folder") {
    std::filesystem::remove(file);
    std::filesystem::create_directory(file);
    memory.put(kCode, "cpu", kPassed);
    only_file(folder / "verdicts");
  }
  SECTION("a pipe without a writer") {
    std::filesystem::remove(file);
    REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  }
  CHECK(memory.find(kCode).verdict == "unchecked");
}

TEST_CASE("a check without timing keeps the timed results of an earlier check") {
  const TemporaryFolder folder;
  const VerdictMemory memory(folder / "verdicts");
  auto untimed = kPassed;
  untimed.timed = false;
  memory.put(kCode, "cpu", untimed);
  CHECK_FALSE(memory.find(kCode).timed);
  memory.put(kCode, "cpu", {.verdict = "failed", .failed = {"padding", "time"}});
  memory.put(kCode, "cpu", untimed);  // padding was checked again, time was not
  CHECK(memory.find(kCode).failed_text() == "time");
  CHECK(memory.find(kCode).timed);
  memory.put(kCode, "cpu", kPassed);
  CHECK(memory.find(kCode).passed());
  memory.put(kCode, "cpu", untimed);
  CHECK(memory.find(kCode).passed());
  CHECK(memory.find(kCode).timed);
}

TEST_CASE("a plugin that fails on one kind of device counts as failed") {
  const TemporaryFolder folder;
  const VerdictMemory memory(folder / "verdicts");
  memory.put(kCode, "cuda", kPassed);
  CHECK(memory.find(kCode).verdict == "unchecked");  // cuda is compared with the CPU, which is unchecked
  memory.put(kCode, "cuda", failed("half"));
  CHECK(memory.find(kCode).failed_text() == "half on cuda");
  memory.put(kCode, "cpu", kPassed);
  CHECK(memory.find(kCode).has_failed());
  CHECK(memory.find(kCode).failed_text() == "half on cuda");
  memory.put(kCode, "cpu", failed("padding"));
  CHECK(memory.find(kCode).failed_text() == "padding, half on cuda");
  memory.put(kCode, "cuda", kPassed);
  CHECK(memory.find(kCode).failed_text() == "padding");
}

TEST_CASE("each place keeps its longest checked length, and a stored verdict without lengths has none") {
  const TemporaryFolder folder;
  const VerdictMemory memory(folder / "verdicts");
  auto looked = kPassed;
  looked.lengths = {{"causal", 4500}, {"bidirectional", 2113}};
  memory.put(kCode, "cpu", looked);
  looked.lengths = {{"causal", 2113}, {"bidirectional", 3000}};
  memory.put(kCode, "cpu", looked);
  CHECK(memory.find(kCode).lengths == ablate::CheckedLengths{{"causal", 4500}, {"bidirectional", 3000}});
  const auto file = only_file(folder / "verdicts");
  auto before = nlohmann::json::parse(read_text(file));
  before.erase("lengths");
  std::ofstream(file) << before;
  CHECK(memory.find(kCode).passed());
  CHECK(memory.find(kCode).lengths.empty());
}
