// What the kinds of figures share: names of lines and panels, and how far means spread. Internal to db/.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "db/questions/tables/make_table.h"
#include "db/types/figure.h"

namespace ablate::db {

/// The table without statistics, whose options may name what only the figure's own table shows.
Table bare_table(const Reader& reader, TableRequest request);

/// What people read in place of names (--rename), of a kind that shows no table of its own.
using ShownNames = std::map<std::string, std::string>;
ShownNames names_of(const Reader& reader, TableRequest request);
std::string shown_as(const std::string& name, const ShownNames& names);

/// A row's name in a figure: "adamra, rates 1/8". What the row lacks is left out; of numbers their parameter's name is told.
std::string row_name(const Table& table, std::size_t row);

/// The part of a row's name that is of one parameter: "adamra", "rates 1/8".
std::string value_name(const Table& table, std::size_t row, std::size_t path);

/// "task copy, length 256": a column's name; "" where the table has no columns.
std::string column_title(const Table& table, std::size_t column);

/// Half the width of a mean's band or bar: as tables have it, the deviation, or the interval where that was asked for. NaN: it
/// has none.
double half_width(const Table& table, const Cell& cell);
/// "standard deviation over seeds", "95 % interval of the mean (Student's t)".
std::string width_text(const Table& table);

/// Notes which means are of the trials that got done alone, and why.
void note_failures(const Table& table, Figure& figure);

/// What of a row's cell the figure cannot show: no value, or no band.
std::vector<std::string> cell_notes(const Table& table, std::size_t metric);

}  // namespace ablate::db
