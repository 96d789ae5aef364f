#include "db/report/table_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "db/report/digits.h"
#include "db/report/failures.h"

namespace ablate::db {
namespace {

std::string with_unit(const Metric& metric) {
  return metric.unit.empty() ? metric.name : fmt::format("{} ({})", metric.name, metric.unit);
}

/// Metrics side by side are too wide where each has columns of its own: then each has a table of its own.
bool stacked(const Table& table) { return table.metrics.size() > 1 && table.columns.size() > 1; }

/// "train.steps=25"; with the metric before it where there are several. A single metric of columns stands in the caption, one
/// of several tables above it.
std::string heading(const Table& table, const Metric& metric, const std::vector<std::string>& column) {
  std::string text;
  if ((table.metrics.size() > 1 && !stacked(table)) || column.empty()) text = with_unit(metric);
  for (std::size_t i = 0; i < column.size(); ++i)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", table.column_paths[i], column[i]);
  return text;
}

/// Of how many values a parameter was chosen in all rows of a column; 0 where that differs.
int common_of(const Table& table, std::size_t column, std::size_t path) {
  int of = 0;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto& choice = table.choice(r, column, path);
    if (choice.of == 0 || choice.of == of) continue;
    if (of != 0) return 0;
    of = choice.of;
  }
  return of;
}

/// "train.learning_rate (of 3)"; with its column behind it where there are several.
std::string chosen_heading(const Table& table, std::size_t column, std::size_t path) {
  auto text = table.tuned_paths[path];
  if (const int of = common_of(table, column, path); of != 0) text += fmt::format(" (of {})", of);
  for (std::size_t i = 0; i < table.column_paths.size(); ++i)
    text += fmt::format(" {}={}", table.column_paths[i], table.columns[column][i]);
  return text;
}

/// "0.003 ^": at an end of what was tried; how many were, where the heading does not say.
std::string chosen_text(const Table& table, std::size_t row, std::size_t column, std::size_t path) {
  const auto& choice = table.choice(row, column, path);
  if (choice.of == 0) return "";
  std::string text;
  for (const auto& value : choice.values) text += (text.empty() ? "" : ", ") + value.text;
  if (choice.values.empty()) text = "undecided";
  if (common_of(table, column, path) == 0) text += fmt::format(" (of {})", choice.of);
  return choice.edge ? text + " ^" : text;
}

/// The n that all cells with a value have, or 0.
int common_n(const Table& table) {
  int n = 0;
  for (const auto& cell : table.cells) {
    if (cell.n == 0 || cell.n == n) continue;
    if (n != 0) return 0;
    n = cell.n;
  }
  return n;
}

/// Of fewer columns than there are, it says of how many. Two decimals, or as many as the uncertainty (0: not known) allows.
std::string exponent_text(const Table& table, double value, int points, double uncertainty = 0) {
  if (std::isnan(value)) return "";
  const auto all = static_cast<int>(table.columns.size());
  const int decimals = uncertainty > 0 ? std::clamp(-static_cast<int>(std::floor(std::log10(uncertainty))), 0, 2) : 2;
  return fmt::format("{:.{}f}{}", value, decimals, points < all ? fmt::format(" ({} of {})", points, all) : "");
}

/// The numbers of a column's cells, and the decimals that they share.
struct ColumnDigits {
  Digits measured, published;

  ColumnDigits(const Table& table, std::size_t metric, std::size_t column)
      : measured(numbers(table, metric, column, false)), published(numbers(table, metric, column, true)) {}

 private:
  static std::vector<Measured> numbers(const Table& table, std::size_t metric, std::size_t column, bool published) {
    const bool ratios = !table.baseline.empty();
    std::vector<Measured> all;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const auto& cell = table.cell(r, metric, column);
      if (published)
        all.push_back({ratios ? cell.published_ratio : cell.published});
      else if (ratios)
        all.push_back({cell.ratio, cell.ratio_uncertainty, 1});
      else
        all.push_back({cell.mean, cell.uncertainty, cell.n > 1 ? 2 : 1});  // a deviation is shown, a spread is not
    }
    return all;
  }
};

std::string mark_of(const Table& table, Checked checked) {
  if (checked == Checked::kFailed) return "!";
  return checked == Checked::kUnchecked && table.any_checked() ? "?" : "";
}

/// A row is marked where all of its numbers are; else those are, one by one.
bool marks_cells(const Table& table, std::size_t row) {
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (const auto& cell = table.cell(row, 0, c); cell.checked != Checked::kUnknown && cell.checked != table.checked(row))
      return true;
  return false;
}

bool marks_rows(const Table& table) {
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    if (!mark_of(table, table.checked(r)).empty() && !marks_cells(table, r)) return true;
  return false;
}

