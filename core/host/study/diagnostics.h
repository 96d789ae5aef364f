// Collects the errors of a study, so that they are reported together.
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/host/study/study.h"

namespace ablate {

/// File name in the Location of a value from the command line. The line is the number of the override, from 1.
inline constexpr const char* kOverrideFile = "--set";

class Diagnostics {
 public:
  /// @param overrides from the command line: a message about an override begins with the override
  explicit Diagnostics(std::vector<std::string> overrides = {}) : overrides_(std::move(overrides)) {}

  /// Adds an error. Equal messages at one location count once, because every trial repeats an error in a base value.
  void add(const Location& where, const std::string& message, ExitCode code = ExitCode::kUsage);

  bool empty() const { return found_.empty(); }
  std::size_t size() const { return found_.size(); }

  /// Returns the errors by line and column. Errors on the command line come last.
  std::vector<Diagnostic> sorted() const;

 private:
  std::vector<std::string> overrides_;
  std::set<std::tuple<bool, std::string, int, int, std::string, ExitCode>> found_;
};

/// Returns "grid.toml:3:9", without the unknown parts, or "--set" for an override.
std::string to_text(const Location& where);

/// Returns a value as JSON for messages: "relu", ["1/2", 0.25].
std::string show(const nlohmann::json& value);

/// Returns hint() of core/util/nearest.h, or all candidates if none is near.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace ablate
