// Leases: the right to run a trial if several schedulers share a history. No SQLite.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/types/records.h"

namespace ablate::db {

/// A scheduler that leases trials. The scheduler lives if the lock on its slot is held (core/util/byte_locks.h). The other
/// members are for display, and for finding processes that a dead scheduler left behind.
struct LeaseOwner {
  std::int64_t slot = 0;  ///< number of the scheduler's lock, 1 or more; a history never uses a slot twice
  std::string host;
  std::int64_t process = 0, started = 0;        ///< PID and start time (core/util/processes.h)
  std::string space;                            ///< scope in which PID and start time are valid: process_space()
  std::int64_t worker = 0, worker_started = 0;  ///< PID and start time of the process that runs its trials; 0: none
};

/// Result of a request for a trial.
struct LeaseAnswer {
  enum class What {
    kMine,      ///< the trial is leased, under `fence`
    kDone,      ///< the trial is done
    kFailed,    ///< another scheduler tried the trial meanwhile, and the trial is not tried again
    kElsewhere  ///< another scheduler runs the trial
  };
  What what = What::kElsewhere;
  std::int64_t fence = 0;  ///< greater than the fence of any earlier lease
  PastTries past = {};     ///< for kMine: the trial's past attempts if another scheduler had it since the last request
};

/// A trial that some scheduler has leased.
struct HeldLease {
  std::string key;
  std::int64_t fence = 0;
  LeaseOwner owner;
};

/// Leases at one moment.
struct Leases {
  std::int64_t newest = 0;  ///< fence of the newest lease so far; 0: there was none
  std::vector<HeldLease> held;
};

}  // namespace ablate::db
