// The trials of a report one by one: what came of them, their parameters and metrics.
#include <cmath>
#include <set>

#include "core/util/without_numbers.h"
#include "db/history/schema.h"
#include "db/history/stored_json.h"
#include "db/questions/report_parts.h"

namespace ablate::db {
namespace {

using nlohmann::ordered_json;
using SQLite::Statement;

constexpr std::size_t kKeyDigits = 16;          ///< tell a history's trials apart, and `ablate show` takes them
constexpr std::size_t kMostReasonBytes = 1000;  ///< what a plugin throws may be a page long

/// Environments by the history's numbers, and the place of each.
class PlacedEnvironments {
 public:
  explicit PlacedEnvironments(SQLite::Database& database) : ask_(database, "SELECT json FROM environment WHERE id = ?") {}

  std::size_t index_of(std::int64_t id) {
    const auto [at, is_new] = places_.try_emplace(id, all.size());
    if (!is_new) return at->second;
    auto found = renew(ask_, id).executeStep() ? stored_json<ordered_json>(ask_.getColumn(0).getString()) : ordered_json();
    all.push_back(found.is_object() ? std::move(found) : ordered_json{{"damaged", "no JSON object"}});
    return at->second;
  }

  ordered_json all = ordered_json::array();

 private:
  Statement ask_;
  std::unordered_map<std::int64_t, std::size_t> places_;
};

/// JavaScript has no integers beyond those that a double holds.
ordered_json for_script(const ordered_json& value) {
  constexpr double kMost = 9007199254740992.0;  // 2^53
  if (value.is_number_integer() && std::abs(value.get<double>()) >= kMost) return value.dump();
  return value;
}

ordered_json parameter(const Axis& axis, bool differs) {
  ordered_json values = ordered_json::array(), numbers = ordered_json::array();
  for (const auto& value : axis.values) {
    values.push_back(for_script(value.json));
    if (value.is_number && !value.json.is_boolean()) numbers.push_back(value.number);
  }
  ordered_json one = {{"path", axis.path}, {"differs", differs}, {"values", values}};
  if (numbers.size() == values.size()) one["numbers"] = numbers;
  const bool is_same = std::all_of(axis.of_trial.begin(), axis.of_trial.end(), [](int value) { return value == 0; });
  if (!is_same) one["of"] = axis.of_trial;
  return one;
}

}  // namespace

void put_trials(const Reader& reader, const ReportTrials& trials, ordered_json& report) {
  guarded(reader.file(), [&] {
    auto& database = reader.database();
    Statement key(database, "SELECT key FROM trial WHERE id = ?");
    Statement attempts(database,
                       "SELECT id, outcome, reason, started_us / 1000000, wall_s, environment FROM attempt WHERE trial = ? "
                       "ORDER BY turn, uid");
    PlacedTexts outcomes, reasons;
    PlacedEnvironments environments(database);
    ordered_json all = {{"experiment", trials.experiment}}, earlier = ordered_json::array();
    for (const auto* column : {"key", "attempt", "outcome", "reason", "environment", "started", "wall"})
      all[column] = ordered_json::array();
    for (std::size_t t = 0; t < trials.all.size(); ++t) {
      const auto& trial = trials.all[t];
      all["key"].push_back(renew(key, trial.id).executeStep() ? key.getColumn(0).getString().substr(0, kKeyDigits) : "");
      all["attempt"].push_back(trial.attempt);
      ordered_json outcome = outcomes.index_of(trial.outcome), reason = -1, environment = -1, started = nullptr, wall = nullptr;
      ordered_json its = ordered_json::array();
      renew(attempts, trial.id);
      while (attempts.executeStep()) {
        const auto why = attempts.getColumn(2).getString().substr(0, kMostReasonBytes);
        const ordered_json why_place = why.empty() ? ordered_json(-1) : ordered_json(reasons.index_of(why));
        const auto id = attempts.getColumn(0).getInt64();
        its.push_back(
            {t, id, outcomes.index_of(attempts.getColumn(1).getString()), why_place, attempts.getColumn(3).getInt64()});
        if (id != trial.attempt) continue;
        reason = why_place, started = attempts.getColumn(3).getInt64(), wall = attempts.getColumn(4).getDouble();
        environment = environments.index_of(attempts.getColumn(5).getInt64());
      }
      all["outcome"].push_back(outcome);
      all["reason"].push_back(reason);
      all["environment"].push_back(environment);
      all["started"].push_back(started);
      all["wall"].push_back(wall);
      if (its.size() > 1) earlier.insert(earlier.end(), its.begin(), its.end());
    }
    report["trials"] = std::move(all);
    report["attempts"] = std::move(earlier);
    report["outcomes"] = outcomes.all();
    report["reasons"] = reasons.all();
    for (auto& groups = report["reason_groups"] = ordered_json::array(); const auto& reason : reasons.all())
      groups.push_back(reason_group(reason));
    report["environments"] = std::move(environments.all);
  });
}

ordered_json report_parameters(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  auto all = ordered_json::array();
  std::set<std::string> told;
  for (const auto& axis : varying_axes(reader, trials)) {
    all.push_back(parameter(axis, true));
    told.insert(axis.path);
  }
  for (const auto& [path, id] : reader.paths())
    if (!told.contains(path))
      if (const auto axis = load_axis(reader, path, id, trials); !axis.values.empty()) all.push_back(parameter(axis, false));
  return all;
}

ordered_json report_metrics(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  auto all = ordered_json::array();
  for (const auto& metric : reader.metrics()) {
    auto values = ordered_json::array();
    bool any = false;
    for (const auto& value : load_results(reader, metric.id, trials)) {
      values.push_back(value ? number_or_nan(*value) : ordered_json(nullptr));
      any = any || value;
    }
    if (!any) continue;
    all.push_back({{"name", metric.name},
                   {"unit", metric.unit},
                   {"direction", metric.direction},
                   {"description", metric.description},
                   {"cost", metric.is_cost()},
                   {"values", std::move(values)}});
  }
  return all;
}

}  // namespace ablate::db
