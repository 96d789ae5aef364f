// One check of a plugin: its name, shapes, error found, error allowed and the reason. Also the list of all checks. Torch-free.
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

/// Largest error that passes, and the reason for that number.
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
  std::string found;     ///< text of the finding with its place, or the reason why the check could not run
  double error = 0;      ///< size of the error in the check's own measure (docs/checks.md); infinity: no number measures it
  double tolerance = 0;  ///< the largest error that passes
  std::string why = {};  ///< reason for the tolerance; "" if the check ended with an exception
  /// Plugins among the parameters ("rbf") with which the check fails, although it passes with other plugins. Otherwise "".
  std::string part = {};

  bool passed() const { return verdict == Verdict::kPassed; }
  bool failed() const { return verdict == Verdict::kFailed; }
};

/// Thrown when the suite cannot run a check: the check is then unchecked, with this reason.
struct CannotLook : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns the result of `act`, which touches only the suite's own files. Throws CannotLook if the file system fails.
template <class Act>
auto on_own_files(const Act& act) {
  try {
    return act();
  } catch (const std::filesystem::filesystem_error& error) {
    throw CannotLook(std::string("a file of the suite's own cannot be written (TMPDIR names the folder): ") + error.what());
  }
}

/// Runs checks one by one and stores their results.
class Checks {
 public:
  /// @param with the plugins among the parameters
  using Begin = std::function<void(const std::string& name, const std::string& on, const std::vector<std::string>& with)>;
  using End = std::function<void(const Check&)>;
  /// Function that compares all results of the check and reports the errors to the finding. If it throws, the check fails with
  /// the exception's what() on one line. A check that compared nothing is unchecked.
  using Look = std::function<void(Finding& finding)>;
  /// Function that examines a failed check once more, before the check is reported.
  using Judge = std::function<void(Check&)>;

  Checks() = default;
  /// Calls `begin` before each check and `end` after it. If a check ends the process, its name is thus known.
  Checks(Begin begin, End end) : begin_(std::move(begin)), end_(std::move(end)) {}

  /// From now on runs only the checks with these names. An empty set means all checks.
  void only(std::set<std::string> names) { only_ = std::move(names); }

  /// From now on a check ends with its first fault and reports that fault. By default, a check reports its worst fault.
  void stop_at_first() { stops_ = true; }

  /// From now on calls `judge` for each failed check. If `judge` is null, failures are final.
  /// @param with the plugins among the parameters of the checked plugin
  void judge(Judge judge, std::vector<std::string> with) {
    judge_ = std::move(judge);
    with_ = std::move(with);
  }

  void run(const std::string& name, const std::string& on, const Allowed& allowed, const Look& look);

  /// Records a check that cannot run here as unchecked, with the reason.
  void leave(const std::string& name, const std::string& on, const std::string& why);

  /// Records the longest lengths that the check `name` looked at, as CheckedLengths, if that check passed.
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

/// Returns the names of the checks in a table.
template <class Rules>
std::vector<std::string> names_of(const Rules& rules) {
  std::vector<std::string> names;
  for (const auto& rule : rules) names.emplace_back(rule.name);
  return names;
}

}  // namespace ablate
