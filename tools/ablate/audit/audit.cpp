// ablate audit: checks the data of a task, or of each task of a study, without a model, once for each data set.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "core/host/client/start_worker.h"
#include "core/host/launch/planned_study.h"
#include "core/host/scheduler/recording.h"
#include "core/records/data_settings.h"
#include "core/registry/plugin_info.h"
#include "core/shared/library_watch.h"
#include "core/shared/trial_spec.h"
#include "core/shared/versions.h"
#include "core/util/error.h"
#include "core/util/plain_json.h"
#include "core/util/scratch_folder.h"
#include "core/util/shell_word.h"
#include "core/util/stop_on_signal.h"
#include "db/history/damage.h"
#include "db/history/location.h"
#include "db/history/store.h"
#include "db/report/printers.h"
#include "tools/ablate/audit/floors_run.h"
#include "tools/ablate/check/examination.h"
#include "tools/ablate/check/named_plugins.h"
#include "tools/ablate/check/side_by_side.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/streams.h"
#include "tools/ablate/whole_number.h"
#include "tools/ablate/wrapped.h"

namespace ablate {
namespace {

using nlohmann::json;

struct AuditArguments {
  std::string what;                       ///< a task's id, the path of its library, or a study's file (.toml)
  std::vector<std::string> set;           ///< NAME=VALUE for a task, PATH=VALUE for a study
  bool again = false;                     ///< audit even if the history has the findings
  int timeout_s = 600;                    ///< for the audit of one data set, without its loading
  db::Format format = db::Format::kText;  ///< or kJson
};

/// Task with prepared data.
struct TaskToAudit {
  PluginInfo plugin;
  PluginSpec section;          ///< with all parameters
  nlohmann::json document;     ///< section in the form that a trial's document has
  std::string digest;          ///< digest of the data
  std::set<ExampleRows> rows;  ///< examples that trials train and test on; without a study: both whole splits
};

/// One data set during an audit.
class AuditedTask {
 public:
  AuditedTask(TaskToAudit task, const AuditArguments& arguments, std::filesystem::path database)
      : arguments_(arguments),
        task_(std::move(task)),
        database_(std::move(database)),
        examination_(task_.plugin, [this](const std::string& line) {
          if (!as_json()) print("{}", line);
        }) {
    for (const auto& parameter : task_.plugin.parameters)
      if (const auto found = task_.section.values.find(parameter.name);
          found != task_.section.values.end() && *found != parameter.default_value)
        audit_.parameters[parameter.name] = *found;
    audit_.digest = task_.digest;
    audit_.task = task_.section.id;
    audit_.suite = kSuiteVersion;
    watch_.remember({used()});
  }

