#include "db/report/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "db/report/column_digits.h"
#include "db/report/comparison_fields.h"
#include "db/report/failures.h"
#include "db/report/format.h"
#include "db/report/renamed.h"

namespace ablate::db {
namespace {

/// Whether each metric has a block of its own: several metrics with several columns each would be too wide side by side.
bool stacked(const Table& table) { return table.metrics.size() > 1 && table.columns.size() > 1; }

/// "train.steps=25", behind the metric where several stand side by side. A single metric over columns stands in the caption,
/// and the metric of a block above the block.
std::string heading(const Table& table, const MetricInfo& metric, const std::vector<std::string>& column) {
  std::string text;
  if ((table.metrics.size() > 1 && !stacked(table)) || column.empty()) text = with_unit(metric);
  if (table.average && &column == &table.columns.back()) return text + (text.empty() ? "" : " ") + column.front();
  for (std::size_t i = 0; i < column.size(); ++i)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", table.column_paths[i], column[i]);
  return text;
}

/// From how many values a parameter was chosen, in all rows of a column; 0 where rows differ.
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

/// "train.learning_rate (of 3)", followed by its column where there are several.
std::string chosen_heading(const Table& table, std::size_t column, std::size_t path) {
  auto text = table.tuned_paths[path];
  if (const int of = common_of(table, column, path); of != 0) text += fmt::format(" (of {})", of);
  for (std::size_t i = 0; i < table.column_paths.size(); ++i)
    text += fmt::format(" {}={}", table.column_paths[i], table.columns[column][i]);
  return text;
}

/// "0.003 ^" for a value at an end of those tried, with "(of 3)" where the heading does not say it.
std::string chosen_text(const Table& table, std::size_t row, std::size_t column, std::size_t path) {
  const auto& choice = table.choice(row, column, path);
  if (choice.of == 0) return "";
  std::string text;
  for (const auto& value : choice.values) text += (text.empty() ? "" : ", ") + value.text;
  if (choice.values.empty()) text = "undecided";
  if (common_of(table, column, path) == 0) text += fmt::format(" (of {})", choice.of);
  return choice.edge ? text + " ^" : text;
}

/// The n of all cells that have a value; 0 where they differ.
int common_n(const Table& table) {
  int n = 0;
  for (const auto& cell : table.cells) {
    if (cell.n == 0 || cell.settings > 1 || cell.n == n) continue;
    if (n != 0) return 0;
    n = cell.n;
  }
  return n;
}

std::string mark_of(const Table& table, Checked checked) {
  if (checked == Checked::kFailed) return "!";
  if (checked == Checked::kBeyond) return ">";
  return checked == Checked::kUnchecked && table.any_checked() ? "?" : "";
}

/// Whether a row's numbers are marked one by one, since not all of them have the row's verdict.
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

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

Field cell_field(const Table& table, std::size_t row, const Cell& cell, const Digits& digits, bool show_n) {
  Field field{.role = Role::kNumber};
  if (cell.trials == 0) return field;
  if (cell.n > 0) {
    field.text = table.baseline.empty()   ? digits.text(cell.mean, table.overlap ? cell.interval : cell.deviation)
                 : std::isnan(cell.ratio) ? "no ratio"
                                          : digits.text(cell.ratio, cell.n > 1 ? cell.ratio_uncertainty : kUnknown);
    if (cell.settings > 1)
      field.text += fmt::format(" ({} settings)", cell.settings);
    else if (show_n)
      field.text += fmt::format(" (n={})", cell.n);
    field.unsettled = cell.unsettled, field.best = cell.best, field.second = cell.second;
    field.told = told_mark(table, cell.against, digits);
  }
  field.failures = failure_text(cell);
  if (field.text.empty() && field.failures.empty()) field.text = "no value";
  if (marks_cells(table, row)) field.mark = mark_of(table, cell.checked);
  return field;
}

/// A block of the metrics in [first, last), side by side.
class BlockOf {
 public:
  BlockOf(const Table& table, std::size_t first, std::size_t last) : table_(table), first_(first), last_(last) {
    for (auto m = first; m < last; ++m)
      for (std::size_t c = 0; c < table.columns.size(); ++c) digits_.emplace_back(table, m, c);
    block_.header = header();
    for (std::size_t r = 0; r < table.rows.size(); ++r) block_.rows.push_back(row(r));
  }
  Block take() { return std::move(block_); }

 private:
  /// How many chosen values stand before a cell: all before the first metric's; an average has none.
  std::size_t tuned(std::size_t metric, std::size_t column) const {
    return metric == first_ && !(table_.average && column + 1 == table_.columns.size()) ? table_.tuned_paths.size() : 0;
  }

  std::vector<Field> header() const {
    std::vector<Field> fields;
    if (marked_) fields.push_back({.role = Role::kMark});
    for (const auto& path : table_.row_paths) fields.push_back({.text = path});
    for (auto m = first_; m < last_; ++m) {
      for (std::size_t c = 0; c < table_.columns.size(); ++c) {
        for (std::size_t p = 0; p < tuned(m, c); ++p) fields.push_back({.text = chosen_heading(table_, c, p)});
        fields.push_back(number(heading(table_, table_.metrics[m], table_.columns[c])));
        if (!table_.against.empty()) fields.push_back(number("difference")), fields.push_back(number("p"));
        if (table_.published) fields.push_back(number("published"));
        for (const auto& added : table_.added) fields.push_back(number(added.name));
      }
      if (table_.exponents.empty()) continue;
      fields.push_back(number("exponent"));
      if (table_.published) fields.push_back(number("published"));
    }
    return fields;
  }

