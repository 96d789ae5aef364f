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

/// Renders rows of equal length; the first is the header. Text aligns the columns, two spaces apart. Markdown is a pipe table.
/// one_row cleans the fields, because names come from studies and plugins and must not control a terminal.
std::string render_text(const std::vector<std::vector<std::string>>& rows);
std::string render_markdown(const std::vector<std::vector<std::string>>& rows);
/// Formats a line by RFC 4180 with a newline at its end.
std::string csv_line(const std::vector<std::string>& fields);

/// Returns a text unchanged, null as "", and any other value as JSON.
std::string plain_field(const nlohmann::json& field);
/// Returns the shortest decimal that reads back as the same number, for CSV and JSON.
std::string exact(double value);
/// Formats with four significant digits.
std::string brief(double value);
/// Formats "mean ± deviation". The deviation has two significant digits (or all before the point), and the mean has as many
/// decimals as the deviation. Adds "± 0" if the deviation is 0. Returns brief(mean) if the deviation is NaN.
std::string with_deviation(double mean, double deviation);

/// "2,113"
std::string with_commas(std::int64_t count);
/// "3.2 s", "4 min 10 s", "2 h 05 min".
std::string duration_text(double seconds);
/// Local time, "2026-11-21 14:05".
std::string time_text(std::int64_t microseconds);

/// "0.012", "3.1e-05"; "" for NaN.
std::string p_text(double p);
/// Returns a row's labels without absent parameters, "adamra 1/2".
std::string row_text(const std::vector<std::string>& labels);
/// "test/accuracy (%)".
std::string with_unit(const MetricInfo& metric);

/// Returns the number of terminal columns of a text: its UTF-8 code points.
std::size_t width(std::string_view text);

/// Drops control characters except newline and tab. Makes invisible characters visible (with_invisible_shown). A trial's text
/// must not control the reader's terminal.
std::string printable(std::string_view text);
/// Cleans a field of a row, as printable does, and turns line ends and tabs into blanks.
std::string one_row(std::string_view text);
/// "a, b, c, d and 3 more".
std::string some_of(const std::vector<std::string>& names);
/// Returns "ablate check a b", the command that checks the plugins. Each id appears once, even if several kinds share it.
std::string check_command(std::vector<std::string> ids);
/// Returns the first line that is not blank, cut to 80 characters (then with "…"), because a plugin's error may be a page long.
std::string first_line(std::string_view text);

/// Draws "▇▅▃▂▁": values from left to right, scaled between the least and the greatest, in eight heights. If there are more
/// values than cells, they are averaged in equal parts; otherwise each value has a cell. Values that are not finite are left
/// out, and a cell without any other value shows "×". Equal values are drawn at middle height.
/// @param cells greatest number of characters
/// @return "" if there are no values or no cells
std::string sparkline(std::span<const double> values, std::size_t cells);

/// Sort key of a label. Numbers and rates sort by size, before texts; lists sort by their elements.
using LabelKey = std::vector<std::pair<double, std::string>>;

/// @param number the label's value, if it is known to be a number
LabelKey label_key(const std::string& label, std::optional<double> number = {});

}  // namespace ablate::db
