// Trials that are done, by what their keys are made of, and which keys are proven to mean the same numbers. No SQLite.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/records/identity.h"

namespace ablate::db {

/// A trial that is done.
struct PastTrial {
  std::int64_t trial = 0, attempt = 0;  ///< its id; the latest attempt that is done
  Identity parts;                       ///< parts of its key
};

/// Another key of a trial: the key under new code that gives the same numbers.
struct Alias {
  std::string key;
  std::int64_t trial = 0;
  nlohmann::json basis;  ///< the key's; its settings are the trial's
};

/// That trials of one basis give the numbers of another.
struct Proof {
  std::int64_t proven_us = 0;  ///< microseconds since 1970, UTC
  nlohmann::json before, now;  ///< what of the basis differs
  nlohmann::json environment;
  std::vector<std::int64_t> attempts;  ///< that were repeated
  std::vector<Alias> aliases;
};

}  // namespace ablate::db
