#include "tools/ablate/audit/audited_task.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "core/host/client/start_worker.h"
#include "core/host/scheduler/recording.h"
#include "core/shared/versions.h"
#include "core/util/scratch_folder.h"
#include "core/util/stop_on_signal.h"
#include "tools/ablate/audit/floors_run.h"
#include "tools/ablate/check/side_by_side.h"
#include "tools/ablate/streams.h"
#include "tools/ablate/wrapped.h"

namespace ablate {

using nlohmann::json;

AuditedTask::AuditedTask(TaskToAudit task, const AuditArguments& arguments, std::filesystem::path database)
    : arguments_(arguments),
      task_(std::move(task)),
      database_(std::move(database)),
      examination_(task_.plugin, [this](const std::string& line) {
        if (!as_json()) print("{}", line);
      }) {
  for (const auto& parameter : task_.plugin.parameters)
    if (const auto found = task_.section.values->find(parameter.name);
        found != task_.section.values->end() && *found != parameter.default_value)
      audit_.parameters[parameter.name] = *found;
  audit_.digest = task_.digest;
  audit_.task = task_.section.id;
  audit_.suite = kSuiteVersion;
  watch_.remember({used()});
}

void AuditedTask::run() {
  std::error_code none;
  const bool is_new = !std::filesystem::exists(database_, none);
  auto store = open_history(database_);
  if (is_new)
    say("made {}: what is found is stored there (--db FILE or ABLATE_DB names another history)\n", path_text(database_));
  kept_ = !arguments_.again && tell_kept(store);
  if (!kept_) {
    head();
    look();
    stop_if_asked();
    if (audit_.verdict == "passed" || audit_.verdict == "failed") store.put_audit(audit_);
  }
  if (!as_json()) print("{}\n", wrapped(fmt::format("{}: {}", task_.section.id, examination_.summary("finding")), 2, 0));
  if (can_be_read()) find_floors(store);
  conclude();
}

Libraries AuditedTask::libraries() const {
  const auto path = task_.plugin.path.string();
  return {{path}, {{path, task_.plugin.content_hash}}};
}

UsedPlugin AuditedTask::used() const { return {.content_hash = task_.plugin.content_hash, .path = task_.plugin.path.string()}; }

/// What the history has of these data, where it is of this suite. @return whether it is
bool AuditedTask::tell_kept(db::Store& store) {
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

void AuditedTask::look() {
  const ScratchFolder scratch;
  Executors checkers = local_workers(kChecker);
  ListenedCheck listened{.job = AuditJob{libraries(), task_.section, audit_.digest, scratch.path().string()},
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

/// Whether examples were read and are as the contract has them: of others floors tell nothing.
bool AuditedTask::can_be_read() const {
  return !examination_.is_spoilt() && std::ranges::any_of(audit_.findings, [](const json& finding) {
    return finding.value("check", "") == "read" && finding.value("verdict", "") == "passed";
  });
}

void AuditedTask::find_floors(db::Store& store) {
  FloorsRun run({libraries(), task_.section, task_.document, audit_.digest}, arguments_.again, arguments_.timeout_s);
  for (const auto& rows : task_.rows) {
    const auto found = run.of(rows, store);
    if (!found) continue;
    if (const auto why = watch_.overwritten({used()}); !why.empty()) throw Error(why);
    if (!as_json()) print("{}", floors_text(*found));
    floors_.push_back(floors_json(*found));
  }
}

void AuditedTask::head() const {
  if (!as_json())
    print("{} (task {}), {}\n{}", task_.section.id, task_.plugin.version, path_text(task_.plugin.path),
          Examination::heading(Kind::kTask));
}

json AuditedTask::to_json() const {
  return {{"id", audit_.task},
          {"parameters", audit_.parameters},
          {"digest", audit_.digest},
          {"suite", audit_.suite},
          {"audited_s", audit_.audited_s},
          {"kept", kept_},
          {"verdict", examination_.verdict().verdict},
          {"findings", audit_.findings},
          {"floors", floors_}};
}

void AuditedTask::conclude() const {
  if (!as_json() && kept_)
    print("found on {:%Y-%m-%d}, and stored in {}: --again looks once more\n",
          fmt::localtime(static_cast<std::time_t>(audit_.audited_s)), path_text(database_));
}

}  // namespace ablate
