// Packages that tools/setup installs, and targets that it builds, by option. Fake programs replace the real ones.
#include "tests/support/catch.h"
#include "tests/support/process.h"

namespace {

namespace fs = std::filesystem;

const fs::path kSource = ABLATE_SOURCE_DIR;

struct Called {
  std::string programs;  ///< a line for each call
  Ended ended;

  bool has(const std::string& text) const { return programs.find(text) != std::string::npos; }
  int count(const std::string& text) const {
    int all = 0;
    for (auto at = programs.find(text); at != std::string::npos; at = programs.find(text, at + 1)) ++all;
    return all;
  }
  bool builds() const { return has("cmake --build"); }
  bool asks_tests() const { return has(" patch "); }    ///< a package of the tier --tests
  bool asks_soak() const { return has(" clang-19 "); }  ///< a package of the tier --soak
};

/// Runs tools/setup on a machine without packages. Fakes replace the programs that install, build or change the
/// machine, and only record their calls.
Called setup(const std::vector<std::string>& options) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "tools");
  for (const auto* file : {"setup", "typst.txt", "cuda.txt"}) fs::copy(kSource / "tools" / file, folder / "tools" / file);
  fs::copy(kSource / "tools/packages", folder / "tools/packages");
  folder.write("torch/lib/libtorch_cpu.so", "");
  folder.write("bin/nvcc", "#!/bin/sh\n");
  folder.write("bin/id", "#!/bin/sh\necho 0\n");
  for (const auto* program : {"apt-get", "cmake", "dpkg-query", "env", "python3", "sh"})
    folder.write(std::string("bin/") + program, "#!/bin/sh\necho \"${0##*/} $* \" >>'" + (folder / "calls").string() + "'\n");
  for (const auto& entry : fs::directory_iterator(folder / "bin")) fs::permissions(entry, fs::perms::owner_all);
  std::vector<std::string> command{"/bin/bash", (folder / "tools/setup").string()};
  command.insert(command.end(), options.begin(), options.end());
  auto ended = Process(command, {{"PATH", (folder / "bin").string() + ":/usr/bin:/bin"},
                                 {"CMAKE_PREFIX_PATH", (folder / "torch").string()},
                                 {"CUDACXX", (folder / "bin/nvcc").string()},
                                 {"XDG_CACHE_HOME", (folder / "cache").string()}})
                   .wait();
  return {read_text(folder / "calls"), std::move(ended)};
}

}  // namespace

TEST_CASE("tools/setup: options add up, and exactly the requested parts are built") {
  const auto plain = setup({});
  INFO(plain.ended.err);
  CHECK(plain.ended.exit_code == 0);
  CHECK(plain.has(" nlohmann-json3-dev "));
  CHECK((plain.builds() && !plain.asks_tests() && !plain.asks_soak()));

  for (const auto& both : {std::vector<std::string>{"--tests", "--soak"}, {"--soak", "--tests"}}) {
    const auto called = setup(both);
    CHECK((called.asks_tests() && called.asks_soak() && called.builds()));
    CHECK(called.count(" patch ") == 2);  // searched and installed
    CHECK(called.has("-DBUILD_TESTING=ON"));
  }
  const auto lint = setup({"--tests", "--lint"});
  CHECK((lint.asks_tests() && lint.builds()));

  const auto soak = setup({"--soak"});
  CHECK((soak.asks_tests() && soak.asks_soak() && !soak.builds()));
  for (const auto* alone : {"--lint", "--cuda"}) {
    const auto called = setup({alone});
    CHECK(called.ended.exit_code == 0);
    CHECK((!called.builds() && !called.asks_tests()));
    CHECK(setup({alone, "softmax"}).has("--target softmax "));
  }
}

TEST_CASE("tools/setup: an unknown option is reported, and nothing is done") {
  const auto called = setup({"--lnt", "softmax"});
  CHECK(called.ended.exit_code == 2);
  CHECK(called.ended.err.find("found --lnt, expected --tests, --lint, --soak, --cuda, --peers or a CMake target") !=
        std::string::npos);
  CHECK(called.programs.empty());
}
