#include "db/report/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/records/outcome.h"
#include "core/util/plain_json.h"
#include "core/util/sha256.h"
#include "db/report/digits.h"
#include "db/report/format.h"

namespace ablate::db {
namespace {

using Significance = Comparison::Significance;

Field number(std::string text, bool unsettled = false) {
  return {.role = FieldRole::kNumber, .text = std::move(text), .unsettled = unsettled};
}

/// Decimals of the numbers in a column.
struct ColumnDigits {
  ColumnDigits(const Table& table, std::size_t metric, std::size_t column)
      : measured(numbers(table, metric, column, false)), published(numbers(table, metric, column, true)) {}
  Digits measured, published;

 private:
  static Digits numbers(const Table& table, std::size_t metric, std::size_t column, bool published) {
    if (table.decimals) return Digits::fixed(*table.decimals);
    std::vector<Measured> all;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const auto shown = table.cell(r, metric, column).shown();
      all.push_back(published ? Measured{shown.published} : Measured{shown.value, shown.uncertainty, shown.digits});
    }
    return Digits(all);
  }
};

/// True if each metric has its own block, because several metrics with several columns each would be too wide side by side.
bool stacked(const Table& table) { return table.metrics.size() > 1 && table.columns.size() > 1; }

/// Returns "train.steps=25", after the metric if several metrics are side by side. The caption names a single
/// metric over columns, and the title of a block names the metric of the block.
std::string heading(const Table& table, const MetricInfo& metric, const std::vector<std::string>& column) {
  std::string text;
  if ((table.metrics.size() > 1 && !stacked(table)) || column.empty()) text = with_unit(metric);
  if (table.average && &column == &table.columns.back()) return text + (text.empty() ? "" : " ") + column.front();
  for (std::size_t i = 0; i < column.size(); ++i)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", table.column_paths[i], column[i]);
  return text;
}

/// Returns the number of values from which dev chose a parameter's value in all rows of a column; 0 if the number differs.
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

/// Returns "train.learning_rate (of 3)", followed by the column's labels.
std::string chosen_heading(const Table& table, std::size_t column, std::size_t path) {
  auto text = table.tuned_paths[path];
  if (const int of = common_of(table, column, path); of != 0) text += fmt::format(" (of {})", of);
  for (std::size_t i = 0; i < table.column_paths.size(); ++i)
    text += fmt::format(" {}={}", table.column_paths[i], table.columns[column][i]);
  return text;
}

/// Returns "0.003 ^" for a value at an end of the tried values, with "(of 3)" if the heading lacks it.
std::string chosen_text(const Table& table, std::size_t row, std::size_t column, std::size_t path) {
  const auto& choice = table.choice(row, column, path);
  if (choice.of == 0) return "";
  std::string text;
  for (const auto& value : choice.values) text += (text.empty() ? "" : ", ") + value.text;
  if (choice.values.empty()) text = "undecided";
  if (common_of(table, column, path) == 0) text += fmt::format(" (of {})", choice.of);
  return choice.edge ? text + " ^" : text;
}

/// Returns the n of the cells with a value, without cells of several settings; 0 if the cells differ in n.
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

/// True if a row's numbers are marked one by one, because some of them have another verdict than the row.
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

/// Returns "-2.31 [-2.90, -1.72]", or "reference".
std::string difference_text(const Comparison& to, const Digits& digits) {
  if (to.significance == Significance::kReference) return "reference";
  if (std::isnan(to.value)) return to.significance == Significance::kBetter ? "reference" : "";  // the best
  if (std::isnan(to.low)) return digits.text(to.value);
  return fmt::format("{} [{}, {}]", digits.text(to.value), digits.text(to.low), digits.text(to.high));
}

/// Returns the columns of a fact: heading and text.
std::vector<std::pair<std::string, std::string>> columns_of(const Fact& fact, const Digits& digits) {
  if (const auto* to = std::get_if<Comparison>(&fact.value))
    return {{"difference", difference_text(*to, digits)},
            {"p", to->significance == Significance::kTooFew ? "n too small" : p_text(to->p)}};
  const auto* value = std::get_if<double>(&fact.value);
  const auto* text = std::get_if<std::string>(&fact.value);
  return {{fact.name, text != nullptr ? *text : value != nullptr && !std::isnan(*value) ? brief(*value) : ""}};
}

/// @param looks_alike true if another mean of the column shows the same digits
void put_mark(const Fact& fact, const Digits& digits, bool looks_alike, Field& field) {
  const auto* to = std::get_if<Comparison>(&fact.value);
  const bool is_hidden = to != nullptr && to->significance != Significance::kNotSignificant && digits.hide(to->value);
  if ((fact.leads && looks_alike) || is_hidden) return;
  if (fact.mark == kBestMark)
    field.best = true;
  else if (fact.mark == kSecondMark)
    field.second = true;
  else
    field.significance += fact.mark;
}

/// @param looks_alike see put_mark
Field cell_field(const Table& table, std::size_t row, const Cell& cell, const Digits& digits, bool show_n, bool looks_alike) {
  Field field{.role = FieldRole::kNumber};
  if (cell.trials == 0) return field;
  if (cell.n > 0) {
    const auto shown = cell.shown();
    field.text = std::isnan(shown.value) && !shown.none.empty()
                     ? shown.none
                     : digits.text(shown.value, cell.n > 1 ? shown.uncertainty : kNoNumber);
    if (cell.settings > 1)
      field.text += fmt::format(" ({} settings)", cell.settings);
    else if (show_n)
      field.text += fmt::format(" (n={})", cell.n);
    field.unsettled = cell.unsettled;
    for (const auto& fact : cell.facts) put_mark(fact, digits, looks_alike, field);
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
  /// Returns the number of chosen values before a cell: all before the first metric, none before other metrics and averages.
  std::size_t tuned(std::size_t metric, std::size_t column) const {
    return metric == first_ && !(table_.average && column + 1 == table_.columns.size()) ? table_.tuned_paths.size() : 0;
  }

  std::vector<Field> header() const {
    std::vector<Field> fields;
    if (marked_) fields.push_back({.role = FieldRole::kMark});
    for (const auto& path : table_.row_paths) fields.push_back({.text = path});
    for (auto m = first_; m < last_; ++m) {
      for (std::size_t c = 0; c < table_.columns.size(); ++c) {
        for (std::size_t p = 0; p < tuned(m, c); ++p) fields.push_back({.text = chosen_heading(table_, c, p)});
        fields.push_back(number(heading(table_, table_.metrics[m], table_.columns[c])));
        for (const auto& [name, unused] : shown_facts(table_.cell(0, m, c), digits(m, c))) fields.push_back(number(name));
        if (table_.published) fields.push_back(number("published"));
      }
      if (table_.row_facts.empty()) continue;
      fields.push_back(number(table_.row_facts.front().name));
      if (table_.published) fields.push_back(number("published"));
    }
    return fields;
  }

  std::vector<Field> row(std::size_t r) const {
    std::vector<Field> fields;
    if (marked_)
      fields.push_back({.role = FieldRole::kMark, .text = marks_cells(table_, r) ? "" : mark_of(table_, table_.checked(r))});
    for (const auto& label : table_.rows[r]) fields.push_back({.text = label});
    for (auto m = first_; m < last_; ++m) {
      for (std::size_t c = 0; c < table_.columns.size(); ++c) {
        for (std::size_t p = 0; p < tuned(m, c); ++p) fields.push_back({.text = chosen_text(table_, r, c, p)});
        const auto place = table_.index_of(r, m, c);
        const auto& cell = table_.cells[place];
        const auto first = fields.size();
        const auto& [measured, published] = digits(m, c);
        fields.push_back(cell_field(table_, r, cell, measured, show_n_, looks_alike(r, m, c, measured)));
        for (auto& [unused, text] : shown_facts(cell, digits(m, c))) fields.push_back(number(std::move(text)));
        const auto reported = cell.shown().published;
        if (table_.published) fields.push_back(number(std::isnan(reported) ? "" : published.text(reported)));
        for (auto i = first; i < fields.size(); ++i) fields[i].cell = place;
      }
      if (table_.row_facts.empty()) continue;
      const auto& fact = table_.row_facts[r * table_.metrics.size() + m];
      fields.push_back(number(fact.text, fact.unsettled));
      if (table_.published) fields.push_back(number(fact.published_text));
    }
    return fields;
  }

  const ColumnDigits& digits(std::size_t metric, std::size_t column) const {
    return digits_[(metric - first_) * table_.columns.size() + column];
  }

  /// Returns the extra columns that formats for people show after a cell's number.
  static std::vector<std::pair<std::string, std::string>> shown_facts(const Cell& cell, const ColumnDigits& digits) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& fact : cell.facts)
      if (fact.shown == Fact::Shown::kAll)
        for (auto& column : columns_of(fact, digits.measured)) all.push_back(std::move(column));
    return all;
  }

