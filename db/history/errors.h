// Failures of the run history that a caller may want to tell from a wrong question.
#pragma once

#include "core/util/error.h"

namespace ablate::db {

/// What may pass by itself: another process's lock, a full disk, an I/O error. Nothing was written; the same call may succeed
/// later.
struct Unavailable : Error {
  using Error::Error;
};

/// The file is no longer the one that was opened: it was removed or replaced. Nothing was written; Store::rescue keeps what
/// this connection sees.
struct Gone : Error {
  using Error::Error;
};

/// A trial that is not known, or is no longer: its experiment was deleted. Nothing was written; put_trials makes it known.
struct UnknownTrial : Error {
  using Error::Error;
};

/// How long a call waits for another process's lock before it throws Unavailable, unless Store::set_patience says otherwise.
inline constexpr int kUsualPatienceMs = 30'000;

}  // namespace ablate::db
