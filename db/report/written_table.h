// Reads back a table that ablate wrote into a paper or a page.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/report/printers.h"

namespace ablate::db {

inline constexpr std::size_t kNoBlock = static_cast<std::size_t>(-1);  ///< block of a row outside all tables

/// Compared lines of a table, with line numbers. A fixed word replaces a header, and another one replaces a group of adjacent
/// rows. Other lines that show text are stored in their compared form: for example, several blanks become one blank.
using Frame = std::vector<std::pair<std::size_t, std::string>>;

struct WrittenRow {
  std::size_t line = 0;  ///< number of the line in the file, from 1
  bool is_header = false;
  std::size_t block = kNoBlock;               ///< index in WrittenTable::frames of the block that has this row
  std::string source = {};                    ///< the whole line, in its compared form
  std::vector<std::string> fields;            ///< fields of the line, trimmed
  std::map<std::size_t, std::string> trials;  ///< trials_text by the column's number, from 1
};

struct WrittenTable {
  std::size_t line = 0;
  Format format = Format::kLatex;
  std::vector<std::string> request;          ///< words of the command that wrote the table
  std::vector<WrittenRow> rows;              ///< includes headers
  std::vector<Frame> frames;                 ///< one for each block
  std::map<std::size_t, std::string> notes;  ///< notes after the table and before the next table, by line
};

/// Returns the tables of a file. Any text may be around the tables: the marks of db/report/layout.h identify them. Throws Error
/// for rows without a table and for a request that cannot be read.
/// @param name the file's name, for messages
std::vector<WrittenTable> written_tables(std::string_view text, const std::string& name);

/// Returns a message for each row, field, note or other line of a table that differs: "table.tex:7: softmax, test/accuracy (%):
/// found 61, expected 62". Rows are matched by labels, in any order within their block. If a block is in only one of the two
/// tables, its rows are reported, but its other lines are not compared.
/// @param labels number of fields that name a row; an empty first heading, above the rows' marks, is not counted
std::vector<std::string> table_differences(const WrittenTable& found, const WrittenTable& expected, std::size_t labels,
                                           const std::string& name);

/// Returns a message for each note that only the file or only the history has. Ignores commands in backticks, because they
/// contain a path.
/// @param found notes by line
/// @param table line of the notes' table
std::vector<std::string> note_differences(const std::map<std::size_t, std::string>& found,
                                          const std::map<std::size_t, std::string>& expected, std::size_t table,
                                          const std::string& name);

}  // namespace ablate::db