std::string cell_text(const Table& table, const Cell& cell, const Digits& digits, bool show_n, Format format) {
  if (cell.trials == 0) return "";
  std::string text;
  if (cell.n > 0) {
    text = table.baseline.empty()   ? digits.text(cell.mean, table.overlap ? cell.interval : cell.deviation)
           : std::isnan(cell.ratio) ? "no ratio"
                                    : digits.text(cell.ratio);
    if (cell.unsettled) text = "~" + text;
    if (show_n) text += fmt::format(" (n={})", cell.n);
    if (cell.best) text = format == Format::kMarkdown ? "**" + text + "**" : text + " *";
  }
  const auto failures = failure_text(cell);
  if (!failures.empty()) return text.empty() ? failures : text + ", " + failures;
  return text.empty() ? "no value" : text;
}

/// Rows of text of the metrics in [first, last), the header first.
std::vector<std::vector<std::string>> lines_of(const Table& table, std::size_t first, std::size_t last, Format format) {
  const bool show_n = common_n(table) == 0;
  std::vector<ColumnDigits> digits;  // [metric][column]
  for (auto m = first; m < last; ++m)
    for (std::size_t c = 0; c < table.columns.size(); ++c) digits.emplace_back(table, m, c);
  std::vector<std::vector<std::string>> lines(1, table.row_paths);
  const bool marked = marks_rows(table);
  if (marked) lines[0].insert(lines[0].begin(), "");
  for (auto m = first; m < last; ++m) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (m == first)
        for (std::size_t p = 0; p < table.tuned_paths.size(); ++p) lines[0].push_back(chosen_heading(table, c, p));
      lines[0].push_back(heading(table, table.metrics[m], table.columns[c]));
      if (table.published) lines[0].push_back("published");
    }
    if (table.exponents.empty()) continue;
    lines[0].push_back("exponent");
    if (table.published) lines[0].push_back("published");
  }
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    lines.emplace_back();
    lines.back() = table.rows[r];
    if (marked) lines.back().insert(lines.back().begin(), marks_cells(table, r) ? "" : mark_of(table, table.checked(r)));
    for (auto m = first; m < last; ++m) {
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (m == first)
          for (std::size_t p = 0; p < table.tuned_paths.size(); ++p) lines.back().push_back(chosen_text(table, r, c, p));
        const auto& cell = table.cell(r, m, c);
        const auto& [measured, published] = digits[(m - first) * table.columns.size() + c];
        const auto text = cell_text(table, cell, measured, show_n, format);
        const auto mark = marks_cells(table, r) ? mark_of(table, cell.checked) : "";
        lines.back().push_back(mark.empty() ? text : mark + " " + text);
        const auto reported = table.baseline.empty() ? cell.published : cell.published_ratio;
        if (table.published) lines.back().push_back(std::isnan(reported) ? "" : published.text(reported));
      }
      if (table.exponents.empty()) continue;
      const auto& exponent = table.exponents[r * table.metrics.size() + m];
      const auto text = exponent_text(table, exponent.measured, exponent.points, exponent.uncertainty);
      lines.back().push_back(exponent.unsettled && !text.empty() ? "~" + text : text);
      if (table.published) lines.back().push_back(exponent_text(table, exponent.published, exponent.published_points));
    }
  }
  return lines;
}

}  // namespace

std::string table_text(const Table& table, Format format) {
  const int n = common_n(table);
  const bool any = std::any_of(table.cells.begin(), table.cells.end(), [](const Cell& cell) { return cell.n > 0; });
  const bool marked = std::any_of(table.cells.begin(), table.cells.end(), [](const Cell& cell) { return cell.best; });
  auto caption = fmt::format("{}: {} trial{}", table.experiment.empty() ? "all experiments" : table.experiment, table.trials,
                             table.trials == 1 ? "" : "s");
  if (table.metrics.size() == 1 && !table.column_paths.empty()) caption += "; " + with_unit(table.metrics[0]);
  if (!table.baseline.empty())
    caption += "; ratio of means to " + table.baseline;
  else if (any && n != 1)
    caption += table.overlap ? "; mean ± half its 95 % interval" : "; mean ± standard deviation";
  if (n > 1) caption += fmt::format(" of n = {}", n);
  if (n == 1) caption += "; n = 1";
  if (marked) caption += format == Format::kMarkdown ? "; best in bold" : "; * best";
  const auto render = [&](std::size_t first, std::size_t last) {
    const auto lines = lines_of(table, first, last, format);
    return format == Format::kMarkdown ? render_markdown(lines) : render_text(lines);
  };
  auto text = one_row(caption) + "\n\n";
  if (stacked(table))
    for (std::size_t m = 0; m < table.metrics.size(); ++m)
      text += fmt::format("{}{}\n\n{}", m > 0 ? "\n" : "", one_row(with_unit(table.metrics[m])), render(m, m + 1));
  else
    text += render(0, table.metrics.size());
  if (!table.notes.empty()) text += "\n";
  for (const auto& note : table.notes) text += (format == Format::kMarkdown ? "- note: " : "note: ") + one_row(note) + "\n";
  return text;
}

}  // namespace ablate::db
