#include "core/host/launch/planned_study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/host/client/executors.h"
#include "core/host/launch/check_tables.h"
#include "core/host/launch/only.h"
#include "core/host/scheduler/processors.h"
#include "core/host/scheduler/retries.h"
#include "core/host/study/study.h"
#include "core/host/study/used_plugins.h"
#include "core/registry/folders.h"
#include "core/shared/build_identity.h"
#include "core/shared/sizes_job.h"
#include "db/history/damage.h"
#include "db/history/lineage.h"
#include "db/history/location.h"
#include "db/history/past_tries.h"
#include "db/history/reader.h"
#include "db/questions/selection/chosen_values.h"
#include "db/report/format.h"

namespace ablate {
namespace {

using nlohmann::json;

std::vector<ModelSizes> sizes_in(const json& answer, std::size_t models) {
  const auto counted = from_json<CountedSizes>(answer);
  if (counted.sizes.size() != models)
    throw BadMessage(fmt::format("{}: sizes: found {}, expected {}", CountedSizes::kName, counted.sizes.size(), models));
  std::vector<ModelSizes> all;
  for (const auto& [parameters, state_bytes, refused] : counted.sizes) all.push_back({parameters, state_bytes, refused});
  return all;
}

/// Counts each trial's model, as CountSizes says; a worker makes the task and does not load its data. Answers are remembered
/// as those of tasks are, so that a study that is done starts no worker. Throws Error. @param limit_s of one answer
std::vector<ModelSizes> model_sizes(const std::vector<Trial>& trials, const Catalog& catalog, Executors& executors,
                                    const TaskMemory& memory, double limit_s) {
  CountSizesJob job;
  std::string code;
  auto asked = json::array();
  for (const auto& trial : trials) {
    job.models.push_back(trial.spec);
    asked.push_back({{"trial", to_json(trial.spec)}, {"files", trial.files}});
    for (const auto& use : used_plugins(trial.spec, catalog))
      if (job.libraries.hashes.emplace(use.info->path.string(), use.info->content_hash).second)
        code += use.info->code_identity();
  }
  for (const auto& [path, hash] : job.libraries.hashes) job.libraries.paths.push_back(path);
  const auto path = memory.path_of(code, {{"kind", CountSizesJob::kName}, {"models", asked}, {"build", build_identity()}});
  const auto read_known = [&](const json& known) { return sizes_in(known, trials.size()); };
  if (auto known = memory.find(path, read_known)) return *known;
  const auto answered = executors.ask(job, limit_s);
  if (!answered.answer)
    throw Error(fmt::format("counting what models of {} have: {}", trials.front().spec.task.id, answered.failed),
                answered.fault ? ExitCode::kPlugin : ExitCode::kUsage);
  const auto text = to_json(*answered.answer);
  memory.put(path, text);
  return sizes_in(text, trials.size());
}

TaskMemory user_task_memory() {
  const auto cache = cache_folder();
  return TaskMemory(cache.empty() ? cache : cache / "data");
}

int most_threads(const std::vector<const PlannedTrial*>& wanted) {
  std::int64_t most = 1;
  for (const auto* planned : wanted) most = std::max(most, planned->trial->spec.train.threads);
  return static_cast<int>(most);
}

/// Says what is to be said of libraries that the study uses: anyone can write it, ... @return its plugins
std::vector<PluginInfo> warn_of_used(const PlannedStudy& plan, const std::vector<FoundLibrary>& libraries, const Note& note) {
  std::set<std::filesystem::path> used;
  std::vector<PluginInfo> plugins;
  Unseen is_new({TrialSection::kTask, TrialSection::kAttention});
  for (const auto& trial : plan.study.trials) {
    if (!is_new(trial.sections)) continue;
    for (const auto& use : used_plugins(trial.spec, plan.catalog))
      if (used.insert(use.info->path).second) plugins.push_back(*use.info);
  }
  for (const auto& library : libraries)
    for (const auto& warning : library.warnings)
      if (used.contains(library.path)) note(fmt::format("warning: {}: {}", db::one_row(library.path.string()), warning));
  return plugins;
}

}  // namespace

DevChoice::DevChoice(const Study& study, const std::vector<PlannedTrial>& planned, const std::filesystem::path& database)
    : is_apart_(!study.tuning_seeds.empty()) {
  if (!is_apart_) return;
  std::vector<std::string> keys;
  std::set<std::int64_t> cells, open;
  for (const auto& one : planned)
    if (one.trial->tunes) keys.push_back(one.key), cells.insert(*one.trial->cell);
  cells_ = cells.size();
  if (std::error_code none; !std::filesystem::exists(database, none)) return;
  const db::Reader reader(database);
  const auto done = db::done_attempts(reader, keys);
  const auto tries = db::past_tries(reader, keys);
  std::vector<db::TriedValue> tried;
  for (const auto& one : planned) {
    const auto& trial = *one.trial;
    if (!trial.tunes) continue;
    const auto attempt = done.find(one.key);
    const auto past = tries.find(one.key);
    if (attempt == done.end() && (past == tries.end() || retry_of(past->second.outcomes, {}).what != Retry::What::kIsSetAside))
      open.insert(*trial.cell);
    tried.push_back({*trial.cell, trial.value, attempt == done.end() ? 0 : attempt->second});
  }
  chosen_ = db::chosen_values(reader, tried);
  for (const auto cell : open) chosen_.erase(cell);
}

bool DevChoice::leaves_out(const Trial& trial) const {
  if (!is_apart_ || trial.tunes || !trial.cell) return false;
  const auto chosen = chosen_.find(*trial.cell);
  return chosen == chosen_.end() || chosen->second != trial.value;
}

std::vector<const PlannedTrial*> DevChoice::awaited(const std::vector<PlannedTrial>& planned) const {
  std::vector<const PlannedTrial*> all;
  std::map<std::int64_t, std::int64_t> first;
  if (!is_apart_) return all;
  for (const auto& one : planned) {
    const auto& trial = *one.trial;
    if (!trial.cell || trial.tunes || chosen_.contains(*trial.cell)) continue;
    if (first.try_emplace(*trial.cell, trial.value).first->second == trial.value) all.push_back(&one);
  }
  return all;
}

std::string DevChoice::text() const {
  const auto made = static_cast<std::size_t>(
      std::count_if(chosen_.begin(), chosen_.end(), [](const auto& one) { return one.second.has_value(); }));
  auto text = fmt::format("dev has chosen in {} of {} settings", made, cells_);
  if (chosen_.size() < cells_)
    text += fmt::format("; {} wait{} for trials that tune", cells_ - chosen_.size(), cells_ - chosen_.size() == 1 ? "s" : "");
  if (chosen_.size() > made)
    text += fmt::format("; no value of {} has all of its trials done, and nothing is reported there", chosen_.size() - made);
  return text;
}

PlannedStudy::PlannedStudy(LaunchRequest request, Catalog with, Study resolved, const Note& note)
    : asked(std::move(request)),
      catalog(std::move(with)),
      study(std::move(resolved)),
      many(study.name, study.trials.size(), note),
      memory(user_task_memory()) {}

std::vector<const PlannedTrial*> PlannedStudy::awaited() const {
  return asked.only.empty() ? choice.awaited(planned) : std::vector<const PlannedTrial*>();
}

std::string crowd_text(const PlannedStudy& plan, int together) {
  if (together * plan.threads <= plan.cores) return "";
  const auto s = [](int count) { return count == 1 ? "" : "s"; };
  return fmt::format(
      "warning: {} trial{} of {} thread{} (train.threads) on {} core{}: they wait for each other, and their step times will "
      "not compare with others'",
      together, s(together), plan.threads, s(plan.threads), plan.cores, s(plan.cores));
}

namespace {

/// What dev has chosen before the run. A history of an older ablate, or an empty file, tells nothing before it is opened for
/// writing.
DevChoice choice_so_far(const PlannedStudy& plan) try {
  return {plan.study, plan.planned, plan.asked.database};
} catch (const Error&) {  // open_history tells what is wrong with others
  return {plan.study, plan.planned, {}};
}

}  // namespace

PlannedStudy plan_study(const LaunchRequest& request, const std::function<std::vector<FoundLibrary>()>& find,
                        const std::function<std::string(const std::string&)>& where_looked, Executors& executors,
                        const Note& note) {
  db::check_writing_location(request.database);  // before libraries are looked at, and data are prepared for hours
  db::expect_sound(request.database);
  if (std::error_code none; request.prove > 0 && !std::filesystem::exists(request.database, none))
    db::Reader says_so(request.database);
  const auto libraries = find();
  for (const auto& library : libraries)
    if (!library.refusal.empty())
      note(fmt::format("warning: {} is left out: {}", db::one_row(library.path.string()), db::one_row(library.refusal)));
  auto catalog = catalog_of(libraries);
  catalog.where_looked = where_looked;
  const auto auto_device = [&]() -> std::string {
    const auto kind = executors.ask(OpenDeviceJob{"cuda"}, TaskLimits{}.describe_s).failed.empty() ? "cuda" : "cpu";
    note(fmt::format("train.device = auto: {} on this machine", kind));
    return kind;
  };
  const auto memory = user_task_memory();
  auto study = load_study(request.study, request.overrides, catalog, auto_device, [&](const std::vector<Trial>& trials) {
    return model_sizes(trials, catalog, executors, memory, TaskLimits{}.describe_s);
  });
  if (request.timeout_s) study.timeout_s = *request.timeout_s;
  check_tables(study);
  PlannedStudy plan(request, std::move(catalog), std::move(study), note);
  plan.many.begin("checking their tasks and naming each by its key");
  plan.used = warn_of_used(plan, libraries, note);
  check_tasks(plan.study, plan.catalog, executors, plan.memory);
  plan.planned = ablate::plan(plan.study, plan.catalog, executors, plan.memory, {},
                              [&](std::size_t done) { plan.many.so_far(done, "named"); });
  plan.named = choose(plan.planned, request.only, request.database);
  plan.choice = choice_so_far(plan);
  for (const auto* trial : plan.named)
    if (!plan.choice.leaves_out(*trial->trial)) plan.wanted.push_back(trial);
  if (plan.wanted.empty())
    throw Error(
        fmt::format("--only {}: found trials at values that dev has not chosen, expected ones of the grid: those that "
                    "tune, and those of chosen values; --dry-run shows them",
                    fmt::join(request.only, " --only ")));
  plan.cores = processor_count();
  plan.threads = most_threads(plan.wanted);
  plan.at_a_time = request.at_a_time > 0 ? request.at_a_time : std::max(1, plan.cores / plan.threads);
  return plan;
}

}  // namespace ablate
