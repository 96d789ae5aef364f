#include "tools/ablate/keeping/imported_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/records/outcome.h"
#include "core/shared/metrics.h"
#include "core/util/csv.h"
#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/number_text.h"
#include "db/types/metric_name.h"
#include "tools/ablate/keeping/imported_columns.h"
#include "tools/ablate/keeping/imported_lines.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr std::size_t kMostLineBytes = 4 * kMostCsvFieldBytes;  ///< of JSON lines

class ImportedReader {
 public:
  ImportedReader(const std::string& name, const std::string& experiment, const std::vector<MetricInfo>& known)
      : experiment_(experiment), known_(known) {
    file_.name = name;
  }

  void read_table(std::string_view text) {
    const auto records = read_csv(text, file_.name);
    if (records.empty()) throw Error(fmt::format("{}: found no line, expected a header and a line for each trial", file_.name));
    const auto where = fmt::format("{}:{}: ", file_.name, records.front().line);
    std::vector<const ImportedColumn*> columns;
    std::set<const ImportedColumn*> seen;
    for (const auto& header : records.front().fields) {
      const auto* column = &add_column(header, where);
      if (!seen.insert(column).second)
        throw Error(fmt::format("{}column {} stands twice, expected each once", where, column->name()));
      columns.push_back(column);
    }
    check_columns(records, where);
    for (std::size_t i = 1; i < records.size(); ++i) {
      auto& trial = file_.trials.emplace_back();
      for (std::size_t c = 0; c < columns.size(); ++c)
        at(records[i].line, *columns[c], [&] { columns[c]->put(records[i].fields[c], trial); });
      finish(trial, records[i].line);
    }
  }

