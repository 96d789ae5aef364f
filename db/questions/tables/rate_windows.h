// Query for the curves of tuned parameters.
#pragma once

#include <optional>

#include "db/questions/tables/make_table.h"
#include "db/types/rate_windows.h"

namespace ablate::db {

/// Returns all tried values of each parameter that dev chooses, for each row and column of the table. If several parameters are
/// tuned together, dev chooses the other parameters again at each value (a profile). Throws Error as make_table does, and if no
/// parameter was tuned.
/// @param request request for make_table, without statistics
/// @param within largest distance of a mean in the window from the best mean on dev, in the metric's unit, at least 0;
/// nullopt: the best value's standard deviation over seeds
RateWindows rate_windows(const Reader& reader, const TableRequest& request, std::optional<double> within);

}  // namespace ablate::db
