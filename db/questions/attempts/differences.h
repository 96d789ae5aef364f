// Differences between two attempts, or between two experiments.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/history/reader.h"

namespace ablate::db {

struct Differing {
  std::string what;
  nlohmann::json a, b;   ///< null: missing on that side; sets are texts separated by ", "
  bool digests = false;  ///< true if the values are digests of 64 hex digits, which are shown shortened
};

struct Differences {
  std::string a, b;  ///< the compared sides: "attempt 3", "experiment quickstart"
  std::vector<Differing> rows;
};

/// Compares two attempts: outcomes, parameters, code identities of shared plugins, other parts of their keys ("data",
/// "runtime"), environments ("environment.NAME") and final values. Compares two experiments by their latest grids: number of
/// trials, trials that the other experiment lacks, and sets of parameters, code, data and environments. Trials with equal
/// settings are shared; metrics are compared as means over shared trials that are done in both. Throws Error if only one side
/// is an experiment, or if a name is not known; then the message has the nearest name.
/// @param a, b names of two experiments; or two attempts, each by its number or by the first digits of its trial's key
Differences differences_of(const Reader& reader, const std::string& a, const std::string& b);

}  // namespace ablate::db
