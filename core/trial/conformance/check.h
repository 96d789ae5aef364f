// The conformance suite: one check of one plugin, what came of it, and the list that a suite writes. Torch-free.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ablate {

struct Check {
  std::string name;  ///< "padding", "gradient", ...
  std::string on;    ///< shapes and parameters: "[2, 7, 16] float64, heads 2"
  bool passed = false;
  std::string skipped;   ///< why it did not run, and has neither passed nor failed; "" where it ran
  std::string found;     ///< what was seen, with the numbers; a reason where it failed
  double error = 0;      ///< how far off, in the check's own measure (docs/checks.md); infinity where no number says it
  double tolerance = 0;  ///< the largest error that passes

  bool failed() const { return !passed && skipped.empty(); }
};

/// Runs checks one by one and keeps what came of each.
class Checks {
 public:
  using Begin = std::function<void(const std::string& name, const std::string& on)>;
  using End = std::function<void(const Check&)>;
  /// Measures an error. It may say in `where` what it saw, and where; an exception is a failure with its what(), on one line.
  using Measure = std::function<double(std::string& where)>;

  Checks() = default;
  /// Tells of every check before it starts, so that one which ends the process is known by its name, and after it.
  Checks(Begin begin, End end) : begin_(std::move(begin)), end_(std::move(end)) {}

  void run(const std::string& name, const std::string& on, double tolerance, const Measure& measure);

  /// A check that cannot run here, with the reason.
  void skip(const std::string& name, const std::string& on, const std::string& why);

  const std::vector<Check>& all() const { return all_; }

 private:
  Begin begin_;
  End end_;
  std::vector<Check> all_;
};

}  // namespace ablate
