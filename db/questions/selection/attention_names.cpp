#include "db/questions/selection/attention_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "db/history/sql.h"

namespace ablate::db {
namespace {

/// Returns "attention.parts" and "1" for "attention.parts.1".
std::pair<std::string, std::string> split_last(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos ? std::pair(std::string(), path) : std::pair(path.substr(0, dot), path.substr(dot + 1));
}

std::optional<int> index_of(const std::string& text) {
  int index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return index;
}

/// Returns the paths with more than one value in an experiment.
std::vector<std::pair<std::string, std::int64_t>> varying_paths(const Reader& reader, std::int64_t experiment) {
  std::vector<std::pair<std::string, std::int64_t>> paths;
  SQLite::Statement candidates(
      reader.database(),
      "SELECT name, id FROM path WHERE (SELECT count(*) FROM (SELECT 1 FROM value WHERE path = path.id LIMIT "
      "2)) = 2 ORDER BY name");
  // Stops at the first value that differs from the first trial's value. A parameter of the grid soon has such a value.
  SQLite::Statement differs(
      reader.database(),
      fmt::format(
          "WITH one AS (SELECT {0} AS value FROM experiment_trial m CROSS JOIN trial t ON t.id = m.trial WHERE "
          "m.experiment = ?2 AND {0} IS NOT NULL LIMIT 1) SELECT 1 FROM experiment_trial m CROSS JOIN trial t ON t.id = "
          "m.trial WHERE m.experiment = ?2 AND {0} <> (SELECT value FROM one) LIMIT 1",
          value_at("?1")));
  while (candidates.executeStep()) {
    const auto id = candidates.getColumn(1).getInt64();
    if (renew(differs, id, experiment).executeStep()) paths.emplace_back(candidates.getColumn(0).getString(), id);
  }
  return paths;
}

}  // namespace

AttentionNames::AttentionNames(const std::map<std::string, std::int64_t>& paths) {
  const auto is_attention = [&](const std::string& path) { return path == setting::kAttention || entries_.contains(path); };
  for (const auto& [path, id] : paths) {  // sorted, so an entry's owner comes before the entry
    const auto [list, last] = split_last(path);
    const auto index = index_of(last);
    if (!index) continue;
    const bool is_layer = is_attention(list);
    const auto owner = is_layer ? list : split_last(list).first;
    if (!is_attention(owner)) continue;
    entries_.emplace(path, id);
    (is_layer ? layers_ : parts_)[owner].emplace(*index, path);
  }
}

std::string AttentionNames::name(const std::string& path, const PluginAt& plugin_at) const {
  const auto joined = [&](const auto& lists, const char* between) {
    std::string text;
    if (const auto found = lists.find(path); found != lists.end())
      for (const auto& [index, entry] : found->second)
        if (const auto one = name(entry, plugin_at); !one.empty()) text += (text.empty() ? "" : between) + one;
    return text;
  };
  const auto plugin = plugin_at(path);
  if (!plugin) return joined(layers_, " / ");
  const auto parts = joined(parts_, ", ");
  return parts.empty() ? *plugin : *plugin + "(" + parts + ")";
}

Axis load_attention(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  const auto paths = reader.paths();
  const AttentionNames names(paths);
  std::map<std::string, Axis> parts;
  for (const auto& [path, id] : names.entries())
    if (auto axis = load_axis(reader, path, id, trials); !axis.values.empty()) parts.emplace(path, std::move(axis));
  const auto plain = paths.find(setting::kAttention);
  auto axis = plain == paths.end() ? Axis{setting::kAttention, {}, std::vector<int>(trials.size(), -1)}
                                   : load_axis(reader, setting::kAttention, plain->second, trials);
  if (parts.empty()) return axis;
  parts.emplace(setting::kAttention, axis);

  Axis named{setting::kAttention, {}, {}};
  std::unordered_map<std::string, int> index;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    const auto name = names.name([&](const std::string& path) -> std::optional<std::string> {
      const auto part = parts.find(path);
      if (part == parts.end() || part->second.of(t) == nullptr) return std::nullopt;
      return part->second.of(t)->text;
    });
    const auto [at, fresh] = index.try_emplace(name, static_cast<int>(named.values.size()));
    if (fresh && !name.empty()) named.values.push_back({.text = name, .json = name});
    named.of_trial.push_back(name.empty() ? -1 : at->second);
  }
  return named;
}

TrialLabels::TrialLabels(const Reader& reader)
    : reader_(reader),
      names_(reader.paths()),
      experiment_(reader.database(), "SELECT max(experiment) FROM experiment_trial WHERE trial = ?"),
      value_(reader.database(), "SELECT v.text FROM path n CROSS JOIN trial t JOIN value v ON v.id = " + value_at("n.id") +
                                    " WHERE n.name = ?1 AND t.id = ?2"),
      composed_(reader.database(),
                "SELECT 1 FROM experiment_trial m CROSS JOIN trial t ON t.id = m.trial WHERE m.experiment = ?2 AND " +
                    value_at("?1") + " IS NOT NULL LIMIT 1") {}

std::string TrialLabels::of(std::int64_t trial) {
  if (!renew(experiment_, trial).executeStep() || experiment_.isColumnNull(0)) return "";
  const auto experiment = experiment_.getColumn(0).getInt64();
  auto at = paths_.find(experiment);
  if (at == paths_.end()) at = paths_.emplace(experiment, paths_of(experiment)).first;
  std::string label;
  for (const auto& path : at->second) {
    const auto text = path == setting::kAttention ? names_.name([&](const std::string& one) { return value(one, trial); })
                                                  : value(path, trial).value_or("");
    if (!text.empty()) label += fmt::format("{}{}={}", label.empty() ? "" : " ", path, text);
  }
  return label;
}

std::optional<std::string> TrialLabels::value(const std::string& path, std::int64_t trial) {
  return renew(value_, path, trial).executeStep() ? std::optional(value_.getColumn(0).getString()) : std::nullopt;
}

/// Returns the varying paths. The attention counts as one path, "attention", even if only its parts vary.
std::vector<std::string> TrialLabels::paths_of(std::int64_t experiment) {
  std::vector<std::string> paths;
  const bool composed = std::any_of(names_.entries().begin(), names_.entries().end(), [&](const auto& entry) {
    return renew(composed_, entry.second, experiment).executeStep();
  });
  if (composed) paths.emplace_back(setting::kAttention);
  for (const auto& [path, id] : varying_paths(reader_, experiment))
    if (!names_.entries().contains(path) && !(composed && path == setting::kAttention)) paths.push_back(path);
  return paths;
}

}  // namespace ablate::db
