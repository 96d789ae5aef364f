// What one of a kind touches beside its own file: a line of a list. Each patch here adds one to a copy of the sources, which is
// then compiled, linked and run.
#include "tests/support/catch.h"
#include "tests/support/process.h"

namespace {

const std::filesystem::path kSource = ABLATE_SOURCE_DIR;

/// What a patch changes.
struct Extent {
  int own_files = 0;           ///< that it makes
  int other_files = 0;         ///< that were there
  int added = 0, removed = 0;  ///< lines of those
};

Extent extent_of(const std::filesystem::path& patch) {
  Extent extent;
  std::ifstream lines(patch);
  bool own = false;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("--- "))
      own = line == "--- /dev/null", ++(own ? extent.own_files : extent.other_files);
    else if (!own && !line.starts_with("+++ "))
      extent.added += line.starts_with("+"), extent.removed += line.starts_with("-");
  return extent;
}

std::string output_of(const std::vector<std::string>& command, const std::string& folder) {
  const auto ended = Process(command, {}, folder).wait();
  INFO(ended.out << ended.err);
  REQUIRE(ended.exit_code == 0);
  return ended.out;
}

}  // namespace

TEST_CASE("an output format and a statistic touch a line of a list each, and then are asked for by name") {
  TemporaryFolder copy;
  for (const auto* folder : {"db/report", "db/types", "core/records", "core/util", "core/sdk"}) {
    std::filesystem::create_directories(copy / folder);
    std::filesystem::copy(kSource / folder, copy / folder, std::filesystem::copy_options::recursive);
  }
  for (const auto* name : {"format", "statistic"}) {
    const auto patch = kSource / "tests/locality" / (std::string(name) + ".patch");
    INFO(patch.string());
    const auto extent = extent_of(patch);
    CHECK(extent.own_files == 1);
    CHECK(extent.other_files == 1);
    CHECK(extent.added == 1);
    CHECK(extent.removed == 0);
    output_of({"patch", "-p1", "-s", "--fuzz=0", "-i", patch.string()}, copy.path().string());
  }
  // All that a table is printed with, and what of core/util it names, as one source: the headers are read once.
  std::string all;
  const auto include = [&](const std::filesystem::path& file) { all += "#include \"" + file.string() + "\"\n"; };
  for (const auto* folder : {"db/report", "db/report/printers", "db/report/statistics"})
    for (const auto& entry : std::filesystem::directory_iterator(copy / folder))
      if (entry.path().extension() == ".cpp") include(entry.path());
  for (const auto* file : {"flatten", "nearest", "plain_text", "rate_text", "shell_word"})
    include(copy / (std::string("core/util/") + file + ".cpp"));
  include(kSource / "tests/locality/prints.cpp");
  copy.write("all.cpp", all);
  output_of({ABLATE_COMPILER, "-std=c++20", "-O0", "-I.", "-Icore/sdk/include", "-o", "prints", "all.cpp", "-lfmt"},
            copy.path().string());
  CHECK(output_of({"./prints", "tabs", "range"}, copy.path().string()) ==
        "attention\ttest/accuracy (%)\trange\nsoftmax\t72.0 ± 2.8\t4.000\nlinear\t65.0 ± 1.4\t2.000\n");
}
