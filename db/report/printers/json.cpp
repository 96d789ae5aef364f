#include <utility>

#include "core/util/plain_json.h"
#include "db/report/format.h"
#include "db/report/named_rows.h"
#include "db/report/printers.h"

namespace ablate::db {
namespace {

nlohmann::ordered_json labels(const std::vector<std::string>& paths, const std::vector<nlohmann::ordered_json>& values) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < paths.size(); ++i) object[paths[i]] = values[i];
  return object;
}

/// Returns the chosen value of each tuned parameter.
nlohmann::ordered_json chosen(const Table& table, std::size_t row, std::size_t column) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (std::size_t p = 0; p < table.tuned_paths.size(); ++p) {
    const auto& choice = table.choice(row, column, p);
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const auto& value : choice.values) values.push_back(value.json);
    object[table.tuned_paths[p]] = {
        {"values", values}, {"of", choice.of}, {"compared", choice.compared}, {"edge", choice.edge}};
  }
  return object;
}

nlohmann::ordered_json number(double value) { return json_number<nlohmann::ordered_json>(value); }

nlohmann::ordered_json value_of(const Fact& fact) {
  if (const auto* value = std::get_if<double>(&fact.value)) return number(*value);
  if (const auto* flag = std::get_if<bool>(&fact.value)) return *flag;
  if (const auto* text = std::get_if<std::string>(&fact.value)) return *text;
  const auto& to = std::get<Comparison>(fact.value);
  return {{"significance", to_text(to.significance)},
          {"difference", number(to.value)},
          {"low", number(to.low)},
          {"high", number(to.high)},
          {"p", number(to.p)},
          {"p_holm", number(to.p_holm)},
          {"paired", to.paired},
          {"n", to.n},
          {"deviation", number(to.deviation)}};
}

/// Returns an object as text with one line for each member, and one line for each element of an array.
std::string lines_of(const nlohmann::ordered_json& object) {
  std::string text = "{";
  for (const auto& [name, value] : object.items()) {
    text += (text.size() > 1 ? ",\n  " : "\n  ") + plain_json(nlohmann::json(name)) + ": ";
    if (!value.is_array() || value.empty()) {
      text += plain_json(value);
      continue;
    }
    const char* before = "[\n    ";
    for (const auto& element : value) text += std::exchange(before, ",\n    ") + plain_json(element);
    text += "\n  ]";
  }
  return text + "\n}\n";
}

/// Writes {experiment (a list if several), trials, rows, columns, tuned, metrics, baseline, against, comparisons, varied,
/// cells, exponents, notes, contrasts (if any)}. A cell's samples are [seed, value] pairs.
std::string json_table(const Table& table) {
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
          failures.push_back({{"outcome", failure.outcome}, {"count", failure.count}, {"reason", first_line(failure.reason)}});
        nlohmann::ordered_json samples = nlohmann::ordered_json::array();
        for (const auto& sample : cell.samples)
          samples.push_back(
              {sample.seed ? nlohmann::ordered_json(*sample.seed) : nlohmann::ordered_json(nullptr), number(sample.value)});
        cells.push_back({{"row", labels(table.row_paths, table.row_values[r])},
                         {"column", labels(table.column_paths, table.column_values[c])},
                         {"tuned", chosen(table, r, c)},
                         {"metric", table.metrics[m].name},
                         {"mean", number(cell.mean)},
                         {"sd", number(cell.deviation)},
                         {"n", cell.n},
                         {"samples", samples},
                         {"trials", cell.trials},
                         {"settings", cell.settings},
                         {"unsettled", cell.unsettled},
                         {"checked", to_text(cell.checked)},
                         {"published", number(cell.published)},
                         {"failures", failures}});
        for (const auto& fact : cell.facts) cells.back()[fact.name] = value_of(fact);
      }
  nlohmann::ordered_json row_facts = nlohmann::ordered_json::array(), pairs = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < table.row_facts.size(); ++i) {
    const auto& fact = table.row_facts[i];
    row_facts.push_back({{"row", labels(table.row_paths, table.row_values[i / table.metrics.size()])},
                         {"metric", table.metrics[i % table.metrics.size()].name},
                         {fact.name, number(fact.value)},
                         {"points", fact.points},
                         {"unsettled", fact.unsettled},
                         {"checked", to_text(table.checked(i / table.metrics.size()))},
                         {"published", number(fact.published)}});
  }
  for (const auto& pair : table.pairs)
    pairs.push_back({{"first", labels(table.row_paths, pair.first_values)},
                     {"second", labels(table.row_paths, pair.second_values)},
                     {"column", labels(table.column_paths, table.column_values[pair.column])},
                     {"metric", table.metrics[pair.metric].name},
                     {"against", value_of(pair.fact)}});
  nlohmann::ordered_json experiment = table.experiments;
  if (table.experiments.size() < 2) experiment = table.experiments.empty() ? "" : table.experiments.front();
  nlohmann::ordered_json all = {{"experiment", experiment},
                                {"trials", table.trials},
                                {"rows", table.row_paths},
                                {"columns", table.column_paths},
                                {"tuned", table.tuned_paths},
                                {"metrics", metrics},
                                {"baseline", table.baseline},
                                {"against", table.reference},
                                {"comparisons", table.comparisons},
                                {"varied", table.varied},
                                {"cells", cells},
                                {"exponents", row_facts},
                                {"notes", table.notes}};
  if (!pairs.empty()) all["contrasts"] = pairs;
  return lines_of(all);
}

class JsonRows : public RowPrinter {
 public:
  explicit JsonRows(const Write& write) : write_(write) {}
  void begin(const std::vector<std::string>& names) override {
    for (const auto& name : names) names_.push_back(plain_json(nlohmann::json(name)));
    write_("[");
  }
  void put(const std::vector<nlohmann::json>& fields) override {
    std::string text = any_ ? ",\n  {" : "\n  {";
    for (std::size_t i = 0; i < fields.size(); ++i) text += (i > 0 ? ", " : "") + names_[i] + ": " + plain_json(fields[i]);
    any_ = true;
    write_(text + "}");
  }
  void end() override { write_(any_ ? "\n]\n" : "]\n"); }

 private:
  const Write& write_;
  std::vector<std::string> names_;  ///< in quotes
  bool any_ = false;
};

std::unique_ptr<RowPrinter> json_rows(const Write& write) { return std::make_unique<JsonRows>(write); }

}  // namespace

const Printer printers::json{json_table, json_rows};

}  // namespace ablate::db
