// Which plugins fail again and again in the same way, so that no night is spent on them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/host/scheduler/plan.h"

namespace ablate {

class Quarantine {
 public:
  using Plugins = std::set<std::pair<std::string, std::string>>;  ///< kinds and ids
  static constexpr std::size_t kEnough = 3;                       ///< failures with one reason, numbers in it aside

  /// What so many failures have in common.
  struct Blamed {
    Plugins plugins;
    std::string reason;  ///< "signal # (Segmentation fault)"
    std::string text() const;
  };

  /// A trial is done: earlier failures are no fault of the plugins that it has.
  void done(const PlannedTrial& trial) { done_[plugins_of(trial)] = ++now_; }
  /// @return from the third failure with one reason on: the plugins that the last three share, unless a trial with them was
  /// done in between. Divergence does not count: it comes of settings as often as of code.
  std::optional<Blamed> failed(const PlannedTrial& trial, const std::string& reason);

  /// Whether a trial has all plugins that are blamed.
  static bool holds(const Plugins& blamed, const PlannedTrial& trial);
  static Plugins plugins_of(const PlannedTrial& trial);

 private:
  struct Failure {
    Plugins plugins;
    std::int64_t when;
  };
  std::int64_t now_ = 0;
  std::map<Plugins, std::int64_t> done_;                ///< when last
  std::map<std::string, std::vector<Failure>> failed_;  ///< by reason, the latest
};

}  // namespace ablate
