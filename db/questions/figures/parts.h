// Common parts of figures: names of lines and panels, and the spread of means. Internal to db/.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "db/questions/tables/make_table.h"
#include "db/types/figure.h"

namespace ablate::db {

/// Makes the table without statistics, because a statistic's option may name rows that only the figure's final table shows.
Table bare_table(const Reader& reader, TableRequest request);

/// Printed names (--rename) by the original names, for a kind of figure that shows no table.
using ShownNames = std::map<std::string, std::string>;
ShownNames names_of(const Reader& reader, TableRequest request);
std::string shown_as(const std::string& name, const ShownNames& names);

/// Returns a row's name, "adamra, rates 1/8". Leaves out absent parameters; a number follows its parameter's name.
std::string row_name(const Table& table, std::size_t row);

/// Returns the part of a row's name for one parameter: "adamra", "rates 1/8".
std::string value_name(const Table& table, std::size_t row, std::size_t path);

/// Returns a column's name, "task copy, length 256"; "" if the table has no columns.
std::string column_title(const Table& table, std::size_t column);

/// Returns "standard deviation over seeds" or "95 % interval of the mean (Student's t)".
std::string width_text(const Table& table);

/// Adds a note on trials that the means leave out because they are not done, with the reasons.
void note_failures(const Table& table, Figure& figure);

/// Returns notes on cells that the figure cannot show: without a value, or without a band.
std::vector<std::string> cell_notes(const Table& table, std::size_t metric);

}  // namespace ablate::db
