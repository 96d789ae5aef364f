#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "db/table.h"

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
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", table.column_paths[i], one_row(column[i]));
  return text;
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

std::string brief_or_nothing(double value) { return std::isnan(value) ? "" : brief(value); }
/// Of fewer columns than there are, it says of how many.
std::string exponent_text(const Table& table, double value, int points) {
  if (std::isnan(value)) return "";
  const auto all = static_cast<int>(table.columns.size());
  return fmt::format("{:.2f}{}", value, points < all ? fmt::format(" ({} of {})", points, all) : "");
}

std::string cell_text(const Table& table, const Cell& cell, bool show_n, Format format) {
  if (cell.trials == 0) return "";
  std::string text;
  if (cell.n > 0) {
    text = table.baseline.empty()   ? with_deviation(cell.mean, cell.deviation)
           : std::isnan(cell.ratio) ? "no ratio"
                                    : brief(cell.ratio);
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
  std::vector<std::vector<std::string>> lines(1, table.row_paths);
  for (auto m = first; m < last; ++m) {
    for (const auto& column : table.columns) {
      lines[0].push_back(heading(table, table.metrics[m], column));
      if (table.published) lines[0].push_back("published");
    }
    if (table.exponents.empty()) continue;
    lines[0].push_back("exponent");
    if (table.published) lines[0].push_back("published");
  }
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    lines.emplace_back();
    for (const auto& label : table.rows[r]) lines.back().push_back(one_row(label));
    for (auto m = first; m < last; ++m) {
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const auto& cell = table.cell(r, m, c);
        lines.back().push_back(cell_text(table, cell, show_n, format));
        if (table.published)
          lines.back().push_back(brief_or_nothing(table.baseline.empty() ? cell.published : cell.published_ratio));
      }
      if (table.exponents.empty()) continue;
      const auto& exponent = table.exponents[r * table.metrics.size() + m];
      lines.back().push_back(exponent_text(table, exponent.measured, exponent.points));
      if (table.published) lines.back().push_back(exponent_text(table, exponent.published, exponent.published_points));
    }
  }
  return lines;
}

std::string readable(const Table& table, Format format) {
  const int n = common_n(table);
  const bool any = std::any_of(table.cells.begin(), table.cells.end(), [](const Cell& cell) { return cell.n > 0; });
  const bool marked = std::any_of(table.cells.begin(), table.cells.end(), [](const Cell& cell) { return cell.best; });
  auto caption = fmt::format("{}: {} trial{}", table.experiment.empty() ? "all experiments" : table.experiment, table.trials,
                             table.trials == 1 ? "" : "s");
  if (table.metrics.size() == 1 && !table.column_paths.empty()) caption += "; " + with_unit(table.metrics[0]);
  if (!table.baseline.empty())
    caption += "; ratio of means to " + table.baseline;
  else if (any && n != 1)
    caption += "; mean ± standard deviation";
  if (n > 1) caption += fmt::format(" of n = {}", n);
  if (n == 1) caption += "; n = 1";
  if (marked) caption += format == Format::kMarkdown ? "; best in bold" : "; * best";
  const auto render = [&](std::size_t first, std::size_t last) {
    const auto lines = lines_of(table, first, last, format);
    return format == Format::kMarkdown ? render_markdown(lines) : render_text(lines);
  };
  auto text = caption + "\n\n";
  if (stacked(table))
    for (std::size_t m = 0; m < table.metrics.size(); ++m)
      text += fmt::format("{}{}\n\n{}", m > 0 ? "\n" : "", with_unit(table.metrics[m]), render(m, m + 1));
  else
    text += render(0, table.metrics.size());
  if (!table.notes.empty()) text += "\n";
  for (const auto& note : table.notes) text += (format == Format::kMarkdown ? "- note: " : "note: ") + note + "\n";
  return text;
}

std::string exact_or_nothing(double value) { return std::isnan(value) ? "" : exact(value); }

