// Who of several processes lives, as a lock says it that ends with its holder. An interface: a test, or a simulation of many
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

  /// Whether anybody holds it, this one included: else its holder is dead. Where the system does not say, it is held.
  virtual bool is_held(std::int64_t slot) = 0;

  /// Why is_held may be wrong here: "it lies on nfs, where locks may mean nothing"; "" where it can be relied on. Of one that
  /// holds a slot.
  virtual std::string doubt() = 0;

  /// Holds the slot also for whoever comes now, where what the locks are kept in was removed by somebody.
  virtual void keep_place() {}

  /// Removes what the locks are kept in. Of the last one, while nobody else can begin to take a slot.
  virtual void remove() = 0;
};

}  // namespace ablate
