// The mean of each value of a parameter, over what its values share. Internal to db/.
#pragma once

#include <string>
#include <vector>

#include "db/report/grid_levels.h"
#include "db/types/effects.h"

namespace ablate::db {

/// Fills all of a parameter but its share. @param settings as effects_of has it @param levels of these settings @param notes
/// gets what the means leave out
Effects::Parameter marginal_means(const Table& settings, const GridLevels& levels, std::size_t metric, std::size_t parameter,
                                  std::vector<std::string>& notes);

}  // namespace ablate::db
