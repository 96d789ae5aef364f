// Rows that somebody put into a printed table: they carry no mark of ablate.
#pragma once

#include <string>

#include "db/report/printers.h"

namespace ablate::db {

/// Whether a line within a table, without a mark, holds a row or a part of one: rules, comments and, of LaTeX, commands alone
/// hold none. @param format kLatex, kTypst or kHtml
bool holds_row(const std::string& line, Format format);

/// Whether the table of such a line ends in it.
bool ends_table(const std::string& line, Format format);

}  // namespace ablate::db
