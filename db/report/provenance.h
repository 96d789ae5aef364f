// What a printed table carries of where its numbers come from: as comments, or as attributes.
#pragma once

#include <string>
#include <vector>

#include "db/report/layout.h"

namespace ablate::db {

/// The words of the command as a JSON list, `["table", "quickstart"]`: printable ASCII in one line, so that no name in it ends
/// a comment. "" where the table has none: then it carries nothing.
std::string request_text(const Table& table);

/// The trials of the cell that a field shows, by the first digits of their keys, with blanks between; of more than 20 how many,
/// and a digest of all. "" where the field is of no cell, or of an empty one.
std::string trials_text(const Table& table, const Field& field);

/// Of a row the trials of each cell, behind the number of its column, from 1: "3 0a1b2c3d4e5f 1b2c3d4e5f6a; 4 2c3d4e5f6a7b";
/// "-" where it has none. A cell that fills several columns stands at the first.
std::string row_trials(const Table& table, const std::vector<Field>& row);

/// In place of row_trials in a header.
inline constexpr const char* kColumnsMark = "columns";

}  // namespace ablate::db
