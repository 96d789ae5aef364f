// Verdicts and audits belong to a version of the suite. This test asks the author of a change whether verdicts change.
//
// The record has the version, and a digest of the code in core/trial/conformance, audit and floors, without comments and white
// space.
//     build/release/tests/test_suite_version "[record]"
// records it again. Do this after an edit, and after a merge of two edits.
#include <fmt/format.h>

#include <algorithm>

#include "core/shared/versions.h"
#include "core/util/sha256.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"
#include "tools/identity/code.h"

using namespace ablate;

namespace {

using Folders = std::vector<std::filesystem::path>;

const std::filesystem::path kTrial = std::filesystem::path(ABLATE_SOURCE_DIR) / "core/trial";
const Folders kSuite = {kTrial / "conformance", kTrial / "audit", kTrial / "floors"};
const std::filesystem::path kRecord = kSuite.front() / "suite_digest.txt";
const std::string kCommand = ABLATE_BUILD_DIR "/tests/test_suite_version \"[record]\"";

std::string digest_of(const Folders& folders) {
  std::string code;
  for (const auto& folder : folders) {
    Folders files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (const auto end = entry.path().extension(); end == ".cpp" || end == ".h" || end == ".cu")
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files)
      code += file.lexically_relative(folder).string() + '\n' + sha256(identity::read_code(read_text(file))) + '\n';
  }
  return sha256(code);
}

std::string line_of(int version, const std::string& digest) { return fmt::format("suite {} code {}\n", version, digest); }

/// Returns an instruction for the author, or "" if the record is right.
std::string demand(const std::string& recorded, int version, const std::string& digest) {
  if (recorded == line_of(version, digest)) return "";
  if (!recorded.starts_with(fmt::format("suite {} ", version)))
    return fmt::format("kSuiteVersion (core/shared/versions.h) is {}, and {} has \"{}\". Record it: {}", version,
                       kRecord.string(), recorded.substr(0, recorded.find('\n')), kCommand);
  return fmt::format(
      "the code of core/trial/conformance, audit or floors differs from the code recorded for suite {}. If others pass or "
      "fail by it, raise kSuiteVersion (core/shared/versions.h), so that earlier verdicts count no longer. Then record it: {}",
      version, kCommand);
}

}  // namespace

TEST_CASE("the suite's code is the one that was recorded with its version") {
  CHECK(demand(read_text(kRecord), kSuiteVersion, digest_of(kSuite)) == "");
}

TEST_CASE("the suite's code and its version are recorded", "[.][record]") {
  std::ofstream(kRecord) << line_of(kSuiteVersion, digest_of(kSuite));
  CHECK(demand(read_text(kRecord), kSuiteVersion, digest_of(kSuite)) == "");
}

TEST_CASE("an edit of the suite's code is found, an edit of its comments is not") {
  const TemporaryFolder folder;
  folder.write("a.cpp", "int a() { return 1; }  // one\n");
  folder.write("b.h", "int b();\n");
  folder.write("notes.txt", "one");
  const auto before = digest_of({folder.path()});
  const auto recorded = line_of(6, before);
  CHECK(demand(recorded, 6, before) == "");
  folder.write("a.cpp", "// another\nint a()\n{ return 1; }\n");
  folder.write("notes.txt", "two");
  CHECK(digest_of({folder.path()}) == before);
  CHECK(demand(recorded, 7, before).starts_with("kSuiteVersion (core/shared/versions.h) is 7, and "));
  CHECK(demand("", 6, before).starts_with("kSuiteVersion (core/shared/versions.h) is 6, and "));
  SECTION("a number") { folder.write("a.cpp", "int a() { return 2; }\n"); }
  SECTION("a file more") { folder.write("deeper/c.cpp", "int c;\n"); }
  SECTION("a file less") { std::filesystem::remove(folder / "b.h"); }
  SECTION("a name") { std::filesystem::rename(folder / "b.h", folder / "c.h"); }
  const auto said = demand(recorded, 6, digest_of({folder.path()}));
  CHECK(said.find("differs from the code recorded for suite 6") != std::string::npos);
  CHECK(said.find("raise kSuiteVersion") != std::string::npos);
  CHECK(said.ends_with("test_suite_version \"[record]\""));
}
