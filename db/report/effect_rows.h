// What parameters do to metrics, as rows. No SQLite.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/types/effects.h"

namespace ablate::db {

struct EffectRows {
  std::vector<std::string> names;
  std::vector<std::vector<nlohmann::json>> rows;  ///< as long as names; null: not known, and the last field says why
};

/// Where a reference was asked for, a row for each change from it; else one for each value of each parameter.
/// @param for_people metrics with units, numbers with their interval in one field and the digits that it allows
EffectRows effect_rows(const std::vector<Effects>& all, bool for_people);

}  // namespace ablate::db
