// Locks on slots, whose holders die when a script says so. For tests of the scheduler.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "core/util/byte_locks.h"

namespace ablate::simulated {

/// What the kernel knows: which process holds which slot of which history.
struct Holders {
  std::map<std::filesystem::path, std::map<std::int64_t, int>> processes;  ///< by history and slot
  std::string doubt;                                                       ///< of each Locks
  bool places_are_kept = false;  ///< whoever lost its lock takes it again within a second, as byte locks do

  /// Its locks are gone; that it goes on all the same is what locks that mean nothing look like.
  void dies(int process) {
    for (auto& [history, slots] : processes) std::erase_if(slots, [&](const auto& one) { return one.second == process; });
  }
};

class SimulatedLocks : public Locks {
 public:
  SimulatedLocks(Holders& holders, std::filesystem::path history, int process)
      : holders_(holders), history_(std::move(history)), process_(process) {}
  ~SimulatedLocks() override {
    std::erase_if(holders_.processes[history_], [&](const auto& one) { return one.second == process_; });
  }

  bool take(std::int64_t slot) override {
    const bool taken = holders_.processes[history_].emplace(slot, process_).second;
    if (taken) slot_ = slot;
    return taken;
  }
  void keep_slot() override {
    if (holders_.places_are_kept && slot_ > 0) holders_.processes[history_].emplace(slot_, process_);
  }
  bool is_held(std::int64_t slot) override { return holders_.processes[history_].contains(slot); }
  std::string doubt() override { return holders_.doubt; }
  void remove() override {}

 private:
  Holders& holders_;
  std::filesystem::path history_;
  int process_;
  std::int64_t slot_ = 0;  ///< that it has taken; 0: none
};

}  // namespace ablate::simulated
