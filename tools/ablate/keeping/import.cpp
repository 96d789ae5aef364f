#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/records/outcome.h"
#include "core/records/setting_paths.h"
#include "core/shared/metrics.h"
#include "core/util/csv.h"
#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/number_text.h"
#include "core/util/rate_text.h"
#include "core/util/regular_file.h"
#include "core/util/trimmed.h"
#include "db/history/imports.h"
#include "db/history/reader.h"
#include "db/history/store.h"
#include "db/report/format.h"
#include "db/types/imported.h"
#include "db/types/metric_name.h"
#include "tools/ablate/keeping/imported_columns.h"
#include "tools/ablate/keeping/keeping.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

using nlohmann::json;

int rank(const json& value) { return value.is_number_integer() ? 0 : value.is_number() ? 1 : 2; }

void add_form(const json& value, std::map<double, json>& forms) {
  const auto number = written_number(value);
  if (!number) return;
  auto& form = forms.try_emplace(*number, value).first->second;
  if (rank(value) < rank(form)) form = value;
}

/// Returns a rate, or a list of rates, in the form that a study's trials have ("1/2,1/4"); nullopt for anything else.
std::optional<std::string> rates_of(const json& value) {
  std::istringstream in(db::plain_field(value));
  std::string text;
  for (std::string piece; std::getline(in, piece, ',');) {
    const auto rate = parse_rate(trimmed(piece));
    if (!rate) return std::nullopt;
    text += (text.empty() ? "" : ",") + to_text(*rate);
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Replaces all spellings of a rate by the history's form, else by the form "1/2". Does nothing if no value has a "/" or ",",
/// as "1/2" and "0.5, 0.25" have. A path without a dot is of no plugin, so its "2/4" stays if the file has no other spelling.
void unite_rates(const std::string& path, const std::vector<json>& stored, const std::vector<json*>& values) {
  const auto is_sure = [](const json& value) {
    return value.is_string() && value.get_ref<const std::string&>().find_first_of("/,") != std::string::npos && rates_of(value);
  };
  if (std::none_of(stored.begin(), stored.end(), is_sure) &&
      std::none_of(values.begin(), values.end(), [&](const json* value) { return is_sure(*value); }))
    return;
  std::map<std::string, json> of_history;
  std::map<std::string, std::set<json>> of_file;
  for (const auto& value : stored)
    if (const auto rates = rates_of(value)) of_history.try_emplace(*rates, value);
  for (const auto* value : values)
    if (const auto rates = rates_of(*value)) of_file[*rates].insert(*value);
  for (auto* value : values)
    if (const auto rates = rates_of(*value); !rates)
      continue;
    else if (const auto known = of_history.find(*rates); known != of_history.end())
      *value = known->second;
    else if (path.find('.') != std::string::npos || of_file.at(*rates).size() > 1)
      *value = *rates;
}

/// Replaces all spellings of one number of a parameter by one form, so that all are one setting: the history's form, else the
/// form of a whole number, else the form of a real number. A text such as "04" stays if its number has no other spelling.
void unite_numbers(const db::ParameterValues& stored, db::ImportedFile& file) {
  for (const auto& path : file.paths) {
    std::map<double, json> forms, of_file;
    const auto known = stored.find(path);
    const auto there = known == stored.end() ? std::vector<json>() : known->second;
    for (const auto& value : there) add_form(value, forms);
    std::vector<json*> values;
    for (auto& trial : file.trials)
      if (const auto at = trial.parameters.find(path); at != trial.parameters.end()) values.push_back(&at->second);
    unite_rates(path, there, values);
    for (const auto* value : values) add_form(*value, of_file);
    forms.insert(of_file.begin(), of_file.end());
    for (auto* value : values)
      if (const auto number = written_number(*value)) *value = forms.at(*number);
  }
}

/// Reduces lines with the same parameters and seed to one line: the last done line, else the last. A note counts the cases.
void keep_each_run_once(db::ImportedFile& file) {
  std::map<std::string, std::size_t> places;
  std::vector<db::ImportedTrial> kept;
  std::size_t repeated = 0;
  std::string first;
  for (auto& trial : file.trials) {
    const auto [at, fresh] = trial.parameters.contains(setting::kSeed)
                                 ? places.try_emplace(json({trial.experiment, trial.parameters}).dump(), kept.size())
                                 : std::pair(places.end(), true);
    if (fresh) {
      kept.push_back(std::move(trial));
      continue;
    }
    auto& before = kept[at->second];
    const bool stays = before.outcome == outcome::kDone && trial.outcome != outcome::kDone;
    if (repeated++ == 0)
      first = fmt::format("lines {} and {} have the same parameters and seed{}: line {} counts", before.line, trial.line,
                          before.results == trial.results ? "" : ", and other numbers", stays ? before.line : trial.line);
    if (!stays) before = std::move(trial);
  }
  if (repeated > 0) file.notes.push_back(first + (repeated == 1 ? "" : fmt::format("; {} more like this", repeated - 1)));
  file.trials = std::move(kept);
}

/// Adds notes on scores in percent that look like shares of 1, and on scores above 100.
void note_percentages(db::ImportedFile& file) {
  for (const auto& metric : file.metrics) {
    if (metric.unit != "%" || metric.kind != MetricKind::kScore) continue;
    double most = 0;
    std::vector<std::pair<std::size_t, double>> shares, above;  // pairs of line and value
    for (const auto& trial : file.trials) {
      const auto at = trial.results.find(metric.name);
      if (at == trial.results.end() || std::isnan(at->second)) continue;
      if (at->second > 0 && at->second <= 1) shares.emplace_back(trial.line, at->second);
      if (at->second > 100) above.emplace_back(trial.line, at->second);
      most = std::max(most, at->second);
    }
    for (const auto& [odd, why] : {std::pair(shares, most > 1 ? fmt::format(" beside {}; a share of 1 is 100 %", most)
                                                              : std::string("; a share of 1 is 100 %")),
                                   std::pair(above, std::string(", expected at most 100"))})
      if (!odd.empty())
        file.notes.push_back(fmt::format("{} (%): found {} in line {}{}{}", metric.name, odd.front().second, odd.front().first,
                                         odd.size() > 1 ? fmt::format(" and {} more like it", odd.size() - 1) : "", why));
  }
}

constexpr std::size_t kMostLineBytes = 4 * kMostCsvFieldBytes;  ///< for JSON lines

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
        throw Error(fmt::format("{}found column {} twice, expected each column once", where, column->name()));
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
  /// Calls f() and adds line and column to its Error.
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

  /// Throws Error if a column of numbers has a metric's name without the split, or if there is no metric or no experiment.
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
      if (!value.is_object()) throw Error(fmt::format("{}{}: expected an object with names and values", where, name));
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
  std::map<std::string, ImportedColumn> columns_;  ///< columns by name
  std::map<std::string, const ImportedColumn*> by_header_;
};

/// Reads CSV with a header (core/util/csv.h), or, if the text begins with "{", JSON lines as `ablate export` writes them: one
/// trial in each line. Without a column main_metric, a trial's main metric is the first score of the test split. Spellings of
/// one number become one value. Of lines with the same parameters and seed, only the last done line stays, or the last line if
/// none is done. Throws Error with file, line and column for an invalid name or value, or without an experiment or a metric.
/// @param name name of the file, for messages and notes
/// @param experiment replaces the experiments of the file; "": keeps them
/// @param known metrics of the history
/// @param stored values of the history's parameters
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

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 28;

std::string content_of(const fs::path& path) {
  RegularFile file(path);
  constexpr std::string_view kHistory = "SQLite format 3";
  std::string head(kHistory.size(), ' ');
  head.resize(file.read(head.data(), head.size()));
  if (head == kHistory)
    throw Error(
        fmt::format("{0}: found a run history, expected CSV or JSON lines; `ablate merge {0}` copies it", path_text(path)));
  if (file.size() > kMostBytes)
    throw Error(fmt::format("{}: found {} MiB, expected at most {}; import it in parts", path_text(path), file.size() >> 20,
                            kMostBytes >> 20));
  return head + whole_text(file);
}

std::vector<MetricInfo> metrics_of(const fs::path& history) {
  std::vector<MetricInfo> all;
  for (const auto& metric : db::Reader(history).metrics()) all.push_back(metric);
  return all;
}

std::vector<std::string> names_of(const db::ImportedFile& file) {
  std::vector<std::string> names;
  for (const auto& trial : file.trials)
    if (std::find(names.begin(), names.end(), trial.experiment) == names.end()) names.push_back(trial.experiment);
  return names;
}

/// Prints how ablate reads the file.
void tell(const db::ImportedFile& file) {
  auto paths = file.paths;
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> metrics;
  for (const auto& metric : file.metrics)
    metrics.push_back(db::with_unit(metric) + (metric.direction.empty() ? "" : ", " + metric.direction + " is best"));
  ablate::print("parameters  {}\n", fmt::join(paths, ", "));
  for (const auto& metric : metrics) print("metric      {}\n", metric);
}

int import(const fs::path& history, const fs::path& path, const std::string& experiment, bool dry_run) {
  const auto text = content_of(path);
  const bool exists = fs::exists(history);
  std::optional<db::Store> store;
  if (exists && !dry_run) store.emplace(history);  // upgrades an earlier schema
  const auto file = read_imported(text, path_text(path), experiment, exists ? metrics_of(history) : std::vector<MetricInfo>(),
                                  exists ? db::stored_values(db::Reader(history)) : db::ParameterValues());
  if (!store && !dry_run) store.emplace(history);
  db::Imported counts;
  if (store)
    counts = store->import(file);
  else if (exists)
    counts = db::would_import(db::Reader(history), file);
  else
    counts.trials = static_cast<std::int64_t>(file.trials.size());
  if (dry_run) tell(file);
  ablate::print("{}: {} of {} {}, {} there already\n", file.name, counted(counts.trials, "trial"),
                fmt::join(names_of(file), ", "), dry_run ? "would come" : "came",
                counts.known == 1 ? "1 was" : fmt::format("{} were", counts.known));
  for (const auto& note : file.notes) say("note: {}: {}\n", file.name, note);
  if (counts.other_numbers > 0)
    say("note: {}: {} {} other numbers than an earlier import, first {}; the later import counts\n", file.name,
        counted(counts.other_numbers, "trial"), counts.other_numbers == 1 ? "has" : "have", counts.first_other);
  if (counts.ran_here > 0)
    say("note: {} left out: {} here\n", counts.ran_here == 1 ? "1 trial is" : fmt::format("{} trials are", counts.ran_here),
        counts.ran_here == 1 ? "it ran" : "they ran");
  return 0;
}

}  // namespace

