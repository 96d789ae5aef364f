// Rows of text for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/types/records.h"

namespace ablate::db {

/// The first row is the header, and every row has its length. Text aligns the columns, two spaces apart; Markdown is a pipe
/// table. one_row cleans the fields: names come from studies and plugins, and must not steer a terminal.
std::string render_text(const std::vector<std::vector<std::string>>& rows);
std::string render_markdown(const std::vector<std::vector<std::string>>& rows);
/// RFC 4180, with \n line ends.
std::string csv_line(const std::vector<std::string>& fields);

/// A text unchanged, null as "", everything else as JSON writes it.
std::string plain_field(const nlohmann::json& field);
/// The shortest decimal that reads back as the same number, for CSV and JSON.
std::string exact(double value);
/// Four significant digits.
std::string brief(double value);
/// The mean with the decimals that two significant digits of the deviation have; "± 0" where the deviation is 0; brief(mean)
/// where it is NaN.
std::string with_deviation(double mean, double deviation);

/// "2,113"
std::string with_commas(std::int64_t count);
/// "3.2 s", "4 min 10 s", "2 h 05 min".
std::string duration_text(double seconds);
/// Local time, "2026-11-21 14:05".
std::string time_text(std::int64_t microseconds);

/// "0.012", "3.1e-05"; "" for NaN.
std::string p_text(double p);
/// Returns a row's labels that are not empty, "adamra 1/2".
std::string row_text(const std::vector<std::string>& labels);
/// "test/accuracy (%)".
std::string with_unit(const MetricInfo& metric);

/// The columns that the text fills on a terminal: its UTF-8 code points.
std::size_t width(std::string_view text);

/// Drops control characters other than newline and tab, and shows invisible ones (with_invisible_shown): what a trial printed
/// must not steer the reader's terminal.
std::string printable(std::string_view text);
/// As printable, with blanks for line ends and tabs: for a field of a row.
std::string one_row(std::string_view text);
/// "a, b, c, d and 3 more".
std::string some_of(const std::vector<std::string>& names);
/// "ablate check a b": the command that checks the plugins. An id stands once, though plugins of several kinds may share it.
std::string check_command(std::vector<std::string> ids);
/// The first line that is not blank, at most 80 characters, since what a plugin throws may be a page long. It ends with "…"
/// where anything is left out.
std::string first_line(std::string_view text);

/// "▇▅▃▂▁": the values from left to right between their least and their greatest, in eight heights. More values than cells are
/// averaged in equal parts; where fewer, each has a cell. What is no finite number is left out; a cell that has nothing else is
/// "×". All values alike are in the middle.
/// @param cells at most so many characters; 0: "" @return "" without values
std::string sparkline(std::span<const double> values, std::size_t cells);

/// Compares numbers and rates by size, before texts; lists by their elements.
using LabelKey = std::vector<std::pair<double, std::string>>;

/// @param number the label's, where it is known to be one
LabelKey label_key(const std::string& label, std::optional<double> number = {});

}  // namespace ablate::db
