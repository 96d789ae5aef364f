// A stranger's machine: an empty home folder, ablate installed below it, and a shell.
#pragma once

#include "tests/support/catch.h"
#include "tests/support/process.h"
#include "tests/support/says.h"

class Stranger {
 public:
  Stranger() { std::filesystem::create_directory(home_ / "work"); }

  const std::filesystem::path& home() const { return home_.path(); }
  std::filesystem::path work() const { return home_ / "work"; }

  /// Installs ablate to ~/ablate and puts it on the PATH.
  void install() {
    const auto installed = Process({"cmake", "--install", ABLATE_BUILD_DIR, "--prefix", (home_ / "ablate").string()}).wait();
    INFO(installed.err);
    REQUIRE(installed.exit_code == 0);
    path_ = (home_ / "ablate/bin").string() + ":" + path_;
  }

  /// Runs a script in ~/work. The script ends at the first command that fails.
  Ended shell(const std::string& script) const {
    return Process({"bash", "-euo", "pipefail", "-c", script},
                   {{"HOME", home_.path().string()},
                    {"PATH", path_},
                    {"XDG_CACHE_HOME", ""},
                    {"XDG_DATA_HOME", ""},
                    {"ABLATE_DB", ""},
                    {"ABLATE_PLUGIN_PATH", ""},
                    {"ABLATE_WORKER", ""}},
                   work().string())
        .wait();
  }

  /// Returns the output of a script that must succeed.
  std::string output_of(const std::string& script) const {
    const auto ended = shell(script);
    INFO(script << "\n" << ended.out << ended.err);
    REQUIRE(ended.exit_code == 0);
    return ended.out + ended.err;
  }

 private:
  TemporaryFolder home_;
  std::string path_ = std::getenv("PATH");
};
