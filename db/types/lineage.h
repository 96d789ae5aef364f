// Trials that are done, by what their keys are made of, and which keys are proven to mean the same numbers. No SQLite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/records/identity.h"

namespace ablate::db {

/// A trial that is done.
struct PastTrial {
  std::int64_t trial = 0, attempt = 0;  ///< its id; the latest attempt that is done
  std::string key;
  Identity parts;                                   ///< what the key is made of
  bool by_proof = false;                            ///< the key is another one of the trial, which a proof has given
  nlohmann::json added = nlohmann::json::object();  ///< Alias::added of such a key
};

/// Another key of a trial.
struct Alias {
  std::string key;
  std::int64_t trial = 0;
  nlohmann::json basis;  ///< the key's; its settings are the trial's
  std::string rests_on;  ///< the key that it was made from, where that is another one of the trial, too; "": its own
  /// Values that the trial has under this key and not under its own, by path: defaults of parameters that the code of its own
  /// key had not.
  nlohmann::json added = nlohmann::json::object();
};

/// That trials of one basis give the numbers of another.
struct Proof {
  std::int64_t proven_us = 0;  ///< microseconds since 1970, UTC
  nlohmann::json before, now;  ///< what of the basis differs
  nlohmann::json environment;
  std::vector<std::int64_t> attempts;  ///< that were repeated
  std::vector<Alias> aliases;
};

/// What a proof took with it.
struct Withdrawn {
  std::size_t trials = 0;                         ///< that were done by it, and by nothing else
  std::map<std::int64_t, std::size_t> resting{};  ///< those of later proofs that rested on it, by number
};

}  // namespace ablate::db
