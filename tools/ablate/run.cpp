// ablate run: runs the trials of a study that the history lacks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "core/host/client/start_worker.h"
#include "core/host/launch/launch.h"
#include "core/util/shell_word.h"
#include "core/util/stop_on_signal.h"
#include "db/history/reader.h"
#include "db/history/store.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/dry_run.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"
#include "tools/ablate/verdict_text.h"
#include "tools/ablate/whole_number.h"

namespace ablate {
namespace {

void say_proof(const Study& study, const ProofSummary& proof, const Options& options) {
  for (const auto& line : proof.left_out) say("warning: {}\n", line);
  for (const auto& difference : proof.differences) say("{}\n", difference);
  if (!proof.differences.empty())
    return say("{}: not proven: at least one number of {} repeated trials changed; the history is unchanged\n", study.name,
               proof.repeated);
  say("{}: proven by {} repeated trial{}, the same to the last bit: {} done trial{} of the history stay{} valid; trials with "
      "other settings run anew\n",
      study.name, proof.repeated, proof.repeated == 1 ? "" : "s", proof.kept, proof.kept == 1 ? "" : "s",
      proof.kept == 1 ? "s" : "");
  say("proof {}, deleted by: {}\n", proof.proof, next_command(options, {"run", "--unprove", std::to_string(proof.proof)}));
}

int unprove(std::int64_t number, const std::filesystem::path& database) {
  { const db::Reader refuses(database); }  // throws for a missing or older file, so that none is created or migrated
  const auto trials = db::Store(database).delete_proof(number);
  say("proof {} is deleted: {} trial{} no longer done under the new code\n", number, trials, trials == 1 ? " is" : "s are");
  return 0;
}

}  // namespace

void say_summary(const Study& study, const RunSummary& summary, const RunArguments& arguments, const Options& options) {
  std::string others;  // results of other runs on the same history meanwhile
  if (summary.elsewhere > 0) others += fmt::format(", {} done by other runs", summary.elsewhere);
  if (summary.failed_elsewhere > 0) others += fmt::format(", {} failed in other runs", summary.failed_elsewhere);
  for (const auto& line : summary.failure_lines) say("  {}\n", line);
  for (const auto& line : summary.quarantines) say("set aside: {}; the same command tries them\n", line);
  for (const auto& line : set_aside_lines(summary.set_aside, arguments, options)) say("{}\n", line);
  say("{}: {} done, {} done before, {} failed{}{}{}{}\n", study.name, summary.done, summary.skipped, summary.failed, others,
      summary.set_aside.total() > 0 ? fmt::format(", {} set aside", summary.set_aside.total()) : "",
      summary.not_started > 0 ? fmt::format(", {} not started (--max-failures)", summary.not_started) : "",
      !summary.interrupted ? ""
      : arguments.again    ? "; interrupted"
                           : "; interrupted: the same command goes on where it stopped");
  if (summary.failed + summary.failed_elsewhere > 0)
    say("why: {}\n", next_command(options, {"attempts", study.name, "--failed"}));
  if (!summary.interrupted)
    say("table: {}\n",
        next_command(options, arguments.table.empty() ? std::vector<std::string>{"table", study.name} : arguments.table));
}

std::string next_command(const Options& options, std::vector<std::string> words) {
  words.insert(words.begin(), "ablate");
  if (const auto file = options.database_file().string(); !options.database.empty() || file != kDefaultDatabase)
    words.insert(words.end(), {"--db", file});  // another shell may have no ABLATE_DB
  for (auto& word : words) word = shell_word(word);
  return fmt::format("{}", fmt::join(words, " "));
}

namespace {

std::set<std::string> retried(const RunArguments& arguments) {
  std::set<std::string> outcomes(arguments.retry.begin(), arguments.retry.end());
  if (outcomes.erase("all") > 0)
    for (const auto& one : retry_choices()) outcomes.insert(one);
  return outcomes;
}

}  // namespace

LaunchRequest launch_request(const RunArguments& arguments, const Options& options) {
  return {.study = arguments.file,
          .database = options.database_file(),
          .overrides = arguments.overrides,
          .only = arguments.only,
          .at_a_time = arguments.at_a_time,
          .again = arguments.again,
          .prove = arguments.prove,
          .timeout_s = arguments.timeout_s,
          .memory_bytes = arguments.memory_bytes,
          .retry = retried(arguments),
          .max_failures = max_failures_of(arguments),
          .notify = arguments.notify,
          .is_bench = !arguments.table.empty()};
}

PlannedStudy planned_study(const LaunchRequest& request, const Options& options, Executors& executors) {
  return plan_study(
      request, [&] { return find_libraries(options, executors); },
      [&](const std::string& id) { return where_plugins_are(options, id); }, executors, say_line);
}

namespace {

/// Returns the exit code. `dry_run` receives the text of --dry-run.
ExitCode run_or_plan(const RunArguments& arguments, const Options& options, std::string& dry_run) {
  auto executors = local_workers();
  const auto plan = planned_study(launch_request(arguments, options), options, executors);
  warn_of_verdicts(plan.used, options);
  if (arguments.dry_run) {
    dry_run = dry_run_text(plan, arguments.by_cost,
                           [&](const SetAside& set_aside) { return set_aside_lines(set_aside, arguments, options); });
    return ExitCode::kDone;
  }
  const auto launched = launch(plan, executors, say_line);
  if (launched.proof)
    say_proof(plan.study, *launched.proof, options);
  else
    say_summary(plan.study, launched.ran, arguments, options);
  return launched.exit_code();
}

}  // namespace

int run_study(const RunArguments& arguments, const Options& options) {
  std::string dry_run;
  auto code = ExitCode::kDone;
  try {
    const StopOnSignal stop;
    code = run_or_plan(arguments, options, dry_run);
  } catch (const Interrupted& interrupted) {
    throw Error(fmt::format("{} before the first trial; the same command begins anew", interrupted.what()), interrupted.code());
  }
  if (!dry_run.empty()) print("{}", dry_run);  // `stop` is gone: Ctrl-C ends this process even if a pager does not read
  return static_cast<int>(code);
}

void add_run(CLI::App& app, const Options& options, int& exit_code) {
  auto* command = app.add_subcommand("run", "Run a study's trials; done trials are skipped")->group("Run ablations");
  auto arguments = std::make_shared<RunArguments>();
  auto* study = command->add_option("STUDY", arguments->file, "the TOML file")->check(not_empty())->type_name("");
  command->add_option("--set", arguments->overrides, "PATH=VALUE: replaces a value or an axis of the study; repeat it for more")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--only", arguments->only,
                   "only the trials whose keys begin with these digits, at least 4; the experiment keeps its other trials; "
                   "repeat the option for more")
      ->type_name("KEY")
      ->allow_extra_args(false);
  add_run_limits(*command, *arguments);
  add_share_options(*command, arguments->shares);
  command->add_flag("--again", arguments->again,
                    "also run done trials again, for example for new timings; tables use a trial's latest attempt");
  command->add_flag(
      "--dry-run", arguments->dry_run,
      "check everything that a run checks before it starts, data included, and print the trials with their keys; nothing is "
      "run or recorded");
  command->add_flag("--by-cost", arguments->by_cost,
                    "with --dry-run: list the trials to run before the others, by expected time; a run keeps the grid's order");
  command
      ->add_option(
          "--prove", arguments->prove,
          "after an edit of code that should change no number: repeat at least N trials of the old code on this machine, "
          "one for each setting of the edited plugin, [model], [task], type and threads; if all are equal to the last bit, "
          "trials with these settings stay done")
      ->check(whole_number(1, 100000, "trials to repeat"))
      ->type_name("N")
      ->excludes("--again", "--dry-run");
  auto* deleted =
      command
          ->add_option("--unprove", arguments->unprove,
                       "without a STUDY: delete this proof; trials that stayed done only because of it are no longer "
                       "done")
          ->check(whole_number(1, 999999999, "a proof's number"))
          ->type_name("NUMBER");
  command->footer("Example:\n  ablate run study.toml --set train.steps=50 --dry-run");
  command->callback([=, &options, &exit_code] {
    if (deleted->empty() && study->empty()) throw CLI::RequiredError("STUDY");
    if (arguments->by_cost && !arguments->dry_run) throw CLI::RequiresError("--by-cost", "--dry-run");
    check_share_options(arguments->shares);
    if (arguments->shares.any())
      for (const char* option : {"--only", "--again", "--prove", "--unprove"})
        if (!command->get_option(option)->empty()) throw CLI::ExcludesError(option, "a grid that is split into shares");
    if (arguments->dry_run && arguments->shares.any() && arguments->shares.share.empty())
      throw CLI::ExcludesError("--dry-run", "--slurm and --shares");
    if (deleted->empty() && arguments->shares.any()) return static_cast<void>(exit_code = run_with_shares(*arguments, options));
    if (deleted->empty()) return static_cast<void>(exit_code = run_study(*arguments, options));
    for (const auto* option : command->get_options())
      if (option != deleted && !option->empty()) throw CLI::ExcludesError("--unprove", option->get_name());
    exit_code = unprove(arguments->unprove, options.database_file());
  });
}

}  // namespace ablate
