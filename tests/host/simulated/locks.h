// Simulated locks, for tests of the scheduler. A script decides when the holders of the locks die.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "core/util/byte_locks.h"

namespace ablate::simulated {

/// The kernel's state: the process that holds each slot of each history.
struct Holders {
  std::map<std::filesystem::path, std::map<std::int64_t, int>> processes;  ///< process by history and slot
  std::string doubt;                                                       ///< doubt() of each Locks
  bool places_are_kept = false;  ///< true: schedulers take lost locks again within a second, as with ByteLocks

  /// Frees a process's locks. If the process continues, this has the effect of locks that do not work.
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
  std::int64_t slot_ = 0;  ///< slot of the process; 0: none
};

}  // namespace ablate::simulated
