// Runs ablate as a user does, in a temporary folder.
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/process.h"
#include "tests/support/says.h"

inline const std::string kBin = std::string(ABLATE_BUILD_DIR) + "/bin/";
inline const std::string kFaulty = std::string(ABLATE_BUILD_DIR) + "/tests/faulty-plugins/";

/// Temporary folder with a database and user plugins. All tests of a build share one cache, which is not the user's cache.
class Workplace {
 public:
  Workplace() {
    environment_["ABLATE_PLUGIN_PATH"] = "";
    environment_["XDG_CACHE_HOME"] = ABLATE_BUILD_DIR "/tests/cache";
  }

  Process start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kBin + "ablate");
    return start_program(arguments);
  }
  /// Starts a bash command line in this place's environment.
  Process start_shell(const std::string& command) { return start_program({"bash", "-c", command}); }
  Ended run(std::vector<std::string> arguments) { return start(std::move(arguments)).wait(); }

  Process start_program(const std::vector<std::string>& command) {
    auto environment = environment_;
    environment["XDG_DATA_HOME"] = (folder_ / "data").string();
    environment.try_emplace("ABLATE_DB", "");  // tests do not use the machine's history
    return Process(command, environment, folder_.path());
  }

  /// Runs a bash line in which $ablate is the program. Tests of closed or full streams use it.
  Ended shell(const std::string& line) { return start_shell("ablate=" + kBin + "ablate; " + line).wait(); }

  /// Returns the rows of a query as JSON objects.
  nlohmann::json query(const std::string& sql) {
    const auto ended = run({"query", sql, "--format", "json"});
    return ended.exit_code == 0 ? nlohmann::json::parse(ended.out)
                                : nlohmann::json{{"exit", ended.exit_code}, {"err", ended.err}};
  }

  std::filesystem::path study(const std::string& text) { return folder_.write("study.toml", text); }
  bool has_database() const { return std::filesystem::exists(folder_ / "ablate.db"); }
  const TemporaryFolder& folder() const { return folder_; }
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }

 private:
  TemporaryFolder folder_;
  std::map<std::string, std::string> environment_;
};

/// A study that runs in seconds: short ListOps expressions and the smallest model.
inline const std::string kTiny = R"(
[experiment]
name = "tiny"
[task]
plugin = "listops"
min_length = 5
max_length = 24
max_depth = 3
max_arguments = 4
train = 300
dev = 60
test = 60
[model]
layers = 1
d_model = 8
hidden = 8
[train]
steps = 6
batch = 10
)";

/// Returns the words separated by one blank, because `ablate check` breaks lines at 100 columns.
inline std::string flat(const std::string& text) {
  std::istringstream words(text);
  std::string all;
  for (std::string word; words >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

/// Returns how often a part occurs.
inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}
