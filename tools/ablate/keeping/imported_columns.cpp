#include "tools/ablate/keeping/imported_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>
#include <optional>
#include <sstream>

#include "core/records/outcome.h"
#include "core/records/setting_paths.h"
#include "core/shared/metrics.h"
#include "core/util/error.h"
#include "core/util/flatten.h"
#include "core/util/nearest.h"
#include "core/util/number_text.h"
#include "core/util/plain_text.h"
#include "core/util/trimmed.h"
#include "db/report/format.h"
#include "db/types/metric_declaration.h"
#include "db/types/metric_name.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr std::string_view kEnvironment = "environment.";

std::string quoted(const std::string& text) { return fmt::format("\"{}\"", db::first_line(text)); }

double number_of(const std::string& field) {
  const auto number = parse_number(field);
  if (!number || std::isinf(*number))
    throw Error(fmt::format("found {}, expected a finite number, nan, or nothing{}", quoted(field),
                            field.ends_with('%') ? " (the header has the unit)" : ""));
  return *number;
}

/// True for "nan" in any spelling.
bool is_nan(const std::string& text) {
  const auto number = parse_number(text);
  return number && std::isnan(*number);
}

std::int64_t microseconds_of(const std::string& field) {
  auto text = field;
  std::replace(text.begin(), text.end(), 'T', ' ');
  std::tm time{};
  const auto* const end = strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &time);
  const std::string rest = end == nullptr ? "?" : end;
  if (end == nullptr || rest.find_first_not_of(".0123456789Z") != std::string::npos)
    throw Error(fmt::format("found {}, expected a time of UTC, as 2026-11-25 14:05:00", quoted(field)));
  return static_cast<std::int64_t>(timegm(&time)) * 1'000'000;
}

void put_outcome(const std::string& field, db::ImportedTrial& trial) {
  static const auto outcomes = outcome_names();
  if (std::find(outcomes.begin(), outcomes.end(), field) == outcomes.end())
    throw Error(fmt::format("found {}, expected {}{}", quoted(field), fmt::join(outcomes, ", "), hint(field, outcomes)));
  trial.outcome = field;
}

void put_experiment(const std::string& field, db::ImportedTrial& trial) {
  if (const auto why = name_refusal(field); !why.empty())
    throw Error(fmt::format("{} {}, expected an experiment's name", quoted(field), why));
  trial.experiment = field;
}

void put_wall(const std::string& field, db::ImportedTrial& trial) {
  trial.wall_s = number_of(field);
  if (!(trial.wall_s >= 0)) throw Error(fmt::format("found {}, expected seconds, 0 or more", quoted(field)));
}

/// Returns the value with its type: a whole number, a number, true, false or nan; otherwise a text, such as "007" and "1/4".
json typed(const std::string& field) {
  for (const auto* truth : {"true", "True", "TRUE", "false", "False", "FALSE"})
    if (field == truth) return std::tolower(*truth) == 't';
  if (is_nan(field)) return std::numeric_limits<double>::quiet_NaN();
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  auto text = trimmed(field);
  if (text.starts_with('+') && !text.starts_with("+-")) text.erase(0, 1);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  const bool is_padded = first + 1 < text.size() && text[first] == '0' && is_digit(text[first + 1]);
  if (is_padded || first == text.size() || (!is_digit(text[first]) && text[first] != '.')) return field;
  const auto* const end = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, integer); error == std::errc() && at == end) return integer;
  double real = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, real); error == std::errc() && at == end) return real;
  return field;
}

void put_role(const std::string& field, db::ImportedTrial& trial) {
  trial.role = find_role(field);
  if (!trial.role) throw Error(fmt::format("found {}, expected {}", quoted(field), fmt::join(kRoles, ", ")));
}

void put_tuned(const std::string& field, db::ImportedTrial& trial) {
  std::istringstream in(field);
  for (std::string path; std::getline(in, path, ',');) trial.tuned.push_back(history_path(trimmed(path)));
  if (!trial.role) trial.role = Role::kReported;
}

struct FixedColumn {
  const char* name;
  void (*put)(const std::string& field, db::ImportedTrial& trial);
};

