#include "db/questions/trial_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "db/history/sql.h"

namespace ablate::db {
namespace {

/// Paths with more than one value in an experiment, except what has one value everywhere.
std::vector<std::pair<std::string, std::int64_t>> varying_paths(const Reader& reader, std::int64_t experiment) {
  std::vector<std::pair<std::string, std::int64_t>> paths;
  SQLite::Statement candidates(
      reader.database(),
      "SELECT name, id FROM path WHERE (SELECT count(*) FROM (SELECT 1 FROM value WHERE path = path.id LIMIT "
      "2)) = 2 ORDER BY name");
  // Ends at the first trial that differs from the first: for a parameter of the grid that is soon.
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

/// Those that vary; the attention by its name, also where only what it is made of does.
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