  /// True if another mean of the column shows the same digits.
  bool looks_alike(std::size_t row, std::size_t metric, std::size_t column, const Digits& digits) const {
    const auto& cell = table_.cell(row, metric, column);
    const auto leads = [](const Fact& fact) { return fact.leads && !fact.mark.empty(); };
    if (std::none_of(cell.facts.begin(), cell.facts.end(), leads)) return false;  // no mark depends on equal digits
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

/// Returns the pairs of rows, one line each.
Block pairs_of(const Table& table) {
  Block block{table.pairs.front().fact.name, {{.text = "first"}, {.text = "second"}}, {}};
  for (const auto& path : table.column_paths) block.header.push_back({.text = path});
  if (table.metrics.size() > 1) block.header.push_back({.text = "metric"});
  for (const auto* name : {"difference", "p", "n"}) block.header.push_back(number(name));
  for (const auto& pair : table.pairs) {
    auto& row = block.rows.emplace_back();
    for (const auto* labels : {&pair.first, &pair.second}) row.push_back({.text = row_text(*labels)});
    for (const auto& label : table.columns[pair.column]) row.push_back({.text = label});
    if (table.metrics.size() > 1) row.push_back({.text = with_unit(table.metrics[pair.metric])});
    const auto digits = ColumnDigits(table, pair.metric, pair.column).measured;
    const auto at = row.size();
    for (auto& [unused, text] : columns_of(pair.fact, digits)) row.push_back(number(std::move(text)));
    put_mark(pair.fact, digits, false, row[at]);
    row.push_back(number(pair.difference().n > 0 ? std::to_string(pair.difference().n) : ""));
  }
  return block;
}

std::string caption_of(const Table& table) {
  const int n = common_n(table);
  const bool any = std::any_of(table.cells.begin(), table.cells.end(), [](const Cell& cell) { return cell.n > 0; });
  auto caption = fmt::format(
      "{}: {} trial{}", table.experiments.empty() ? "all experiments" : fmt::format("{}", fmt::join(table.experiments, ", ")),
      table.trials, table.trials == 1 ? "" : "s");
  if (table.metrics.size() == 1 && !table.column_paths.empty()) caption += "; " + with_unit(table.metrics[0]);
  const bool is_one = !any || n == 1;
  if (!table.number.empty() || !is_one) caption += "; " + (table.number.empty() ? "mean" : table.number);
  if (!is_one) caption += " ± " + table.spread;
  if (n > 1) caption += fmt::format(" of n = {}", n);
  if (n == 1) caption += "; n = 1";
  if (!table.difference.empty()) caption += "; difference to " + table.difference;
  return caption;
}

constexpr std::size_t kMostKeys = 20;  ///< a cell with more keys gets only their number and a digest

}  // namespace

Table renamed(Table table) {
  const auto rename = [&](std::string& name) {
    if (const auto to = table.names.find(name); to != table.names.end()) name = to->second;
  };
  const auto rename_all = [&](std::vector<std::string>& names) { std::for_each(names.begin(), names.end(), rename); };
  for (auto* paths : {&table.row_paths, &table.column_paths, &table.tuned_paths}) rename_all(*paths);
  for (auto* lines : {&table.rows, &table.columns}) std::for_each(lines->begin(), lines->end(), rename_all);
  for (auto& pair : table.pairs) rename_all(pair.first), rename_all(pair.second);
  for (auto& metric : table.metrics) rename(metric.name);
  table.names.clear();
  return table;
}

std::string failure_text(const Cell& cell) {
  std::string text;
  for (const auto& failure : cell.failures) {
    if (!text.empty()) text += ", ";
    text += failure.outcome;
    if (cell.trials > 1) text += fmt::format(" {}/{}", failure.count, cell.trials);
    const auto* const outcome = find_outcome(failure.outcome);
    const bool tells_reason = failure.outcome != outcome::kMissing && (outcome == nullptr || !outcome->says_all);
    if (tells_reason && !failure.reason.empty()) text += ": " + first_line(failure.reason);
    if (tells_reason && failure.other_reasons > 0) text += fmt::format(" (+ {} with another reason)", failure.other_reasons);
  }
  return text;
}

std::string plain(const Field& field, const Emphasis& emphasis) {
  auto text = field.text;
  if (field.unsettled && !text.empty()) text = emphasis.unsettled + text;
  if (field.best) text = emphasis.best_before + text + emphasis.best_after;
  if (field.second) text = emphasis.second_before + text + emphasis.second_after;
  if (!field.significance.empty()) text += " " + field.significance;
  if (!field.failures.empty()) text += (text.empty() ? "" : ", ") + field.failures;
  return field.mark.empty() ? text : field.mark + " " + text;
}

Layout lay_out(const Table& table) {
  if (!table.names.empty()) return lay_out(renamed(table));
  Layout layout;
  layout.own_caption = !table.caption.empty(), layout.label = table.label;
  layout.caption = layout.own_caption ? table.caption : caption_of(table), layout.notes = table.notes;
  layout.any_best = std::any_of(table.cells.begin(), table.cells.end(),
                                [](const Cell& cell) { return cell.is_marked(kBestMark) || cell.is_marked(kSecondMark); });
  if (stacked(table))
    for (std::size_t m = 0; m < table.metrics.size(); ++m) {
      layout.blocks.push_back(BlockOf(table, m, m + 1).take());
      layout.blocks.back().title = with_unit(table.metrics[m]);
    }
  else
    layout.blocks.push_back(BlockOf(table, 0, table.metrics.size()).take());
  if (!table.pairs.empty()) layout.blocks.push_back(pairs_of(table));
  return layout;
}

std::string request_text(const Table& table) { return table.request.empty() ? "" : plain_json(nlohmann::json(table.request)); }

std::string trials_text(const Table& table, const Field& field) {
  if (table.request.empty() || !field.cell) return "";
  std::vector<std::string> keys;
  for (const auto id : table.cells[*field.cell].trial_ids)
    if (const auto key = table.keys.find(id); key != table.keys.end()) keys.push_back(key->second);
  std::sort(keys.begin(), keys.end());  // the order of runs does not matter
  std::string text;
  for (const auto& key : keys) text += (text.empty() ? "" : " ") + key;
  return keys.size() <= kMostKeys ? text : "all " + std::to_string(keys.size()) + " " + sha256(text).substr(0, 12);
}

std::string row_trials(const Table& table, const std::vector<Field>& row) {
  std::string text;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0 && row[i].cell && row[i].cell == row[i - 1].cell) continue;
    if (const auto trials = trials_text(table, row[i]); !trials.empty())
      text += (text.empty() ? "" : "; ") + std::to_string(i + 1) + " " + trials;
  }
  return text.empty() ? "-" : text;
}

}  // namespace ablate::db
