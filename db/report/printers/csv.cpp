#include <algorithm>
#include <cmath>
#include <map>

#include "db/report/format.h"
#include "db/report/layout.h"
#include "db/report/printers.h"

namespace ablate::db {
namespace {

struct CsvFields {
  std::map<std::string, std::string> by_column;
  std::vector<std::string> paths = {};  ///< fields of path_header; not in `by_column`, because a parameter may be named "n"
};

/// Adds the labels; "" if the trials have no such parameter.
void put_labels(const std::vector<std::string>& labels, const std::vector<nlohmann::ordered_json>& values, CsvFields& line) {
  for (std::size_t i = 0; i < labels.size(); ++i) line.paths.push_back(values[i].is_null() ? "" : labels[i]);
}

std::string exact_or_nothing(double value) { return std::isnan(value) ? "" : exact(value); }

/// Returns the columns of a fact, with their fields.
std::vector<std::pair<std::string, std::string>> fields_of(const Fact& fact) {
  if (const auto* to = std::get_if<Comparison>(&fact.value))
    return {{"difference", exact_or_nothing(to->value)}, {"low", exact_or_nothing(to->low)},
            {"high", exact_or_nothing(to->high)},        {"p", exact_or_nothing(to->p)},
            {"p_holm", exact_or_nothing(to->p_holm)},    {"significance", to_text(to->significance)}};
  if (const auto* number = std::get_if<double>(&fact.value)) return {{fact.name, exact_or_nothing(*number)}};
  if (const auto* text = std::get_if<std::string>(&fact.value)) return {{fact.name, *text}};
  return {{fact.name, std::get<bool>(fact.value) ? "true" : "false"}};
}

void put_fact(const Fact& fact, CsvFields& line) {
  if (fact.shown == Fact::Shown::kJson) return;
  for (auto& [name, field] : fields_of(fact)) line.by_column[name] = std::move(field);
}

/// Returns the columns of labels and of the chosen values of tuned parameters.
std::vector<std::string> path_header(const Table& table) {
  auto header = table.row_paths;
  header.insert(header.end(), table.column_paths.begin(), table.column_paths.end());
  for (const auto& path : table.tuned_paths)
    for (const auto* what : {"", " of", " compared", " edge"}) header.push_back(path + what);
  return header;
}

/// Returns the other columns: the columns that every table has, with each fact's columns before the column Fact::before.
std::vector<std::string> header_of(const Table& table) {
  std::vector<std::string> header{"metric", "unit", "mean", "sd", "n", "failed", "reason", "published", "unsettled", "checked"};
  std::vector<const Fact*> facts;
  if (!table.cells.empty())
    for (const auto& fact : table.cells.front().facts) facts.push_back(&fact);
  if (!table.pairs.empty()) facts.push_back(&table.pairs.front().fact);
  for (const auto* fact : facts)
    if (fact->shown != Fact::Shown::kJson)
      for (const auto& [name, unused] : fields_of(*fact))
        header.insert(std::find(header.begin(), header.end(), fact->before), name);
  return header;
}

CsvFields cell_line(const Table& table, std::size_t r, std::size_t m, std::size_t c) {
  const auto& cell = table.cell(r, m, c);
  int failed = 0;
  for (const auto& failure : cell.failures) failed += failure.count;
  CsvFields line{{{"metric", table.metrics[m].name},
                  {"unit", table.metrics[m].unit},
                  {"mean", cell.n > 0 ? exact(cell.mean) : ""},
                  {"sd", exact_or_nothing(cell.deviation)},
                  {"n", std::to_string(cell.n)},
                  {"failed", std::to_string(failed)},
                  {"reason", failure_text(cell)},
                  {"published", exact_or_nothing(cell.published)},
                  {"unsettled", cell.unsettled ? "true" : "false"},
                  {"checked", to_text(cell.checked)}}};
  put_labels(table.rows[r], table.row_values[r], line);
  put_labels(table.columns[c], table.column_values[c], line);
  for (std::size_t p = 0; p < table.tuned_paths.size(); ++p) {
    const auto& choice = table.choice(r, c, p);
    std::string chosen;
    for (const auto& value : choice.values)
      if (!value.json.is_null()) chosen += (chosen.empty() ? "" : " ") + value.text;
    for (const auto& field :
         {chosen, std::to_string(choice.of), std::to_string(choice.compared), std::string(choice.edge ? "true" : "false")})
      line.paths.push_back(field);
  }
  for (const auto& fact : cell.facts) put_fact(fact, line);
  return line;
}

/// Returns a row's fact in the columns of a cell, with the metric "train/step_time exponent".
CsvFields row_line(const Table& table, std::size_t r, const RowFact& fact, const MetricInfo& metric) {
  CsvFields line{{{"metric", metric.name + " " + fact.name},
                  {"mean", exact_or_nothing(fact.value)},
                  {"n", std::to_string(fact.points)},
                  {"published", exact_or_nothing(fact.published)},
                  {"unsettled", fact.unsettled ? "true" : "false"},
                  {"checked", to_text(table.checked(r))}}};
  put_labels(table.rows[r], table.row_values[r], line);
  return line;
}

/// Returns a pair in the columns of a cell, with the metric "test/accuracy less attention=softmax".
CsvFields pair_line(const Table& table, const RowPair& pair) {
  const auto& metric = table.metrics[pair.metric];
  auto name = metric.name + " less";
  for (std::size_t i = 0; i < pair.second.size(); ++i)
    if (!pair.second_values[i].is_null()) name += " " + table.row_paths[i] + "=" + pair.second[i];
  CsvFields line{{{"metric", name}, {"unit", metric.unit}, {"n", std::to_string(pair.difference().n)}}};
  put_labels(pair.first, pair.first_values, line);
  put_labels(table.columns[pair.column], table.column_values[pair.column], line);
  put_fact(pair.fact, line);
  return line;
}

/// Prints one line for each cell with trials, each fact of a row and each pair of rows. Prints no notes.
std::string csv_table(const Table& table) {
  const auto paths = path_header(table), header = header_of(table);
  auto all = paths;
  all.insert(all.end(), header.begin(), header.end());
  auto text = csv_line(all);
  const auto put = [&](CsvFields line) {
    auto fields = std::move(line.paths);
    fields.resize(paths.size());
    for (const auto& name : header) fields.push_back(line.by_column[name]);
    for (auto& field : fields) field = one_row(field);  // a row is one line, even if a text has several
    text += csv_line(fields);
  };
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    for (std::size_t m = 0; m < table.metrics.size(); ++m)
      for (std::size_t c = 0; c < table.columns.size(); ++c)
        if (table.cell(r, m, c).trials > 0) put(cell_line(table, r, m, c));
  for (std::size_t i = 0; i < table.row_facts.size(); ++i)
    put(row_line(table, i / table.metrics.size(), table.row_facts[i], table.metrics[i % table.metrics.size()]));
  for (const auto& pair : table.pairs) put(pair_line(table, pair));
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
