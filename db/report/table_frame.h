// Where a printed table begins and ends in a document, and which of its lines an author may add or leave out.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "db/report/printers.h"

namespace ablate::db {

/// Lines of a table, by number: those that are no rows and show something, as compared_line has them; kRows for rows that stand
/// together, kHeader for a header.
using Frame = std::vector<std::pair<std::size_t, std::string>>;

inline constexpr const char *kRows = "(rows)", *kHeader = "(the header)";

/// All that follow take kLatex, kTypst or kHtml.

/// The place in a line where a table begins: \begin{tabular}, #table( or <table; npos where none does.
std::size_t table_begin(const std::string& line, Format format);

/// The place behind the end of a table in a line: \end{tabular}, ) or </table>; npos where it goes on. What Typst may read as
/// part of the call belongs to the table: all of the line but blanks and a comment.
std::size_t table_end(const std::string& line, Format format);

/// True if a line of a table shows nothing: a blank one, a comment alone, or a rule (\midrule, table.hline(), <tbody>).
bool shows_nothing(const std::string& line, Format format);

/// The line as it is compared: blanks as one, and of HTML without the command and without a plain caption.
std::string compared_line(const std::string& line, Format format);

/// Returns a message for each line that only one of the frames has. @param found at least its first line @param name the file's
std::vector<std::string> frame_differences(const Frame& found, const Frame& expected, const std::string& name);

/// Returns the lines of a text. A line ends wherever TeX, Typst or people see an end of line.
std::vector<std::string> lines_of(std::string text);

}  // namespace ablate::db