/// Columns that `ablate export` writes.
constexpr FixedColumn kFixedColumns[] = {
    {"experiment", put_experiment},
    {"key", [](const std::string& field, db::ImportedTrial& trial) { trial.key = field; }},
    {"attempt", [](const std::string&, db::ImportedTrial&) {}},  // not read: a number of the other history
    {"outcome", put_outcome},
    {"reason", [](const std::string& field, db::ImportedTrial& trial) { trial.reason = field; }},
    {"started", [](const std::string& field, db::ImportedTrial& trial) { trial.started_us = microseconds_of(field); }},
    {"wall_s", put_wall},
    {"main_metric", [](const std::string& field, db::ImportedTrial& trial) { trial.main_metric = field; }},
    {"data_digest", [](const std::string& field, db::ImportedTrial& trial) { trial.data_digest = field; }},
    {"grid.tuned", put_tuned},
    {"grid.role", put_role},
    {"grid.tunes",
     [](const std::string&, db::ImportedTrial&) {
       throw Error(
           "found a column of an older ablate, expected grid.role: rename it, and write tuning for true, reported for false");
     }},
};

void put_parameter(const std::string& path, json value, db::ImportedTrial& trial) {
  if (path == setting::kSeed) {
    if (const auto number = written_number(value); !value.is_number_integer() && number && *number == std::floor(*number))
      value = static_cast<std::int64_t>(*number);  // other programs write 3.0 for 3 if a column has gaps
    if (!value.is_number_integer()) throw Error(fmt::format("found {}, expected a whole number", value.dump()));
  }
  trial.parameters[path] = std::move(value);
}

/// Finds a metric among `metrics`. If there is none and `name` is for a group of examples, finds the metric of all examples.
std::optional<MetricInfo> find_metric(const std::vector<MetricInfo>& metrics, const std::string& name) {
  for (const auto& wanted : {name, std::string(db::without_group(name))})
    for (const auto& metric : metrics)
      if (metric.name == wanted) {
        auto found = metric;
        found.name = name;
        return found;
      }
  return std::nullopt;
}

/// Returns the metrics that ablate defines: house_metrics, and `name` if it is bits_per_UNIT on a split.
std::vector<MetricInfo> fixed_metrics(const std::string& name) {
  auto all = house_metrics();
  const auto leaf = std::string(db::without_group(name.substr(name.find('/') + 1)));
  for (const char* split : {"test/", "dev/", "test_last/"})
    if (name.starts_with(split) && leaf.starts_with("bits_per_")) {
      all.push_back(objective_metric(leaf));
      all.back().name = split + leaf;
    }
  return all;
}

}  // namespace

std::optional<double> written_number(const json& value) {
  std::optional<double> number;
  if (value.is_number())
    number = value.get<double>();
  else if (value.is_string())
    if (const auto text = trimmed(value.get<std::string>()); text.find_first_not_of("+-.0123456789eE") == std::string::npos)
      number = parse_number(text);
  constexpr double kMostExact = 9e15;  // above it, one double may represent two whole numbers
  return number && std::abs(*number) < kMostExact ? number : std::nullopt;
}

std::vector<std::string> fixed_column_names() {
  std::vector<std::string> names;
  for (const auto& column : kFixedColumns) names.emplace_back(column.name);
  return names;
}

