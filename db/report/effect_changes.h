// What changes of one parameter alone do, against a setting of a grid. Internal to db/.
#pragma once

#include <string>
#include <vector>

#include "db/types/effects.h"

namespace ablate::db {

/// Fills reference and changes of all metrics. @param settings as effects_of has it; gets the notes of the tests
/// @param conditions as effects_of has them
void fill_changes(Table& settings, const std::vector<std::string>& conditions, std::vector<Effects>& all);

}  // namespace ablate::db
