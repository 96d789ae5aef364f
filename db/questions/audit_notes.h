// What audits have found in the data behind a table's numbers. Internal to db/.
#pragma once

#include <string>
#include <vector>

#include "db/questions/make_table.h"
#include "db/questions/selection.h"

namespace ablate::db {

/// A line for each data set of the trials whose audit failed: the task, what was found, and the command that shows all. Audits
/// of another suite than the request's do not count, and neither do trials whose keys' parts are not known.
std::vector<std::string> audit_notes(const Reader& reader, const std::vector<SelectedTrial>& trials,
                                     const TableRequest& request);

}  // namespace ablate::db