ImportedColumn::ImportedColumn(const std::string& header, const std::vector<MetricInfo>& known, const std::string& where) {
  const auto declared = db::metric_declaration(trimmed(header));
  name_ = declared.name;
  const bool is_index = name_.empty() || name_.starts_with("Unnamed: ");  // pandas writes and reads an index column this way
  if (const auto why = line_refusal(name_); is_index || !why.empty())
    throw Error(fmt::format("{}found a column whose name {}, expected one line of text{}", where,
                            name_.empty() ? "is empty"
                            : is_index    ? "is " + name_
                                          : why,
                            is_index ? "; pandas leaves its index out by to_csv(..., index=False)" : ""));
  is_metric_ = name_.find('/') != std::string::npos;
  if (!is_metric_) {
    name_ = trimmed(header);
    for (const auto& column : kFixedColumns)
      if (name_ == column.name) fixed_ = column.put;
    is_environment_ = name_.starts_with(kEnvironment) && name_.size() > kEnvironment.size();
    if (is_parameter()) name_ = history_path(name_);
    return;
  }
  const auto here = std::find_if(known.begin(), known.end(), [&](const MetricInfo& metric) { return metric.name == name_; });
  const auto expect_as = [&](const MetricInfo& metric, const char* whose) {
    if (declared.unit && (*declared.unit != metric.unit || *declared.direction != metric.direction))
      throw Error(fmt::format("{}column {}: found {}, expected {} as {} it", where, name_,
                              db::declaration_text(*declared.unit, *declared.direction),
                              db::declaration_text(metric.unit, metric.direction), whose));
  };
  if (const auto why = here == known.end() ? db::declaration_refusal(declared) : ""; !why.empty())
    throw Error(fmt::format("{}column {}: {}", where, name_, why));
  const auto fixed = fixed_metrics(name_);
  if (const auto own = find_metric(fixed, name_)) expect_as(*own, "ablate defines");
  if (here != known.end()) {
    metric_ = *here;
    expect_as(metric_, "the history has");
    return;
  }
  auto all = known;
  all.insert(all.end(), fixed.begin(), fixed.end());
  const auto found = find_metric(all, name_);
  if (!found && !declared.unit) {
    std::vector<std::string> names;
    for (const auto& metric : all) names.push_back(metric.name);
    throw Error(
        fmt::format("{}column {}: found an unknown metric, expected its unit and direction in brackets: "
                    "{}[% max], {}[ms min], {}[] for neither{}",
                    where, name_, name_, name_, name_, nearest(name_, names).empty() ? "" : hint(name_, names)));
  }
  if (found)
    metric_ = *found;
  else
    metric_ = {
        name_, "", "", "imported", declared.direction->empty() ? MetricKind::kCount : MetricKind::kScore, MetricOwner::kTask};
  if (declared.unit) metric_.unit = *declared.unit, metric_.direction = *declared.direction;  // as the header says
}

void ImportedColumn::put(const std::string& field, db::ImportedTrial& trial) const {
  if (field.empty()) return;
  if (fixed_ != nullptr)
    fixed_(field, trial);
  else if (is_metric_)
    trial.results[name_] = number_of(field);
  else
    put_json(typed(field), trial);
}

void ImportedColumn::put_json(const json& value, db::ImportedTrial& trial) const {
  if (is_metric_ || fixed_ != nullptr) {
    const bool is_text_nan = is_metric_ && value.is_string() && is_nan(value.get<std::string>());
    if (is_text_nan) return put_json(nullptr, trial);
    const bool is_right = fixed_ == nullptr ? value.is_number() || value.is_null() : value.is_primitive();
    if (!is_right)
      throw Error(fmt::format("found {}, expected {}", quoted(value.dump()), is_metric_ ? "a number or null" : "a text"));
    if (is_metric_)
      trial.results[name_] = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
    else if (!value.is_null())
      put(value.is_string() ? value.get<std::string>() : value.dump(), trial);
  } else if (value.is_structured()) {
    throw Error(fmt::format("found {}, expected a number, a truth value or a text", quoted(value.dump())));
  } else if (is_environment_) {
    auto* at = &trial.environment;
    for (std::size_t from = kEnvironment.size();;) {
      const auto dot = name_.find('.', from);
      if (at->is_primitive() && !at->is_null())
        throw Error("found a value although a shorter path has a value, too; expected only one of the two columns");
      at = &(*at)[name_.substr(from, dot - from)];
      if (dot == std::string::npos) break;
      from = dot + 1;
    }
    *at = value.is_string() ? value : json(value.dump());
  } else {
    const bool is_none = value.is_null() || (value.is_string() && is_nan(value.get<std::string>()));
    put_parameter(name_, is_none ? json(std::numeric_limits<double>::quiet_NaN()) : value, trial);
  }
}

}  // namespace ablate
