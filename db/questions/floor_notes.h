// What predictors of a few lines get on the test examples behind a table's numbers. Internal to db/.
#pragma once

#include <string>
#include <vector>

#include "db/questions/cells.h"
#include "db/questions/make_table.h"

namespace ablate::db {

/// For each test split, or part of it, that trials of the table are asked (Cell::tasks): the floors of the metric that its task
/// is judged by, and how many rows are no better; or, where none are known, the command that finds them. And once, how far a
/// proportion over so many test examples is uncertain by itself. Floors of another version than the request's do not count, nor
/// do trials whose keys' parts are not known. Needs samples and tasks of the cells.
/// @param varying what varies among the trials
std::vector<std::string> floor_notes(const TableTrials& from, const std::vector<Axis>& varying, const Table& table,
                                     const TableRequest& request);

}  // namespace ablate::db
