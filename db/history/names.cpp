#include "db/history/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <tuple>

#include "core/util/error.h"
#include "core/util/nearest.h"
#include "db/types/metric_name.h"

namespace ablate::db {
namespace {

/// Returns the number at the end of "test/accuracy@pairs=8"; infinity if there is no number after "=".
double group_number(const std::string& metric) {
  const auto value = metric.substr(metric.rfind('=') + 1);
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  return end == value.c_str() || *end != '\0' ? std::numeric_limits<double>::infinity() : number;
}

void sort_groups(std::vector<std::string>& metrics) {
  std::sort(metrics.begin(), metrics.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.substr(0, a.rfind('=')), group_number(a), a) <
           std::tuple(b.substr(0, b.rfind('=')), group_number(b), b);
  });
}

std::vector<std::string> starting_with(const std::vector<std::string>& metrics, const std::string& start) {
  std::vector<std::string> found;
  for (const auto& metric : metrics)
    if (metric.starts_with(start)) found.push_back(metric);
  sort_groups(found);
  return found;
}

}  // namespace

std::vector<std::string> experiment_names(SQLite::Database& database) {
  std::vector<std::string> names;
  SQLite::Statement ask(database, "SELECT name FROM experiment ORDER BY id");
  while (ask.executeStep()) names.push_back(ask.getColumn(0).getString());
  return names;
}

std::vector<std::string> tags_of(SQLite::Database& database, std::int64_t experiment) {
  std::vector<std::string> tags;
  SQLite::Statement ask(database, "SELECT tag FROM tag WHERE experiment = ? ORDER BY tag");
  ask.bind(1, experiment);
  while (ask.executeStep()) tags.push_back(ask.getColumn(0).getString());
  return tags;
}

std::int64_t find_experiment(SQLite::Database& database, const std::string& name) {
  SQLite::Statement ask(database, "SELECT id FROM experiment WHERE name = ?");
  ask.bind(1, name);
  return ask.executeStep() ? ask.getColumn(0).getInt64() : 0;
}

std::int64_t expect_experiment(SQLite::Database& database, const std::filesystem::path& file, const std::string& name) {
  if (const auto id = find_experiment(database, name); id != 0) return id;
  throw Error(fmt::format("{} has no experiment \"{}\"{}", file.string(), name, hint(name, experiment_names(database))));
}

std::vector<std::string> ending_in(const std::vector<std::string>& names, char separator, const std::string& end) {
  std::vector<std::string> found;
  for (const auto& name : names)
    if (name.ends_with(separator + end)) found.push_back(name);
  return found;
}

std::vector<std::string> groups_of(const std::vector<std::string>& metrics, const std::string& group) {
  if (!is_of_group(group) || group.find('=') != std::string::npos) return {};
  return starting_with(metrics, group + "=");
}

std::vector<std::string> near_metrics(const std::vector<std::string>& metrics, const std::string& name) {
  if (is_of_group(name)) {
    auto same_group = starting_with(metrics, name.substr(0, name.find('=')) + "=");
    if (same_group.empty()) same_group = starting_with(metrics, std::string(without_group(name)) + "@");
    if (!same_group.empty()) return same_group;
  }
  std::vector<std::string> leaves;
  for (const auto& metric : metrics) leaves.push_back(metric.substr(metric.rfind('/') + 1));
  // "accuracy" matches test/accuracy, then dev/accuracy, as in main_metrics. "adamra/kept" matches attention/adamra/kept.
  auto near = ending_in(metrics, '/', name);
  const auto leaf = name.find('/') == std::string::npos ? nearest(name, leaves) : std::string();
  if (near.empty() && !leaf.empty()) near = ending_in(metrics, '/', leaf);
  std::stable_partition(near.begin(), near.end(), [](const std::string& one) { return one.starts_with("test/"); });
  if (const auto one = nearest(name, metrics); near.empty() && !one.empty()) near.push_back(one);
  return near;
}

}  // namespace ablate::db
