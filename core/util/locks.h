// Which of several processes live: each holds a lock, which ends with it. An interface: a test, or a simulation of many
// schedulers, has its own.
#pragma once

#include <cstdint>
#include <string>

namespace ablate {

/// Locks on numbered slots, which all that share a history see. A slot is held until its holder gives it up or is dead; one
/// that is stopped, or runs in another container of the machine, holds it. One thread.
class Locks {
 public:
  Locks() = default;
  virtual ~Locks() = default;  ///< gives up what this one holds
  Locks(const Locks&) = delete;
  Locks& operator=(const Locks&) = delete;

  /// Holds a slot from now on. @param slot 1 or more @return false where another holds it. Throws Error.
  virtual bool take(std::int64_t slot) = 0;

  /// Whether anybody holds it, this one included; if not, its holder is dead. Where the system cannot tell: true.
  virtual bool is_held(std::int64_t slot) = 0;

  /// Why is_held may be wrong here: "it lies on nfs, where locks may mean nothing"; "" where it can be relied on. To be asked
  /// while a slot is held.
  virtual std::string doubt() = 0;

  /// Holds the slot also for whoever comes now, where what the locks are kept in was removed by somebody.
  virtual void keep_slot() {}

  /// Removes what the locks are kept in. For the last holder, while nobody else can begin to take a slot.
  virtual void remove() = 0;
};

}  // namespace ablate
