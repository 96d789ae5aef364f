#include "tools/ablate/keeping/imported_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>
#include <optional>

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

/// "nan" is a number that is none.
double number_of(const std::string& field) {
  const auto number = parse_number(field);
  if (!number)
    throw Error(fmt::format("found {}, expected a number, nan, or nothing{}", quoted(field),
                            field.ends_with('%') ? " (the unit stands in the header)" : ""));
  return *number;
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
  if (!(trial.wall_s >= 0) || std::isinf(trial.wall_s))
    throw Error(fmt::format("found {}, expected seconds, 0 or more", quoted(field)));
}

struct FixedColumn {
  const char* name;
  void (*put)(const std::string& field, db::ImportedTrial& trial);
};

/// As `ablate export` writes them.
constexpr FixedColumn kFixedColumns[] = {
    {"experiment", put_experiment},
    {"key", [](const std::string& field, db::ImportedTrial& trial) { trial.key = field; }},
    {"attempt", [](const std::string&, db::ImportedTrial&) {}},  // a number of the other history
    {"outcome", put_outcome},
    {"reason", [](const std::string& field, db::ImportedTrial& trial) { trial.reason = field; }},
    {"started", [](const std::string& field, db::ImportedTrial& trial) { trial.started_us = microseconds_of(field); }},
    {"wall_s", put_wall},
    {"main_metric", [](const std::string& field, db::ImportedTrial& trial) { trial.main_metric = field; }},
    {"data_digest", [](const std::string& field, db::ImportedTrial& trial) { trial.data_digest = field; }},
};

/// With its type: whole numbers, numbers, true, false; "nan"; all else is text, "007" and "1/4" too.
json typed(const std::string& field) {
  if (field == "true" || field == "false") return field == "true";
  if (field == "nan") return std::numeric_limits<double>::quiet_NaN();
  const auto first = field.find_first_not_of('-');
  const bool is_padded = first + 1 < field.size() && field[first] == '0' && field[first + 1] != '.' && field[first + 1] != 'e';
  if (first > 1 || is_padded || std::isdigit(static_cast<unsigned char>(field[first])) == 0) return field;
  const auto* const end = field.data() + field.size();
  std::int64_t integer = 0;
  if (const auto [at, error] = std::from_chars(field.data(), end, integer); error == std::errc() && at == end) return integer;
  double real = 0;
  if (const auto [at, error] = std::from_chars(field.data(), end, real); error == std::errc() && at == end) return real;
  return field;
}

void put_parameter(const std::string& path, json value, db::ImportedTrial& trial) {
  if (path == setting::kSeed) {
    if (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()) &&
        std::abs(value.get<double>()) < 1e15)
      value = static_cast<std::int64_t>(value.get<double>());  // a column with gaps, as other programs write it
    if (!value.is_number_integer()) throw Error(fmt::format("found {}, expected a whole number", value.dump()));
  }
  trial.parameters[path] = std::move(value);
}

/// What the house or the history says of a metric, also of one over a group of the examples.
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

/// Metrics that the host defines: those of house_metrics, and bits per any unit on each split.
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

std::vector<std::string> fixed_column_names() {
  std::vector<std::string> names;
  for (const auto& column : kFixedColumns) names.emplace_back(column.name);
  return names;
}

ImportedColumn::ImportedColumn(const std::string& header, const std::vector<MetricInfo>& known, const std::string& where) {
  const auto declared = db::metric_declaration(trimmed(header));
  name_ = declared.name;
  if (const auto why = line_refusal(name_); name_.empty() || !why.empty())
    throw Error(
        fmt::format("{}found a column whose name {}, expected one line of text", where, name_.empty() ? "is empty" : why));
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
        fmt::format("{}column {}: found a metric that is not known, expected its unit and its better end behind it: "
                    "{}[% max], {}[ms min], {}[] for neither{}",
                    where, name_, name_, name_, name_, nearest(name_, names).empty() ? "" : hint(name_, names)));
  }
  if (found)
    metric_ = *found;
  else
    metric_ = {
        name_, "", "", "imported", declared.direction->empty() ? MetricKind::kCount : MetricKind::kScore, MetricOwner::kTask};
  if (declared.unit) metric_.unit = *declared.unit, metric_.direction = *declared.direction;  // as it was where they ran
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
      if (at->is_primitive() && !at->is_null()) throw Error("found a value beside values below it, expected one of them");
      at = &(*at)[name_.substr(from, dot - from)];
      if (dot == std::string::npos) break;
      from = dot + 1;
    }
    *at = value.is_string() ? value : json(value.dump());
  } else {
    put_parameter(name_, value.is_null() ? json(std::numeric_limits<double>::quiet_NaN()) : value, trial);
  }
}

}  // namespace ablate
