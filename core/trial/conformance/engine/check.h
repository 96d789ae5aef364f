// The conformance suite's one word: a check of a plugin. What it is called, what it ran on, what it found, what was allowed and
// why; and the list that a suite writes. Torch-free.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ablate {

class Finding;

/// What may be off, and where that number comes from.
struct Allowed {
  double error;
  const char* why;
};
inline constexpr Allowed kExact{0, "the same operations on the same numbers"};
inline constexpr Allowed kRounding{1e-10, "float64, sums of some hundred terms in another order"};

enum class Verdict { kPassed, kFailed, kUnchecked };

struct Check {
  std::string name;  ///< "padding", "gradient", ...
  std::string on;    ///< shapes and parameters: "[2, 7, 16] float64, heads 2"
  Verdict verdict = Verdict::kUnchecked;
  std::string found;     ///< what was seen, and where; why it could not be checked here
  double error = 0;      ///< how far off, in the check's own measure (docs/checks.md); infinity where no number says it
  double tolerance = 0;  ///< the largest error that passes
  std::string why = {};  ///< where the tolerance comes from; "" where an exception says what is wrong
  /// "rbf": the plugins among its parameters with which alone it fails; with others it passes. "" of all other checks.
  std::string part = {};

  bool passed() const { return verdict == Verdict::kPassed; }
  bool failed() const { return verdict == Verdict::kFailed; }
};

/// The suite cannot look, and why: a check that throws it is unchecked.
struct CannotLook : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What `act` gives, which touches no files but the suite's own. Throws CannotLook where the file system refuses.
template <class Act>
auto on_own_files(const Act& act) {
  try {
    return act();
  } catch (const std::filesystem::filesystem_error& error) {
    throw CannotLook(std::string("a file of the suite's own cannot be written (TMPDIR names the folder): ") + error.what());
  }
}

/// Runs checks one by one and keeps what came of each.
class Checks {
 public:
  /// @param with the plugins among its parameters
  using Begin = std::function<void(const std::string& name, const std::string& on, const std::vector<std::string>& with)>;
  using End = std::function<void(const Check&)>;
  /// Shows a finding all that is to be as expected. An exception is a failure with its what(), on one line. What is shown
  /// nothing has looked at nothing, and is unchecked.
  using Look = std::function<void(Finding& finding)>;
  /// Has another look at a check that failed, before it is told.
  using Judge = std::function<void(Check&)>;

  Checks() = default;
  /// Tells of every check before it starts, so that one which ends the process is known by its name, and after it.
  Checks(Begin begin, End end) : begin_(std::move(begin)), end_(std::move(end)) {}

  /// From now on runs those alone that have one of the names; none: all.
  void only(std::set<std::string> names) { only_ = std::move(names); }

  /// From now on a check ends with the first thing that is wrong, which is told; else with the worst of all.
  void stop_at_first() { stops_ = true; }

  /// From now on; none: what fails has failed. @param with the plugins among the parameters of what is checked
  void judge(Judge judge, std::vector<std::string> with) {
    judge_ = std::move(judge);
    with_ = std::move(with);
  }

  void run(const std::string& name, const std::string& on, const Allowed& allowed, const Look& look);

  /// A check that cannot run here, with the reason: neither passed nor failed.
  void leave(const std::string& name, const std::string& on, const std::string& why);

  /// The longest lengths that were looked at, as CheckedLengths: where the check of this name passed.
  void looked_at(const std::string& name, const std::map<std::string, std::int64_t>& lengths);
  const std::map<std::string, std::int64_t>& lengths() const { return lengths_; }

  const std::vector<Check>& all() const { return all_; }

 private:
  bool wanted(const std::string& name) const { return only_.empty() || only_.count(name) > 0; }
  void keep(Check check);

  Begin begin_;
  End end_;
  Judge judge_;
  std::vector<std::string> with_;
  std::set<std::string> only_;
  bool stops_ = false;
  std::vector<Check> all_;
  std::map<std::string, std::int64_t> lengths_;
};

/// Returns the names of a table's checks.
template <class Rules>
std::vector<std::string> names_of(const Rules& rules) {
  std::vector<std::string> names;
  for (const auto& rule : rules) names.emplace_back(rule.name);
  return names;
}

}  // namespace ablate