  std::vector<Field> row(std::size_t r) const {
    std::vector<Field> fields;
    if (marked_)
      fields.push_back({.role = Role::kMark, .text = marks_cells(table_, r) ? "" : mark_of(table_, table_.checked(r))});
    for (const auto& label : table_.rows[r]) fields.push_back({.text = label});
    for (auto m = first_; m < last_; ++m) {
      for (std::size_t c = 0; c < table_.columns.size(); ++c) {
        for (std::size_t p = 0; p < tuned(m, c); ++p) fields.push_back({.text = chosen_text(table_, r, c, p)});
        const auto place = table_.index_of(r, m, c);
        const auto& cell = table_.cells[place];
        const auto first = fields.size();
        const auto& [measured, published] = digits_[(m - first_) * table_.columns.size() + c];
        fields.push_back(cell_field(table_, r, cell, measured, show_n_));
        if (shows_a_like(r, m, c, measured)) {  // a mean that looks the same as another one is not marked as leading
          fields.back().best = fields.back().second = false;
          if (std::isnan(cell.against.value)) fields.back().told.clear();
        }
        if (!table_.against.empty()) {
          fields.push_back(number(difference_text(cell.against, measured)));
          fields.push_back(number(p_text(cell.against)));
        }
        const auto reported = table_.baseline.empty() ? cell.published : cell.published_ratio;
        if (table_.published) fields.push_back(number(std::isnan(reported) ? "" : published.text(reported)));
        for (const auto& added : table_.added) {
          const double value = added.values[place];
          fields.push_back(number(std::isnan(value) ? "" : brief(value)));
        }
        for (auto i = first; i < fields.size(); ++i) fields[i].cell = place;
      }
      if (table_.exponents.empty()) continue;
      const auto& exponent = table_.exponents[r * table_.metrics.size() + m];
      fields.push_back(number(exponent_text(exponent.measured, exponent.points, table_.columns.size(), exponent.uncertainty),
                              exponent.unsettled));
      if (table_.published)
        fields.push_back(number(exponent_text(exponent.published, exponent.published_points, table_.columns.size())));
    }
    return fields;
  }

  /// True if the mean is marked as the best or the second, and another mean of its column shows the same digits.
  bool shows_a_like(std::size_t row, std::size_t metric, std::size_t column, const Digits& digits) const {
    const auto& cell = table_.cell(row, metric, column);
    if (!cell.best && !cell.second && cell.against.told != Comparison::Told::kBetter) return false;
    for (std::size_t r = 0; r < table_.rows.size(); ++r)
      if (const auto& other = table_.cell(r, metric, column);
          r != row && other.n > 0 && digits.text(other.mean) == digits.text(cell.mean))
        return true;
    return false;
  }

  const Table& table_;
  const std::size_t first_, last_;
  const bool show_n_ = common_n(table_) == 0, marked_ = marks_rows(table_);
  std::vector<ColumnDigits> digits_;  ///< [metric][column]
  Block block_;
};

std::string caption_of(const Table& table) {
  const int n = common_n(table);
  const bool any = std::any_of(table.cells.begin(), table.cells.end(), [](const Cell& cell) { return cell.n > 0; });
  auto caption = fmt::format(
      "{}: {} trial{}", table.experiments.empty() ? "all experiments" : fmt::format("{}", fmt::join(table.experiments, ", ")),
      table.trials, table.trials == 1 ? "" : "s");
  if (table.metrics.size() == 1 && !table.column_paths.empty()) caption += "; " + with_unit(table.metrics[0]);
  if (!table.baseline.empty())
    caption += "; ratio of means to " + table.baseline + (any && n != 1 ? " ± its uncertainty" : "");
  else if (any && n != 1)
    caption += table.overlap ? "; mean ± half its 95 % interval" : "; mean ± standard deviation";
  if (n > 1) caption += fmt::format(" of n = {}", n);
  if (n == 1) caption += "; n = 1";
  if (!table.against.empty()) caption += "; difference to " + (table.against == kBest ? "the best" : table.against);
  return caption;
}

}  // namespace

std::string exponent_text(double value, int points, std::size_t columns, double uncertainty) {
  if (std::isnan(value)) return "";
  const auto all = static_cast<int>(columns);
  const int decimals = uncertainty > 0 ? std::clamp(-static_cast<int>(std::floor(std::log10(uncertainty))), 0, 2) : 2;
  return fmt::format("{:.{}f}{}", value, decimals, points < all ? fmt::format(" ({} of {})", points, all) : "");
}

Layout lay_out(const Table& table) {
  if (!table.names.empty()) return lay_out(renamed(table));
  Layout layout;
  layout.own_caption = !table.caption.empty(), layout.label = table.label;
  layout.caption = layout.own_caption ? table.caption : caption_of(table), layout.notes = table.notes;
  layout.any_best =
      std::any_of(table.cells.begin(), table.cells.end(), [](const Cell& cell) { return cell.best || cell.second; });
  if (stacked(table))
    for (std::size_t m = 0; m < table.metrics.size(); ++m) {
      layout.blocks.push_back(BlockOf(table, m, m + 1).take());
      layout.blocks.back().title = with_unit(table.metrics[m]);
    }
  else
    layout.blocks.push_back(BlockOf(table, 0, table.metrics.size()).take());
  if (!table.contrasts.empty()) layout.blocks.push_back(contrasts_of(table));
  return layout;
}

}  // namespace ablate::db
