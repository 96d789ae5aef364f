// Rows of text as people and programs read them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::db {

/// The first row is the header. Text: columns aligned, two spaces apart. Markdown: a pipe table. Every row as long as the
/// first. Fields are written as one_row has them: names come from studies and plugins, and must not steer a terminal.
std::string render_text(const std::vector<std::vector<std::string>>& rows);
std::string render_markdown(const std::vector<std::vector<std::string>>& rows);
/// RFC 4180, with \n line ends.
std::string csv_line(const std::vector<std::string>& fields);

/// A text as it is, null as nothing, all else as JSON has it.
std::string plain_field(const nlohmann::json& field);
/// Shortest decimal that reads back as the same number: for CSV and JSON.
std::string exact(double value);
/// Four significant digits.
std::string brief(double value);
/// The mean to as many decimals as two significant digits of the deviation have; "± 0" where all are equal, brief where there
/// is none (NaN).
std::string with_deviation(double mean, double deviation);

/// "3.2 s", "4 min 10 s", "2 h 05 min".
std::string duration_text(double seconds);
/// Local time, "2026-11-21 14:05".
std::string time_text(std::int64_t microseconds);

/// Columns that the text takes on a terminal: code points of UTF-8.
std::size_t width(std::string_view text);

/// Without control characters other than newline and tab, and with invisible ones shown (with_invisible_shown): what a trial
/// printed must not steer the reader's terminal.
std::string printable(std::string_view text);
/// printable, and line ends and tabs are blanks: for a field of a row.
std::string one_row(std::string_view text);
/// "a, b, c, d and 3 more".
std::string some_of(const std::vector<std::string>& names);
/// "ablate check a b": the command that checks plugins, each id once, as it may be one of several kinds.
std::string check_command(std::vector<std::string> ids);
/// The first line that is not blank, at most 80 characters; "…" ends it where anything is left out. What a plugin throws may
/// be a page long.
std::string first_line(std::string_view text);

}  // namespace ablate::db