void add_import(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    std::string file, experiment;
    bool dry_run = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("import", "Copy trials that ran elsewhere from a CSV file into the run history");
  command->group(kKeeping);
  command
      ->add_option("FILE", arguments->file,
                   "CSV with a header, or JSON lines, as `ablate export` writes them. Columns: experiment, outcome, reason, "
                   "started, wall_s, main_metric, grid.tuned, grid.role, environment.NAME. A name with a slash is a metric; "
                   "a metric that ablate does not know needs its unit and direction: test/bleu[% max]. All other columns "
                   "are parameters, including seed")
      ->required()
      ->check(not_empty())
      ->type_name("");
  command->add_option("--experiment", arguments->experiment, "the experiment of all trials, instead of the file's column")
      ->check(not_empty())
      ->type_name("NAME");
  command->add_flag("--dry-run", arguments->dry_run, "print how ablate reads the file, and write nothing");
  command->footer(
      "Tables show imported trials, with a note. `ablate run` does not count them as done and runs the same trials. A second "
      "import of the same file changes nothing.\nExample:\n  ablate import cluster.csv --experiment quickstart-cluster");
  command->callback([arguments, database, &exit_code] {
    exit_code = import(database(), arguments->file, arguments->experiment, arguments->dry_run);
  });
}

}  // namespace ablate