  void read_lines(std::string_view text) {
    for (std::size_t line = 1; !text.empty(); ++line) {
      const auto end = std::min(text.find('\n'), text.size());
      if (end > kMostLineBytes)
        throw Error(fmt::format("{}:{}: found a line of {} bytes, expected at most {}", file_.name, line, end, kMostLineBytes));
      const auto one = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (one.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      read_line(one, line);
    }
  }

  db::ImportedFile end(const db::ParameterValues& stored) {
    if (file_.trials.empty())
      throw Error(fmt::format("{}: found no trial, expected a line for each below the header", file_.name));
    unite_numbers(stored, file_);
    keep_each_run_once(file_);
    note_percentages(file_);
    return std::move(file_);
  }

 private:
  /// f(), whose Error gets line and column.
  template <class F>
  void at(std::size_t line, const ImportedColumn& column, F&& f) const try {
    f();
  } catch (const Error& error) {
    throw Error(fmt::format("{}:{}: column {}: {}", file_.name, line, column.name(), error.what()));
  }

  const ImportedColumn& add_column(const std::string& header, const std::string& where) {
    if (const auto known = by_header_.find(header); known != by_header_.end()) return *known->second;
    const ImportedColumn column(header, known_, where);
    const auto [found, fresh] = columns_.try_emplace(column.name(), column);
    by_header_.emplace(header, &found->second);
    if (fresh && column.is_metric()) file_.metrics.push_back(column.metric());
    if (fresh && column.is_parameter()) file_.paths.push_back(column.name());
    return found->second;
  }

  /// A column called as a metric without its split, and full of numbers, is no parameter.
  void check_columns(const std::vector<CsvRecord>& records, const std::string& where) const {
    const auto& names = records.front().fields;
    for (std::size_t c = 0; c < names.size(); ++c) {
      const auto whole = objective_of(names[c]);
      if (whole.empty() || records.size() < 2) continue;
      if (std::all_of(records.begin() + 1, records.end(),
                      [&](const CsvRecord& record) { return record.fields[c].empty() || parse_number(record.fields[c]); }))
        throw Error(fmt::format("{}column {}: found a metric without its split, expected {} or dev/{}", where, names[c], whole,
                                names[c]));
    }
    if (file_.metrics.empty())
      throw Error(fmt::format("{}found no metric, expected a column with a slash in its name, as test/accuracy", where));
    if (experiment_.empty() && !columns_.contains("experiment"))
      throw Error(fmt::format("{}found no column experiment, expected one, or --experiment NAME{}", where,
                              nearest("experiment", names).empty() ? "" : hint("experiment", names)));
  }

  static std::string objective_of(const std::string& name) {
    const auto all = house_metrics();
    const auto is_it = [&](const MetricInfo& metric) { return metric.name == "test/" + name; };
    return std::any_of(all.begin(), all.end(), is_it) ? "test/" + name : "";
  }

  void read_line(std::string_view text, std::size_t line) {
    const auto where = fmt::format("{}:{}: ", file_.name, line);
    const auto object = json::parse(text, nullptr, false);
    if (!object.is_object())
      throw Error(fmt::format("{}found no JSON object, expected one a line, as `ablate export --format jsonl` writes", where));
    auto& trial = file_.trials.emplace_back();
    const auto put = [&](const std::string& name, const json& value) {
      const auto& column = add_column(name, where);
      at(line, column, [&] { column.put_json(value, trial); });
    };
    auto names = fixed_column_names();
    names.insert(names.end(), {"parameters", "metrics", "plugins"});
    for (const auto& [name, value] : object.items()) {
      if (std::find(names.begin(), names.end(), name) == names.end())
        throw Error(
            fmt::format("{}found \"{}\", expected one of {}{}", where, name, fmt::join(names, ", "), hint(name, names)));
      if (name == "plugins") continue;
      if (name != "parameters" && name != "metrics") {
        put(name, value);
        continue;
      }
      if (!value.is_object()) throw Error(fmt::format("{}{}: expected an object, names and values", where, name));
      for (const auto& [inner, of] : value.items()) {
        if ((name == "metrics") != (inner.find('/') != std::string::npos))
          throw Error(fmt::format("{}{}: found \"{}\", expected a name {} a slash", where, name, inner,
                                  name == "metrics" ? "with" : "without"));
        put(inner, of);
      }
    }
    finish(trial, line);
  }

  void finish(db::ImportedTrial& trial, std::size_t line) {
    const auto refuse = [&](const std::string& why) { throw Error(fmt::format("{}:{}: {}", file_.name, line, why)); };
    trial.line = line;
    if (!experiment_.empty()) trial.experiment = experiment_;
    if (trial.experiment.empty())
      refuse("found no experiment, expected its name in the column experiment, or --experiment NAME");
    if (trial.outcome == outcome::kDone && trial.results.empty())
      refuse("found no value of any metric, expected one, or an outcome that is not done");
    if (!trial.main_metric.empty()) {
      if (const auto known = columns_.find(trial.main_metric); known != columns_.end() && known->second.is_metric()) return;
      if (trial.outcome == outcome::kDone)
        refuse(fmt::format("column main_metric: found {}, expected one of the file's metrics", trial.main_metric));
      trial.main_metric.clear();
    }
    for (const auto& metric : file_.metrics)
      if (metric.name.starts_with("test/") && metric.kind == MetricKind::kScore && !metric.direction.empty() &&
          !db::is_of_group(metric.name) && trial.results.contains(metric.name)) {
        trial.main_metric = metric.name;
        return;
      }
  }

  std::string experiment_;
  const std::vector<MetricInfo>& known_;
  db::ImportedFile file_;
  std::map<std::string, ImportedColumn> columns_;  ///< by name
  std::map<std::string, const ImportedColumn*> by_header_;
};

}  // namespace

db::ImportedFile read_imported(std::string_view text, const std::string& name, const std::string& experiment,
                               const std::vector<MetricInfo>& known, const db::ParameterValues& stored) {
  ImportedReader reader(name, experiment, known);
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{')
    reader.read_lines(text);
  else
    reader.read_table(text);
  return reader.end(stored);
}

}  // namespace ablate
