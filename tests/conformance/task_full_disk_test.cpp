// If the suite cannot write, for instance on a full disk, a check counts as unchecked and not as failed.
#include "core/trial/conformance/engine/check.h"
#include "tests/conformance/task_recipe.h"

using namespace ablate;
using namespace ablate::tests;

TEST_CASE("a suite's file that cannot be written, and a full disk, are no fault") {
  Checks checks;
  const ::TemporaryFolder folder;
  const auto file = folder.write("a file", "text");
  checks.run("files", "", kExact,
             [&](Finding&) { on_own_files([&] { return std::filesystem::create_directories(file / "folder"); }); });
  checks.run("load", "", kExact, [](Finding&) { throw std::runtime_error("x.bin: No space left on device"); });
  checks.run("info", "", kExact, [](Finding&) { throw std::runtime_error("x.bin: no such word"); });
  CHECK(checks.all().at(0).verdict == Verdict::kUnchecked);
  check_mentions(checks.all().at(0).found, "a file of the suite's own cannot be written");
  CHECK(checks.all().at(1).verdict == Verdict::kUnchecked);
  CHECK(checks.all().at(2).failed());
}
