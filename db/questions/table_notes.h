// What a reader must know to read a table right. Internal to db/.
#pragma once

#include <string>
#include <vector>

#include "db/questions/cells.h"
#include "db/questions/make_table.h"
#include "db/questions/selection.h"
#include "db/questions/table_axes.h"
#include "db/types/table.h"

namespace ablate::db {

/// Averages over something that is no seed are most often a mistake.
/// @param shown paths that need no word; @param cells their trials
std::vector<std::string> average_notes(const std::vector<Axis>& varying, const std::vector<std::string>& shown,
                                       const std::vector<std::vector<std::size_t>>& cells);

/// Trials of earlier grids and of earlier code. @param experiment "": all
std::vector<std::string> left_out_notes(const Selection& selection, const std::string& experiment);

/// A line for each proof (`--prove`) that lets trials of the table count: how many, and by which attempts.
std::vector<std::string> proof_notes(const Reader& reader, const std::vector<SelectedTrial>& trials);

/// How many cells are unsettled, and what that means.
std::vector<std::string> settling_notes(const Table& table);

/// A line for each data set of the trials whose audit failed: the task, what was found, and the command that shows all. Audits
/// of another suite than the request's do not count, and neither do trials whose keys' parts are not known.
std::vector<std::string> audit_notes(const Reader& reader, const std::vector<SelectedTrial>& trials,
                                     const TableRequest& request);

/// For each experiment that matches something (TableRequest::matched_by) one that says so, and names rows that are further off
/// than kMatchedWithin, by what their trials recorded. A trial is compared with one that has the reference's settings and
/// agrees with it in all that varies among those. None where nothing was recorded on one of the two sides.
std::vector<std::string> match_notes(const TableTrials& from, const NamedExperiments& experiments, const Table& table,
                                     const TableRequest& request);

}  // namespace ablate::db
