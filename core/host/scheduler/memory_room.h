// Whether a trial has room in memory beside those that run. Torch-free.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/host/scheduler/plan.h"

namespace ablate {

/// Sizes in bytes, of what a trial's process shares with no other. Times are the scheduler's own, in seconds.
class MemoryRoom {
 public:
  /// What trials took that ran before, by key.
  void remember(const std::string& key, std::int64_t peak_bytes);

  void started(int job, const PlannedTrial& trial, double now_s);
  /// @param bytes held now @param step how far it is: from its first step on it has shown what it takes
  void sized(int job, std::int64_t bytes, std::int64_t step);
  void ended(int job, std::int64_t peak_bytes);

  /// Whether the trial fits into what is free once all others hold what they are expected to take. A trial of which nothing is
  /// known counts as four times the most that any has shown; before any has shown something, none starts beside one that has
  /// not, for kUnshown_s at most.
  /// @param available_bytes of the machine now; below 0: not known, and everything has room
  bool has_room(const PlannedTrial& next, std::int64_t available_bytes, double now_s) const;

  static constexpr double kUnshown_s = 10;

 private:
  struct Running {
    std::string kind, key;
    double since_s = 0;
    std::int64_t bytes = 0, peak = 0;
    bool has_shown = false;
  };
  /// 0: not known.
  std::int64_t expected(const std::string& key, const std::string& kind) const;

  std::map<std::string, std::int64_t> by_key_, by_kind_;  ///< peaks; a kind is all settings but the seed
  std::int64_t most_ = 0;
  std::map<int, Running> running_;
};

}  // namespace ablate
