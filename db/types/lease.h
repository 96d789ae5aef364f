// Who may run a trial, where several schedulers share a history. No SQLite.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/types/records.h"

namespace ablate::db {

/// A scheduler that leases trials. Whether it lives only its slot's lock tells (core/util/byte_locks.h); the rest is shown, or
/// tells what it may have left behind.
struct LeaseOwner {
  std::int64_t slot = 0;  ///< of its lock, 1 or more; a history gives each once
  std::string host;
  std::int64_t process = 0, started = 0;        ///< its number and start (core/util/processes.h)
  std::string space;                            ///< where these mean the same: process_space()
  std::int64_t worker = 0, worker_started = 0;  ///< likewise of the process that runs its trials; 0: none
};

/// What became of asking for a trial.
struct LeaseAnswer {
  enum class What {
    kMine,      ///< it is leased, under `fence`
    kDone,      ///< there is nothing to do
    kFailed,    ///< another scheduler has tried it meanwhile, and it is not tried again
    kElsewhere  ///< another scheduler runs it
  };
  What what = What::kElsewhere;
  std::int64_t fence = 0;  ///< greater than that of any lease before
  PastTries past = {};     ///< of kMine, where others have had it since they were last asked for; else empty
};

/// A trial that some scheduler has leased.
struct HeldLease {
  std::string key;
  std::int64_t fence = 0;
  LeaseOwner owner;
};

/// At one moment.
struct Leases {
  std::int64_t newest = 0;  ///< fence of all so far; 0: there was none
  std::vector<HeldLease> held;
};

}  // namespace ablate::db