  /// Audits what the history lacks and stores the findings. Prints lines as they come if the format is text.
  void run() {
    std::error_code none;
    const bool is_new = !std::filesystem::exists(database_, none);
    auto store = open_history(database_);
    if (is_new)
      say("made {}: findings are stored there (--db FILE or ABLATE_DB names another history)\n", path_text(database_));
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

  bool is_right() const {
    return !examination_.verdict().has_failed() && (!examination_.is_spoilt() || examination_.ran_out_of_time());
  }

  json to_json() const {
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

 private:
  bool as_json() const { return arguments_.format == db::Format::kJson; }
  Libraries libraries() const {
    const auto path = task_.plugin.path.string();
    return {{path}, {{path, task_.plugin.content_hash}}};
  }

  UsedPlugin used() const { return {.content_hash = task_.plugin.content_hash, .path = task_.plugin.path.string()}; }
  void head() const {
    if (!as_json())
      print("{} (task {}), {}\n{}", task_.section.id, task_.plugin.version, path_text(task_.plugin.path),
            Examination::heading(Kind::kTask));
  }

  /// If the history has findings of this suite about these data, prints them and returns true.
  bool tell_kept(db::Store& store) {
    const auto known = store.audit(audit_.digest, audit_.task);
    if (!known || known->suite != kSuiteVersion) return false;
    std::vector<CheckResult> findings;
    try {
      for (const auto& finding : known->findings) findings.push_back(from_json<CheckResult>(finding));
    } catch (const BadMessage&) {  // written by another program or version
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
        .job = AuditJob{libraries(), task_.section, audit_.digest, scratch.path().string()},
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

  /// True if examples were read and follow the contract; otherwise floors would be meaningless.
  bool can_be_read() const {
    return !examination_.is_spoilt() && std::ranges::any_of(audit_.findings, [](const json& finding) {
      return finding.value("check", "") == "read" && finding.value("verdict", "") == "passed";
    });
  }

  void find_floors(db::Store& store) {
    FloorsRun run({libraries(), task_.section, task_.document, audit_.digest}, arguments_.again, arguments_.timeout_s);
    for (const auto& rows : task_.rows) {
      const auto found = run.of(rows, store);
      if (!found) continue;
      if (const auto why = watch_.overwritten({used()}); !why.empty()) throw Error(why);
      if (!as_json()) print("{}", floors_text(*found));
      floors_.push_back(floors_json(*found));
    }
  }

  void conclude() const {
    if (!as_json() && kept_)
      print("found on {:%Y-%m-%d}, and stored in {}: --again audits again\n",
            fmt::localtime(static_cast<std::time_t>(audit_.audited_s)), path_text(database_));
  }

  const AuditArguments& arguments_;
  TaskToAudit task_;
  std::filesystem::path database_;
  LibraryWatch watch_;
  db::Audit audit_;
  Examination examination_;
  bool kept_ = false;
  nlohmann::json floors_ = nlohmann::json::array();
};

/// Throws Error if no task has that name.
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
        fmt::format("{} is a plugin of the kind {}, expected a task, because only tasks have data; `ablate check {}` checks it",
                    name, to_text(info.kind), shell_word(name)));
  };
  if (other != nullptr &&
      std::ranges::none_of(tasks, [&](const auto& task) { return task.refusal.empty() && task.info.id == name; }))
    throw refuse(other->info);
  auto library = choose({name}, tasks, options, executors).front();
  if (library.info.kind != Kind::kTask) throw refuse(library.info);
  return library;
}

/// Returns the task with the digest of its data. Loads the data, and generates and caches missing data.
TaskToAudit task_named(const AuditArguments& arguments, const Options& options, Executors& workers) {
  const auto library = find_task(arguments.what, options, workers);
  TaskToAudit task{.plugin = library.info, .section = {}, .document = {}, .digest = {}, .rows = {ExampleRows()}};
  task.plugin.path = library.path;
  const auto given = parameters_of(library.info, arguments.set, {});
  task.section.id = library.info.id;
  for (const auto& parameter : library.info.parameters)
    task.section.values[parameter.name] = given.value(parameter.name, parameter.default_value);
  task.document = to_json(task.section);
  db::check_writing_location(options.database_file());  // checked before data are prepared for hours
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

/// Returns the distinct tasks of a study, in the order of its trials. Each task has the parts of its splits that trials read.
std::deque<TaskToAudit> tasks_of_study(const AuditArguments& arguments, const Options& options, Executors& workers) {
  const auto plan = plan_study(
      {.study = arguments.what, .database = options.database_file(), .overrides = arguments.set},
      [&] { return find_libraries(options, workers); }, [&](const std::string& id) { return where_plugins_are(options, id); },
      workers, say_line);
  std::deque<TaskToAudit> tasks;
  for (const auto& planned : plan.planned) {
    const auto& spec = planned.trial->spec;
    const auto document = to_json(spec.task);  // the same form as in the trial's document
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

/// Findings and floors that the history has for this digest and suite are computed again only with --again. Failures that are
/// not the fault of the data, such as a time limit, are printed and not stored. Throws Error for an unknown task, parameter or
/// study, for data that cannot be loaded, and for a history that cannot be written.
/// @return the exit code
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

}  // namespace

void add_audit(CLI::App& app, const Options& options, int& exit_code) {
  auto* command = app.add_subcommand(
      "audit", "Check tasks' data without a model: shortcuts, near-duplicates, rules, and scores of simple predictors");
  command->group("Look at plugins");
  auto arguments = std::make_shared<AuditArguments>();
  command->add_option("TASK", arguments->what, "a task's id, the path of its library, or a study.toml to audit all its tasks")
      ->required()
      ->check(not_empty())
      ->type_name("");
  command
      ->add_option("--set", arguments->set,
                   "NAME=VALUE: replaces a default of the task; for a study PATH=VALUE, as in `ablate run`; repeat it for more")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--again", arguments->again, "repeat the audit of data that were audited before");
  command->add_option("--timeout", arguments->timeout_s, "seconds for the audit of loaded data, 600 by default")
      ->check(whole_number(1, 86400, "seconds"))
      ->type_name("SECONDS");
  add_format(command, arguments->format, {"text", "json"}, "text or json; default: text");
  command->footer(
      "The run history stores findings by the digest of the data. Tables of these data have a note if a finding failed. "
      "A floor is the score of a simple predictor that is trained and tested on the examples of the study's trials, or on "
      "all examples. Notes below tables list the floors.\n"
      "Exit codes: 0 all passed, 1 a finding failed, 2 the request cannot be fulfilled, 3 a library is refused.\n"
      "Example:\n  ablate audit listops --set max_length=500\n  ablate audit experiments/listops.toml");
  command->callback([=, &options, &exit_code] { exit_code = run_audit(*arguments, options); });
}

}  // namespace ablate
