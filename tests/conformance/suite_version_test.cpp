// Verdicts and audits belong to a version of the suite, and floors belong to a version of the predictors. After an edit of the
// suite or the predictors, the test asks the author whether verdicts, audits or floors change.
//
// The record has each version, and a digest of the versioned code without comments and white space. To write the record again
// after an edit, or after a merge of two edits, run
//     build/release/tests/test_suite_version "[record]"
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/shared/versions.h"
#include "core/util/sha256.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"
#include "tools/identity/code.h"

using namespace ablate;

namespace {

using Paths = std::vector<std::filesystem::path>;

/// Code that may need a new version after an edit.
struct Versioned {
  std::string name, constant, effect;
  int version;
  Paths code;  ///< folders and files
};

const std::filesystem::path kTrial = std::filesystem::path(ABLATE_SOURCE_DIR) / "core/trial",
                            kTask = kTrial / "conformance/task";
const std::filesystem::path kRecord = kTrial / "conformance/suite_digest.txt";
const std::string kCommand = ABLATE_BUILD_DIR "/tests/test_suite_version \"[record]\"";

const Versioned kSuite{"suite",
                       "kSuiteVersion",
                       "the edit changes which plugins pass or fail, raise {}; earlier verdicts then no longer count",
                       kSuiteVersion,
                       {kTrial / "conformance", kTrial / "audit", kTrial / "floors"}};
const Versioned kFloors{
    "floors",
    "kFloorsVersion",
    "the edit changes the numbers of a predictor, raise {}; earlier floors then no longer count",
    kFloorsVersion,
    {kTrial / "floors", kTask / "examples.cpp", kTask / "examples.h", kTask / "symbols.cpp", kTask / "symbols.h"}};

std::string digest_of(const Paths& paths) {
  std::string code;
  for (const auto& path : paths) {
    Paths files;
    if (std::filesystem::is_directory(path))
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) files.push_back(entry.path());
    else
      files.push_back(path);
    std::erase_if(files, [](const auto& file) {
      return file.extension() != ".cpp" && file.extension() != ".h" && file.extension() != ".cu";
    });
    std::sort(files.begin(), files.end());
    for (const auto& file : files)
      code += file.lexically_relative(path).string() + '\n' + sha256(identity::read_code(read_text(file))) + '\n';
  }
  return sha256(code);
}

std::vector<std::string> names_of(const Paths& paths) {
  std::vector<std::string> names;
  for (const auto& path : paths) names.push_back(path.lexically_relative(ABLATE_SOURCE_DIR).string());
  return names;
}

std::string line_of(const Versioned& of) { return fmt::format("{} {} code {}\n", of.name, of.version, digest_of(of.code)); }

/// Returns an instruction for the author, or "" if the record has this code's version and digest.
std::string demand(const std::string& recorded, const Versioned& of) {
  if (recorded.find(line_of(of)) != std::string::npos) return "";
  if (recorded.find(fmt::format("{} {} ", of.name, of.version)) == std::string::npos)
    return fmt::format("{} (core/shared/versions.h) is {}, and {} has \"{}\". Record the new version: {}", of.constant,
                       of.version, kRecord.string(), recorded, kCommand);
  const auto constant = of.constant + " (core/shared/versions.h)";
  return fmt::format("the code of {} differs from the code recorded for {} {}. If {}. Then record the new code: {}",
                     fmt::join(names_of(of.code), ", "), of.name, of.version, fmt::format(fmt::runtime(of.effect), constant),
                     kCommand);
}

}  // namespace

TEST_CASE("the code of the suite and of the floors is the code that was recorded with their versions") {
  CHECK(demand(read_text(kRecord), kSuite) == "");
  CHECK(demand(read_text(kRecord), kFloors) == "");
}

TEST_CASE("the code and the versions are recorded", "[.][record]") {
  std::ofstream(kRecord) << line_of(kSuite) << line_of(kFloors);
  CHECK(demand(read_text(kRecord), kSuite) == "");
}

TEST_CASE("an edit of versioned code is noticed, an edit of its comments is not") {
  const TemporaryFolder folder;
  folder.write("a.cpp", "int a() { return 1; }  // one\n");
  folder.write("b.h", "int b();\n");
  folder.write("notes.txt", "one");
  const auto is_file = GENERATE(false, true);
  const Versioned six{
      "suite", "kSuiteVersion", "the edit changes verdicts, raise {}", 6, {is_file ? folder / "a.cpp" : folder.path()}};
  auto seven = six;
  seven.version = 7;
  const auto before = digest_of(six.code), recorded = line_of(six);
  CHECK(demand(recorded, six) == "");
  CHECK(demand("floors 1 code 0\n" + recorded, six) == "");
  folder.write("a.cpp", "// another\nint a()\n{ return 1; }\n");
  folder.write("notes.txt", "two");
  CHECK(digest_of(six.code) == before);
  CHECK(demand(recorded, seven).starts_with("kSuiteVersion (core/shared/versions.h) is 7, and "));
  CHECK(demand("", six).starts_with("kSuiteVersion (core/shared/versions.h) is 6, and "));
  const auto check = [&] {
    const auto said = demand(recorded, six);
    CHECK(said.find("differs from the code recorded for suite 6") != std::string::npos);
    CHECK(said.find("raise kSuiteVersion (core/shared/versions.h)") != std::string::npos);
    CHECK(said.ends_with("test_suite_version \"[record]\""));
  };
  SECTION("a number") {
    folder.write("a.cpp", "int a() { return 2; }\n");
    check();
  }
  if (is_file) return;
  SECTION("an added file") {
    folder.write("deeper/c.cpp", "int c;\n");
    check();
  }
  SECTION("a missing file") {
    std::filesystem::remove(folder / "b.h");
    check();
  }
  SECTION("a name") {
    std::filesystem::rename(folder / "b.h", folder / "c.h");
    check();
  }
}