std::string csv(const Table& table) {
  auto header = table.row_paths;
  header.insert(header.end(), table.column_paths.begin(), table.column_paths.end());
  for (const auto* name : {"metric", "unit", "mean", "sd", "n", "failed", "reason", "published", "ratio", "published_ratio"})
    header.push_back(name);
  auto text = csv_line(header);
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    for (std::size_t m = 0; m < table.metrics.size(); ++m)
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const auto& cell = table.cell(r, m, c);
        if (cell.trials == 0) continue;
        auto line = table.rows[r];
        line.insert(line.end(), table.columns[c].begin(), table.columns[c].end());
        int failed = 0;
        for (const auto& failure : cell.failures) failed += failure.count;
        for (auto& field :
             {table.metrics[m].name, table.metrics[m].unit, cell.n > 0 ? exact(cell.mean) : "",
              cell.n > 1 ? exact(cell.deviation) : "", std::to_string(cell.n), std::to_string(failed), failure_text(cell),
              exact_or_nothing(cell.published), exact_or_nothing(cell.ratio), exact_or_nothing(cell.published_ratio)})
          line.push_back(field);
        for (auto& field : line) field = one_row(field);  // so that a row is a line whatever a text holds
        text += csv_line(line);
      }
  for (std::size_t i = 0; i < table.exponents.size(); ++i) {
    auto line = table.rows[i / table.metrics.size()];
    line.insert(line.end(), table.column_paths.size(), "");
    const auto& exponent = table.exponents[i];
    for (auto& field : {table.metrics[i % table.metrics.size()].name + " exponent", std::string(),
                        exact_or_nothing(exponent.measured), std::string(), std::to_string(exponent.points), std::string(),
                        std::string(), exact_or_nothing(exponent.published), std::string(), std::string()})
      line.push_back(field);
    for (auto& field : line) field = one_row(field);
    text += csv_line(line);
  }
  return text;
}

nlohmann::ordered_json labels(const std::vector<std::string>& paths, const std::vector<nlohmann::ordered_json>& values) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < paths.size(); ++i) object[paths[i]] = values[i];
  return object;
}

/// JSON has no NaN.
nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

std::string json(const Table& table) {
  nlohmann::ordered_json cells = nlohmann::ordered_json::array(), metrics = nlohmann::ordered_json::array();
  for (const auto& metric : table.metrics)
    metrics.push_back({{"name", metric.name}, {"unit", metric.unit}, {"direction", metric.direction}});
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    for (std::size_t m = 0; m < table.metrics.size(); ++m)
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const auto& cell = table.cell(r, m, c);
        if (cell.trials == 0) continue;
        nlohmann::ordered_json failures = nlohmann::ordered_json::array();
        for (const auto& failure : cell.failures)
          failures.push_back({{"outcome", failure.outcome}, {"count", failure.count}, {"reason", failure.reason}});
        cells.push_back({{"row", labels(table.row_paths, table.row_values[r])},
                         {"column", labels(table.column_paths, table.column_values[c])},
                         {"metric", table.metrics[m].name},
                         {"mean", number(cell.mean)},
                         {"sd", number(cell.deviation)},
                         {"n", cell.n},
                         {"trials", cell.trials},
                         {"best", cell.best},
                         {"published", number(cell.published)},
                         {"ratio", number(cell.ratio)},
                         {"published_ratio", number(cell.published_ratio)},
                         {"failures", failures}});
      }
  nlohmann::ordered_json exponents = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < table.exponents.size(); ++i)
    exponents.push_back({{"row", labels(table.row_paths, table.row_values[i / table.metrics.size()])},
                         {"metric", table.metrics[i % table.metrics.size()].name},
                         {"exponent", number(table.exponents[i].measured)},
                         {"points", table.exponents[i].points},
                         {"published", number(table.exponents[i].published)}});
  const nlohmann::ordered_json all = {{"experiment", table.experiment},
                                      {"trials", table.trials},
                                      {"rows", table.row_paths},
                                      {"columns", table.column_paths},
                                      {"metrics", metrics},
                                      {"baseline", table.baseline},
                                      {"cells", cells},
                                      {"exponents", exponents},
                                      {"notes", table.notes}};
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string failure_text(const Cell& cell) {
  std::string text;
  for (const auto& failure : cell.failures) {
    if (!text.empty()) text += ", ";
    text += failure.outcome;
    if (cell.trials > 1) text += fmt::format(" {}/{}", failure.count, cell.trials);
    // "timeout" and "interrupted" say it all.
    if (failure.outcome == "failed" && !failure.reason.empty()) text += ": " + failure.reason;
    if (failure.outcome == "failed" && failure.other_reasons > 0)
      text += fmt::format(" (+ {} with another reason)", failure.other_reasons);
  }
  return text;
}

std::string to_text(const Table& table, Format format) {
  switch (format) {
    case Format::kCsv:
      return csv(table);
    case Format::kJson:
      return json(table);
    default:
      return readable(table, format);
  }
}

}  // namespace ablate::db
