#include "core/scheduler/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/grid/rates_check.h"

namespace ablate {
namespace {

using nlohmann::json;

/// What a task answers, asked once for each distinct section of the study.
class TaskAnswers {
 public:
  /// @param late what to add where the limit was reached
  TaskAnswers(std::string kind, double limit_s, std::string late, const Catalog& catalog, WorkerClient& worker)
      : kind_(std::move(kind)), limit_s_(limit_s), late_(std::move(late)), catalog_(catalog), worker_(worker) {}

  const json& of(const json& section) {
    const auto [found, is_new] = answers_.try_emplace(section.dump());
    if (is_new) found->second = ask(section);
    return found->second;
  }

 private:
  json ask(const json& section) {
    const auto* task = catalog_.find(Kind::kTask, section.at("plugin").get<std::string>());
    try {
      auto answer = worker_.ask(kind_, {{"library", task->path.string()}, {"section", section}}, limit_s_);
      if (answer.value("late", false)) answer["failed"] = answer.at("failed").get<std::string>() + late_;
      return answer;
    } catch (const WorkerEnded& ended) {
      return {{"failed", fmt::format("it took the worker with it: {}", ended.what())}, {"fault", true}};
    }
  }

  std::string kind_;
  double limit_s_;
  std::string late_;
  const Catalog& catalog_;
  WorkerClient& worker_;
  std::map<std::string, json> answers_;
};

Error task_error(const json& section, const json& answer) {
  const std::string id = section.at("plugin"), why = answer.at("failed");
  // What a task says (missing data, ...) the user can mend; a crash or a wrong answer is the library's fault.
  return Error(why.starts_with(id + ": ") ? "task " + why : fmt::format("task {}: {}", id, why),
               answer.value("fault", false) ? ExitCode::kPlugin : ExitCode::kUsage);
}

}  // namespace

std::map<std::string, const PluginInfo*> used_plugins(const json& resolved, const Catalog& catalog) {
  std::map<std::string, const PluginInfo*> used;
  for (const auto kind : {Kind::kTask, Kind::kAttention, Kind::kCompression}) {
    if (!resolved.contains(to_text(kind))) continue;
    const std::string id = resolved.at(to_text(kind)).at("plugin");
    const auto* info = catalog.find(kind, id);
    if (info == nullptr) throw Error(fmt::format("{} {} was not found", to_text(kind), id), ExitCode::kPlugin);
    used[to_text(kind)] = info;
  }
  return used;
}

void check_tasks(const Study& study, const Catalog& catalog, WorkerClient& worker, const TaskLimits& limits) {
  TaskAnswers described("describe-task", limits.describe_s, ": its info() has to take milliseconds", catalog, worker);
  for (const auto& trial : study.trials) {
    const auto& section = trial.resolved.at("task");
    if (const auto& answer = described.of(section); answer.contains("failed")) {
      const auto where = trial.where.find("task.plugin");
      throw ConfigError({{where == trial.where.end() ? Location{study.file.string(), 0, 0} : where->second,
                          task_error(section, answer).what(), task_error(section, answer).code()}});
    }
  }
  const auto wrong =
      check_rates(study, [&](const json& section) { return described.of(section).at("length").get<std::int64_t>(); });
  if (!wrong.empty()) throw ConfigError(wrong);
}

std::vector<PlannedTrial> plan(const Study& study, const Catalog& catalog, WorkerClient& worker, const TaskLimits& limits) {
  TaskAnswers prepared("prepare-task", std::max(limits.prepare_s, study.timeout_s),
                       ": where its load() needs longer, [experiment] timeout allows it", catalog, worker);
  std::vector<PlannedTrial> planned;
  for (const auto& trial : study.trials) {
    const auto& section = trial.resolved.at("task");
    const auto& answer = prepared.of(section);
    if (answer.contains("failed")) throw task_error(section, answer);
    PlannedTrial next{.trial = &trial, .data_digest = answer.at("digest")};
    std::map<std::string, std::string> identities;
    for (const auto& [name, info] : used_plugins(trial.resolved, catalog)) {
      identities[name] = info->code_identity();
      next.plugins.push_back({name, info->id, info->version, info->code_identity(), info->content_hash, info->path.string()});
    }
    next.key = trial_key(trial.resolved, identities, next.data_digest);
    planned.push_back(std::move(next));
  }
  return planned;
}

}  // namespace ablate
