// How near the rows of a study with [grid.match] came to their reference's parameters, or bytes of state. Internal to db/.
#pragma once

#include <string>
#include <vector>

#include "db/questions/cells.h"
#include "db/questions/make_table.h"
#include "db/questions/table_axes.h"

namespace ablate::db {

/// For each experiment that matches something (TableRequest::matched_by) one that says so, and names rows that are further off
/// than kMatchedWithin, by what their trials recorded. A trial is compared with one that has the reference's settings and
/// agrees with it in all that varies among those. None where nothing was recorded on one of the two sides.
std::vector<std::string> match_notes(const TableTrials& from, const NamedExperiments& experiments, const Table& table,
                                     const TableRequest& request);

}  // namespace ablate::db
