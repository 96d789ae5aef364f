#include <cmath>

#include "db/report/failures.h"
#include "db/report/format.h"
#include "db/report/printers.h"

namespace ablate::db {
namespace {

/// Labels; "" where the trials have no such parameter.
std::vector<std::string> fields_of(std::vector<std::string> label, const std::vector<nlohmann::ordered_json>& values) {
  for (std::size_t i = 0; i < label.size(); ++i)
    if (values[i].is_null()) label[i].clear();
  return label;
}

/// The chosen value of a tuned parameter; several with blanks between.
std::vector<std::string> fields_of(const Chosen& choice) {
  std::string values;
  for (const auto& value : choice.values)
    if (!value.json.is_null()) values += (values.empty() ? "" : " ") + value.text;
  return {values, std::to_string(choice.of), std::to_string(choice.compared), choice.edge ? "true" : "false"};
}

std::string exact_or_nothing(double value) { return std::isnan(value) ? "" : exact(value); }

std::vector<std::string> fields_of(const Comparison& to) {
  return {exact_or_nothing(to.value), exact_or_nothing(to.low),    exact_or_nothing(to.high),
          exact_or_nothing(to.p),     exact_or_nothing(to.p_holm), to_text(to.told)};
}

/// A contrast in the columns of a cell: of the metric "test/accuracy less attention=softmax".
std::string contrast_line(const Table& table, const Contrast& contrast) {
  auto line = fields_of(contrast.first, contrast.first_values);
  const auto column = fields_of(table.columns[contrast.column], table.column_values[contrast.column]);
  line.insert(line.end(), column.begin(), column.end());
  line.insert(line.end(), 4 * table.tuned_paths.size(), "");
  const auto& metric = table.metrics[contrast.metric];
  auto name = metric.name + " less";
  for (std::size_t i = 0; i < contrast.second.size(); ++i)
    if (!contrast.second_values[i].is_null()) name += " " + table.row_paths[i] + "=" + contrast.second[i];
  for (auto& field : {name, metric.unit, std::string(), std::string(), std::string(), std::to_string(contrast.difference.n)})
    line.push_back(field);
  line.insert(line.end(), 7, "");
  for (auto& field : fields_of(contrast.difference)) line.push_back(std::move(field));
  line.insert(line.end(), table.added.size(), "");
  for (auto& field : line) field = one_row(field);
  return csv_line(line);
}

/// One line for each cell (mean, sd, n, number of failed trials, published, ratios, whether it is unsettled), one for each
/// exponent and contrast, and no notes. A label of trials without the parameter is empty.
std::string csv_table(const Table& table) {
  auto header = table.row_paths;
  header.insert(header.end(), table.column_paths.begin(), table.column_paths.end());
  for (const auto& path : table.tuned_paths)
    for (const auto* what : {"", " of", " compared", " edge"}) header.push_back(path + what);
  for (const auto* name : {"metric", "unit", "mean", "sd", "interval", "n", "failed", "reason", "published", "ratio",
                           "published_ratio", "unsettled", "checked"})
    header.push_back(name);
  const bool compares = !table.against.empty() || !table.contrasts.empty();
  if (compares)
    for (const auto* name : {"difference", "low", "high", "p", "p_holm", "significance"}) header.push_back(name);
  for (const auto& added : table.added) header.push_back(added.name);
  auto text = csv_line(header);
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    for (std::size_t m = 0; m < table.metrics.size(); ++m)
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const auto& cell = table.cell(r, m, c);
        if (cell.trials == 0) continue;
        auto line = fields_of(table.rows[r], table.row_values[r]);
        const auto column = fields_of(table.columns[c], table.column_values[c]);
        line.insert(line.end(), column.begin(), column.end());
        for (std::size_t p = 0; p < table.tuned_paths.size(); ++p)
          for (auto& field : fields_of(table.choice(r, c, p))) line.push_back(std::move(field));
        int failed = 0;
        for (const auto& failure : cell.failures) failed += failure.count;
        for (auto& field : {table.metrics[m].name, table.metrics[m].unit, cell.n > 0 ? exact(cell.mean) : "",
                            exact_or_nothing(cell.deviation), exact_or_nothing(cell.interval), std::to_string(cell.n),
                            std::to_string(failed), failure_text(cell), exact_or_nothing(cell.published),
                            exact_or_nothing(cell.ratio), exact_or_nothing(cell.published_ratio),
                            std::string(cell.unsettled ? "true" : "false"), std::string(to_text(cell.checked))})
          line.push_back(field);
        if (compares)
          for (auto& field : fields_of(cell.against)) line.push_back(std::move(field));
        for (const auto& added : table.added) line.push_back(exact_or_nothing(added.values[table.index_of(r, m, c)]));
        for (auto& field : line) field = one_row(field);  // so that a row is a line whatever a text holds
        text += csv_line(line);
      }
  for (std::size_t i = 0; i < table.exponents.size(); ++i) {
    const auto row = i / table.metrics.size();
    auto line = fields_of(table.rows[row], table.row_values[row]);
    line.insert(line.end(), table.column_paths.size() + 4 * table.tuned_paths.size(), "");
    const auto& exponent = table.exponents[i];
    for (auto& field : {table.metrics[i % table.metrics.size()].name + " exponent", std::string(),
                        exact_or_nothing(exponent.measured), std::string(), std::string(), std::to_string(exponent.points),
                        std::string(), std::string(), exact_or_nothing(exponent.published), std::string(), std::string(),
                        std::string(exponent.unsettled ? "true" : "false"), std::string(to_text(table.checked(row)))})
      line.push_back(field);
    line.insert(line.end(), table.added.size() + (compares ? 6 : 0), "");
    for (auto& field : line) field = one_row(field);
    text += csv_line(line);
  }
  for (const auto& contrast : table.contrasts) text += contrast_line(table, contrast);
  return text;
}

class CsvRows : public RowPrinter {
 public:
  explicit CsvRows(const Write& write) : write_(write) {}
  void begin(const std::vector<std::string>& names) override { write_(csv_line(names)); }
  void put(const std::vector<nlohmann::json>& fields) override {
    std::vector<std::string> texts;
    for (const auto& field : fields) texts.push_back(field.is_number_float() ? exact(field.get<double>()) : plain_field(field));
    write_(csv_line(texts));
  }
  void end() override {}

 private:
  const Write& write_;
};

std::unique_ptr<RowPrinter> csv_rows(const Write& write) { return std::make_unique<CsvRows>(write); }

}  // namespace

const Printer printers::csv{csv_table, csv_rows};

}  // namespace ablate::db
