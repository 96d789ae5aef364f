// What differs between two attempts, or two experiments.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/history/reader.h"

namespace ablate::db {

struct Differing {
  std::string what;
  nlohmann::json a, b;   ///< null: that one has no such thing; sets as texts, with ", " between
  bool digests = false;  ///< 64 hex digits each, of which people need a few
};

struct Differences {
  std::string a, b;  ///< what was compared: "attempt 3", "experiment quickstart"
  std::vector<Differing> rows;
};

/// Of two attempts: how they ended, parameters, code identities of the plugins that both used, what else their keys are made of
/// ("data", "runtime"), where they ran ("environment.NAME"), final values. Of two experiments, of whose latest grids trials
/// with the same settings are shared: how many trials, and how many the other lacks; parameters, code, data and environments
/// that differ as sets; metrics' means over the shared trials that are done in both and have them.
/// @param a, b two experiments' names; else attempts as show_attempt takes them. Throws Error: there is no such, with the
/// nearest name; one is an experiment and the other none.
Differences differences_of(const Reader& reader, const std::string& a, const std::string& b);

}  // namespace ablate::db
