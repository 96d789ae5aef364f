// The notes behind a table that ablate wrote into a paper or a page.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/report/printers.h"

namespace ablate::db {

/// Takes the lines of a text one after the other.
class NoteLines {
 public:
  /// The note that a line behind a table holds, as people read it; nothing where it holds none. @param format of the table
  std::optional<std::string> take(const std::string& line, Format format);

 private:
  bool in_list_ = false;  ///< of HTML
};

/// A line for each note that the file has and the history does not give, and the other way round. Commands in backticks, which
/// say where a history lies, do not count. @param found by line @param table the line of the table that they are of
std::vector<std::string> note_differences(const std::map<std::size_t, std::string>& found,
                                          const std::map<std::size_t, std::string>& expected, std::size_t table,
                                          const std::string& name);

/// As a browser shows it.
std::string unescaped_html(std::string text);

}  // namespace ablate::db
