// Done trials with the parts of their keys, and keys that are proven to mean the same numbers. No SQLite.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/records/identity.h"

namespace ablate::db {

struct PastTrial {
  std::int64_t trial = 0, attempt = 0;  ///< ids of the trial and of its latest done attempt
  Identity parts;                       ///< parts of the trial's key
};

/// Another key of a trial: the key under new code that gives the same numbers.
struct Alias {
  std::string key;
  std::int64_t trial = 0;
  nlohmann::json basis;  ///< basis of the key; the settings are the trial's
};

/// Proof that trials of one basis give the same numbers as trials of another basis.
struct Proof {
  std::int64_t proven_us = 0;  ///< microseconds since 1970, UTC
  nlohmann::json before, now;  ///< the parts of the basis that differ
  nlohmann::json environment;
  std::vector<std::int64_t> attempts;  ///< attempts that were repeated
  std::vector<Alias> aliases;
};

}  // namespace ablate::db
