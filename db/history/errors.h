// Failures of the run history that a caller may want to distinguish from a wrong query.
#pragma once

#include "core/util/error.h"

namespace ablate::db {

/// A failure that may pass: another process's lock, a full disk, an I/O error. Nothing was written. A retry may succeed.
struct Unavailable : Error {
  using Error::Error;
};

/// The file was removed or replaced since it was opened. Nothing was written. Store::rescue saves the content.
struct Gone : Error {
  using Error::Error;
};

/// The trial is not known, or its experiment was deleted. Nothing was written; put_trials adds the trial.
struct UnknownTrial : Error {
  using Error::Error;
};

/// Time that a call waits for another process's lock before it throws Unavailable, unless Store::set_patience changes it.
inline constexpr int kUsualPatienceMs = 30'000;

}  // namespace ablate::db
