// The question for the curves of tuned parameters.
#pragma once

#include <optional>

#include "db/questions/tables/make_table.h"
#include "db/types/rate_windows.h"

namespace ablate::db {

/// Of each parameter that dev chooses, and each row and column of the table, all values that were tried. Where several
/// parameters are tuned together, dev chooses the others' anew at each value (a profile).
/// @param request of make_table, without statistics @param within how much worse than the best a mean on dev may be within the
/// window, in its unit, at least 0; nothing: the best value's standard deviation over seeds
/// Throws Error as make_table does, and where no parameter was tuned.
RateWindows rate_windows(const Reader& reader, const TableRequest& request, std::optional<double> within);

}  // namespace ablate::db
