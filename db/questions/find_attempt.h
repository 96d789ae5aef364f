// An attempt by the name that people give it.
#pragma once

#include <cstdint>
#include <string>

#include "db/history/reader.h"

namespace ablate::db {

struct FoundAttempt {
  std::int64_t attempt = 0, trial = 0;
  bool by_key = false;  ///< it was named by its trial's key, so another attempt at the trial will do
};

/// @param name a number, or the first digits of a trial's key: its latest attempt that is done, else its latest. Throws Error:
/// no such attempt, or several trials begin so.
FoundAttempt find_attempt(const Reader& reader, const std::string& name);

}  // namespace ablate::db
