#include "tools/ablate/audit/audit_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "core/host/client/start_worker.h"
#include "core/host/launch/planned_study.h"
#include "core/records/data_settings.h"
#include "core/util/error.h"
#include "core/util/plain_json.h"
#include "core/util/shell_word.h"
#include "core/util/stop_on_signal.h"
#include "db/history/damage.h"
#include "db/history/location.h"
#include "tools/ablate/audit/audited_task.h"
#include "tools/ablate/check/named_plugins.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

/// Throws Error where none of that name is a task.
FoundLibrary find_task(const std::string& name, const Options& options, Executors& executors) {
  const auto found = find_libraries(options, executors);
  std::vector<FoundLibrary> tasks;
  const FoundLibrary* other = nullptr;
  for (const auto& one : found)
    if (one.refusal.empty() && one.info.kind != Kind::kTask)
      other = one.info.id == name ? &one : other;
    else
      tasks.push_back(one);
  const auto refuse = [&](const PluginInfo& info) {
    return Error(
        fmt::format("{} is a plugin of the kind {}, expected a task, whose data are looked at; `ablate check {}` checks it",
                    name, to_text(info.kind), shell_word(name)));
  };
  if (other != nullptr &&
      std::ranges::none_of(tasks, [&](const auto& task) { return task.refusal.empty() && task.info.id == name; }))
    throw refuse(other->info);
  auto library = choose({name}, tasks, options, executors).front();
  if (library.info.kind != Kind::kTask) throw refuse(library.info);
  return library;
}

/// Loads the data, which generates and caches what lacks, and asks for their digest.
TaskToAudit task_named(const AuditArguments& arguments, const Options& options, Executors& workers) {
  const auto library = find_task(arguments.what, options, workers);
  TaskToAudit task{.plugin = library.info, .section = {}, .document = {}, .digest = {}, .rows = {ExampleRows()}};
  task.plugin.path = library.path;
  const auto given = parameters_of(library.info, arguments.set, {});
  task.section.id = library.info.id;
  for (const auto& parameter : library.info.parameters)
    task.section.values[parameter.name] = given.value(parameter.name, parameter.default_value);
  task.document = to_json(task.section);
  db::check_writing_location(options.database_file());  // before data are prepared for hours
  db::expect_sound(options.database_file());
  PrepareTaskJob job;
  const auto path = library.path.string();
  job.libraries = {{path}, {{path, library.info.content_hash}}}, job.section = task.section;
  const auto answered = workers.ask(job, TaskLimits().prepare_s);
  if (!answered.answer)
    throw Error(fmt::format("task {}: {}", task.section.id, answered.failed),
                answered.fault ? ExitCode::kPlugin : ExitCode::kUsage);
  task.digest = answered.answer->digest;
  return task;
}

/// The distinct tasks of a study's trials in their order, each with what of its splits they see.
std::deque<TaskToAudit> tasks_of_study(const AuditArguments& arguments, const Options& options, Executors& workers) {
  const auto plan = plan_study(
      {.study = arguments.what, .database = options.database_file(), .overrides = arguments.set},
      [&] { return find_libraries(options, workers); }, [&](const std::string& id) { return where_plugins_are(options, id); },
      workers, say_line);
  std::deque<TaskToAudit> tasks;
  for (const auto& planned : plan.planned) {
    const auto& spec = planned.trial->spec;
    const auto document = to_json(spec.task);  // as in the trial's
    auto same = std::ranges::find_if(
        tasks, [&](const TaskToAudit& task) { return task.document == document && task.digest == planned.data_digest; });
    if (same == tasks.end()) {
      tasks.push_back({*plan.catalog.find(Kind::kTask, spec.task.id), spec.task, document, planned.data_digest, {}});
      same = tasks.end() - 1;
    }
    const auto& train = spec.train;
    same->rows.insert(example_rows(train));
  }
  return tasks;
}

std::deque<TaskToAudit> tasks_of(const AuditArguments& arguments, const Options& options, bool is_study) {
  Executors workers = local_workers();
  if (is_study) return tasks_of_study(arguments, options, workers);
  return {task_named(arguments, options, workers)};
}

}  // namespace

int run_audit(const AuditArguments& arguments, const Options& options) {
  const StopOnSignal stop;
  const bool is_study = arguments.what.ends_with(".toml");
  bool is_right = true;
  auto all = nlohmann::json::array();
  for (auto& task : tasks_of(arguments, options, is_study)) {
    stop_if_asked();
    AuditedTask audited(std::move(task), arguments, options.database_file());
    audited.run();
    is_right = is_right && audited.is_right();
    all.push_back(audited.to_json());
  }
  if (arguments.format == db::Format::kJson) print("{}\n", plain_json(is_study ? all : all.front(), 2));
  return static_cast<int>(is_right ? ExitCode::kDone : ExitCode::kTrialsFailed);
}

}  // namespace ablate
