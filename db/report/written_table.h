// A table that ablate wrote into a paper or a page, read again from there.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/report/printers.h"

namespace ablate::db {

inline constexpr std::size_t kNoBlock = static_cast<std::size_t>(-1);  ///< of a row outside of all tables

/// Lines of a table that are compared, by number. Lines that show something and are no rows stand as they are. One word stands
/// for a header, and one for a group of rows.
using Frame = std::vector<std::pair<std::size_t, std::string>>;

struct WrittenRow {
  std::size_t line = 0;  ///< of the file, from 1
  bool is_header = false;
  std::size_t block = kNoBlock;               ///< table of its command that has this row, from 0
  std::string source = {};                    ///< the whole line, as it is compared
  std::vector<std::string> fields;            ///< fields of the line, trimmed
  std::map<std::size_t, std::string> trials;  ///< trials_text, by column, from 1
};

struct WrittenTable {
  std::size_t line = 0;
  Format format = Format::kLatex;
  std::vector<std::string> request;          ///< the words of the command that wrote it
  std::vector<WrittenRow> rows;              ///< headers among them
  std::vector<Frame> frames;                 ///< of each block
  std::map<std::size_t, std::string> notes;  ///< by line: those behind it, up to the next table
};

/// Returns the tables of a file, which may have any text around them. They are found by the marks of db/report/layout.h. Throws
/// Error for rows without a table and for a request that cannot be read. @param name the file's, for messages
std::vector<WrittenTable> written_tables(std::string_view text, const std::string& name);

/// A line for each row, field, note or other line of a table that is not as expected: "table.tex:7: softmax, test/accuracy (%):
/// found 61, expected 62". Rows are found by their labels: they may stand in any order within their block. Tables behind the
/// expected ones are an author's. @param labels how many fields name a row, behind its mark
std::vector<std::string> table_differences(const WrittenTable& found, const WrittenTable& expected, std::size_t labels,
                                           const std::string& name);

/// A line for each note that the file has and the history does not give, and the other way round. Commands in backticks, which
/// say where a history lies, do not count. @param found by line @param table the line of the table that they are of
std::vector<std::string> note_differences(const std::map<std::size_t, std::string>& found,
                                          const std::map<std::size_t, std::string>& expected, std::size_t table,
                                          const std::string& name);

}  // namespace ablate::db
