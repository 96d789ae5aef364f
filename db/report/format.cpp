#include "db/report/format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/plain_text.h"
#include "core/util/rate_text.h"
#include "core/util/shell_word.h"

namespace ablate::db {

std::string with_unit(const MetricInfo& metric) {
  return metric.unit.empty() ? metric.name : fmt::format("{} ({})", metric.name, metric.unit);
}

std::string p_text(double p) {
  if (std::isnan(p)) return "";
  return p < 0.001 ? fmt::format("{:.1e}", p) : fmt::format("{:.2g}", p);
}

std::string row_text(const std::vector<std::string>& labels) {
  std::string text;
  for (const auto& label : labels)
    if (label != kAbsent) text += (text.empty() ? "" : " ") + label;
  return text;
}

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string render_text(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return "";
  std::vector<std::size_t> widths(rows.front().size(), 0);
  auto clean = rows;
  for (auto& row : clean)
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = one_row(row[i]);
      widths[i] = std::max(widths[i], width(row[i]));
    }
  std::string text;
  for (const auto& row : clean) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += row[i] + std::string(widths[i] - width(row[i]) + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string render_markdown(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += "|";
    for (const auto& field : rows[i]) {
      text += " ";
      for (const char c : one_row(field)) {
        if (c == '|') text += '\\';
        text += c;
      }
      text += " |";
    }
    text += "\n";
    if (i > 0) continue;
    text += "|";
    for (std::size_t column = 0; column < rows[i].size(); ++column) text += " --- |";
    text += "\n";
  }
  return text;
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += ",";
    if (fields[i].find_first_of(",\"\r\n") == std::string::npos) {
      line += fields[i];
      continue;
    }
    line += '"';
    for (const char c : fields[i]) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line + "\n";
}

std::string plain_field(const nlohmann::json& field) {
  return field.is_null() ? "" : field.is_string() ? field.get_ref<const std::string&>() : field.dump();
}

// The processor sets a NaN's sign: inf - inf is "-nan" on x86.
std::string exact(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

std::string brief(double value) {
  if (value == 0 || !std::isfinite(value)) return exact(value);
  const auto magnitude = std::floor(std::log10(std::abs(value)));
  if (magnitude >= 9 || magnitude < -5) return fmt::format("{:.3e}", value);
  return fmt::format("{:.{}f}", value, std::max(0, 3 - static_cast<int>(magnitude)));
}

std::string with_deviation(double mean, double deviation) {
  if (deviation == 0 && std::isfinite(mean)) return brief(mean) + " ± 0";  // several equal values
  if (!(deviation > 0) || !std::isfinite(deviation) || !std::isfinite(mean)) return brief(mean);
  auto magnitude = static_cast<int>(std::floor(std::log10(deviation)));
  // 0.0996 with two digits is 0.10, which has one decimal fewer than 0.099.
  if (deviation >= 9.95 * std::pow(10.0, magnitude)) ++magnitude;
  if (magnitude < -8 || magnitude > 9) return fmt::format("{:.4e} ± {:.1e}", mean, deviation);
  const int decimals = std::max(0, 1 - magnitude);
  return fmt::format("{:.{}f} ± {:.{}f}", mean, decimals, deviation, decimals);
}

std::string with_commas(std::int64_t count) {
  auto text = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string duration_text(double seconds) {
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 99.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string time_text(std::int64_t microseconds) {
  const auto seconds = static_cast<std::time_t>(microseconds / 1'000'000);
  std::tm local{};
  localtime_r(&seconds, &local);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday, local.tm_hour,
                     local.tm_min);
}

std::string printable(std::string_view text) {
  // Fast path for most texts: --dry-run prints a hundred thousand lines.
  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; })) return std::string(text);
  std::string clean;
  for (std::size_t i = 0; i < text.size();) {
    const auto control = control_at(text.substr(i));
    if (control == 0 || text[i] == '\n' || text[i] == '\t') clean += text[i];
    i += control == 0 ? 1 : control;
  }
  return with_invisible_shown(clean);
}

std::string one_row(std::string_view text) {
  auto row = printable(text);
  std::replace_if(
      row.begin(), row.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return row;
}

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  const auto shown = names.size() <= kShown + 1 ? names.size() : kShown;  // "and 1 more" is not shorter than the name
  auto text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return shown == names.size() ? text : text + fmt::format(" and {} more", names.size() - shown);
}

std::string check_command(std::vector<std::string> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::string command = "ablate check";
  for (const auto& id : ids) command += " " + shell_word(id);
  return command;
}

std::string first_line(std::string_view text) {
  constexpr std::size_t kMost = 80;
  auto all = printable(text);
  all.erase(0, all.find_first_not_of(" \n\t"));
  all.erase(all.find_last_not_of(" \n\t") + 1);
  auto line = one_row(all.substr(0, all.find('\n')));
  if (line.size() == all.size() && width(line) <= kMost) return line;
  std::size_t end = 0;  // end of the first kMost - 1 characters
  for (std::size_t characters = 0; end < line.size(); ++end)
    if ((line[end] & 0xC0) != 0x80 && ++characters == kMost) break;
  return line.substr(0, end) + "…";
}

std::string sparkline(std::span<const double> values, std::size_t cells) {
  constexpr std::array kHeights = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t kMiddle = 3;
  const auto count = std::min(cells, values.size());
  std::vector<double> means;
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  for (std::size_t cell = 0; cell < count; ++cell) {
    double sum = 0, n = 0;
    for (auto i = cell * values.size() / count; i < (cell + 1) * values.size() / count; ++i)
      if (std::isfinite(values[i])) sum += values[i], ++n;
    means.push_back(sum / n);  // 0 / 0 is NaN
    if (n > 0) least = std::min(least, means.back()), greatest = std::max(greatest, means.back());
  }
  std::string text;
  for (const double mean : means) {
    if (!std::isfinite(mean)) {
      text += "×";
      continue;
    }
    const double share = (mean / 2 - least / 2) / (greatest / 2 - least / 2);  // halves avoid overflow
    text += kHeights[greatest > least ? std::min<std::size_t>(7, static_cast<std::size_t>(share * 8)) : kMiddle];
  }
  return text;
}

LabelKey label_key(const std::string& label, std::optional<double> number) {
  LabelKey all;  // texts sort after all numbers
  if (number) return all.emplace_back(*number, ""), all;
  for (std::size_t from = 0; from <= label.size();) {
    const auto to = std::min(label.find(',', from), label.size());
    const auto part = label.substr(from, to - from);
    const auto rate = parse_rate(part);
    all.emplace_back(rate ? rate->value() : std::numeric_limits<double>::infinity(), rate ? "" : part);
    from = to + 1;
  }
  return all;
}

}  // namespace ablate::db
