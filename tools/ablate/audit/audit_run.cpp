#include "tools/ablate/audit/audit_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "core/host/client/start_worker.h"
#include "core/host/scheduler/library_watch.h"
#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/recording.h"
#include "core/shared/versions.h"
#include "core/util/error.h"
#include "core/util/plain_json.h"
#include "core/util/scratch_folder.h"
#include "core/util/shell_word.h"
#include "core/util/stop_on_signal.h"
#include "db/history/damage.h"
#include "db/history/place.h"
#include "tools/ablate/check/chosen.h"
#include "tools/ablate/check/examination.h"
#include "tools/ablate/check/side_by_side.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

using nlohmann::json;

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

class AuditRun {
 public:
  AuditRun(const AuditArguments& arguments, const Options& options)
      : arguments_(arguments),
        database_(options.database_file()),
        library_(find_task(arguments.task, options, workers_)),
        examination_(library_.info, [this](const std::string& line) {
          if (!as_json()) print("{}", line);
        }) {
    const auto given = parameters_of(library_.info, arguments.parameters, {});
    auto& values = section_.values;
    section_.id = library_.info.id;
    for (const auto& parameter : library_.info.parameters) {
      values[parameter.name] = given.value(parameter.name, parameter.default_value);
      if (values[parameter.name] != parameter.default_value) audit_.parameters[parameter.name] = values[parameter.name];
    }
    audit_.task = section_.id;
    audit_.suite = kSuiteVersion;
    watch_.remember({used()});
  }

  int run() {
    const StopOnSignal stop;
    db::check_place(database_);  // before data are prepared for hours
    db::expect_sound(database_);
    prepare();
    stop_if_asked();
    auto store = open_history(database_);
    const bool kept = !arguments_.again && tell_kept(store);
    if (!kept) {
      head();
      look();
      stop_if_asked();
      if (audit_.verdict == "passed" || audit_.verdict == "failed") store.put_audit(audit_);
    }
    conclude(kept);
    const bool right = !examination_.verdict().has_failed() && !examination_.is_spoilt();
    return static_cast<int>(!right ? ExitCode::kTrialsFailed : ExitCode::kDone);
  }

 private:
  bool as_json() const { return arguments_.format == db::Format::kJson; }

  Libraries libraries() const { return {{library_.path.string()}, {{library_.path.string(), library_.info.content_hash}}}; }

  UsedPlugin used() const { return {.content_hash = library_.info.content_hash, .path = library_.path.string()}; }

  /// Loads the data, which generates and caches what lacks, and asks for their digest.
  void prepare() {
    PrepareTaskJob job;
    job.libraries = libraries(), job.section = section_;
    const auto answered = workers_.ask(job, TaskLimits().prepare_s);
    if (!answered.answer)
      throw Error(fmt::format("task {}: {}", section_.id, answered.failed),
                  answered.fault ? ExitCode::kPlugin : ExitCode::kUsage);
    audit_.digest = answered.answer->digest;
    workers_.end();
  }

  /// What the history has of these data, where it is of this suite. @return whether it is
  bool tell_kept(db::Store& store) {
    const auto known = store.audit(audit_.digest, audit_.task);
    if (!known || known->suite != kSuiteVersion) return false;
    std::vector<CheckResult> findings;
    try {
      for (const auto& finding : known->findings) findings.push_back(from_json<CheckResult>(finding));
    } catch (const BadMessage&) {  // of another program, or of nobody that this one knows
      return false;
    }
    audit_ = *known;
    head();
    for (const auto& finding : findings) examination_.hear(finding);
    return true;
  }

  void look() {
    const ScratchFolder scratch;
    Executors checkers = local_workers(kChecker);
    ListenedCheck listened{
        .job = AuditJob{libraries(), section_, audit_.digest, scratch.path().string()},
        .hear = [this](const CheckSaid& said) { examination_.hear(said); },
        .end = [this](const JobOutcome& outcome,
                      const std::string& failed) { examination_.end(outcome, failed, arguments_.timeout_s); },
        .again = [this] { examination_.again(); }};
    run_side_by_side({std::move(listened)}, 1, arguments_.timeout_s, checkers);
    if (const auto why = watch_.overwritten({used()}); !why.empty()) examination_.spoil(why);
    const auto verdict = examination_.verdict();
    audit_.verdict = examination_.is_plugins_own() ? verdict.verdict : "unchecked";
    audit_.audited_s = verdict.checked_s;
    audit_.findings = examination_.to_json().at("checks");
  }

  void head() const {
    if (!as_json())
      print("{} (task {}), {}\n{}", section_.id, library_.info.version, path_text(library_.path),
            Examination::heading(Kind::kTask));
  }

  void conclude(bool kept) const {
    if (as_json()) {
      const json all{{"id", audit_.task},
                     {"parameters", audit_.parameters},
                     {"digest", audit_.digest},
                     {"suite", audit_.suite},
                     {"audited_s", audit_.audited_s},
                     {"kept", kept},
                     {"verdict", examination_.verdict().verdict},
                     {"findings", audit_.findings}};
      return print("{}\n", plain_json(all, 2));
    }
    print("{}: {}\n", section_.id, examination_.summary("finding"));
    if (kept)
      print("found on {:%Y-%m-%d}, and kept in {}: --again looks once more\n",
            fmt::localtime(static_cast<std::time_t>(audit_.audited_s)), path_text(database_));
  }

  const AuditArguments& arguments_;
  std::filesystem::path database_;
  Executors workers_ = local_workers();
  FoundLibrary library_;
  LibraryWatch watch_;
  PluginSpec section_;
  db::Audit audit_;
  Examination examination_;
};

}  // namespace

int run_audit(const AuditArguments& arguments, const Options& options) { return AuditRun(arguments, options).run(); }

}  // namespace ablate
