// Collects what is wrong with a study, so that all of it is reported at once.
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/host/study/study.h"

namespace ablate {

/// The file name of values that come from the command line; such a Location's line counts the overrides from 1.
inline constexpr const char* kOverrideFile = "--set";

class Diagnostics {
 public:
  /// @param overrides as given on the command line: a message about one begins with its text
  explicit Diagnostics(std::vector<std::string> overrides = {}) : overrides_(std::move(overrides)) {}

  /// The same message at the same place is kept once: a bad base value concerns every trial.
  void add(const Location& where, const std::string& message, ExitCode code = ExitCode::kUsage);

  bool empty() const { return found_.empty(); }
  std::size_t size() const { return found_.size(); }

  /// By line and column; what concerns the command line comes last.
  std::vector<Diagnostic> sorted() const;

 private:
  std::vector<std::string> overrides_;
  std::set<std::tuple<bool, std::string, int, int, std::string, ExitCode>> found_;
};

/// "grid.toml:3:9", without what is not known; "--set" for an override.
std::string to_text(const Location& where);

/// A value for messages, as JSON: "relu", ["1/2", 0.25].
std::string show(const nlohmann::json& value);

/// hint() of core/util/nearest.h, but never silent: where nothing is near, all candidates are named.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace ablate
