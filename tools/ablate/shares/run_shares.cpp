// ablate run --plan and --share: a grid shared out over machines, each share with a history of its own.
#include <fmt/format.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>

#include "core/host/client/start_worker.h"
#include "core/host/launch/launch.h"
#include "core/host/shares/share_place.h"
#include "core/host/shares/shared_copy.h"
#include "core/host/shares/shares_plan.h"
#include "core/host/slurm/submission.h"
#include "core/host/slurm/time_limit.h"
#include "core/records/checkpoint_files.h"
#include "core/util/stop_on_signal.h"
#include "db/history/artifacts.h"
#include "db/history/lineage.h"
#include "db/history/reader.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/dry_run.h"
#include "tools/ablate/expected_time.h"
#include "tools/ablate/shares/planned_shares.h"
#include "tools/ablate/shares/shares.h"
#include "tools/ablate/streams.h"
#include "tools/ablate/verdict_text.h"

namespace ablate {

namespace fs = std::filesystem;

namespace {

fs::path shared_folder(const RunArguments& arguments) {
  return arguments.shares.shared.empty() ? default_shared_folder(arguments.file) : fs::path(arguments.shares.shared);
}

/// How one share went.
struct ShareRun {
  ExitCode code = ExitCode::kDone;
  bool got_on = false;  ///< a trial ended, or a checkpoint was written
};

std::set<std::string> checkpoint_names(const fs::path& history) {
  std::set<std::string> names;
  for (const auto& file : checkpoint_files(db::artifact_folder(history, db::kCheckpoints)))
    names.insert(file.path.filename().string());
  return names;
}

/// A share of a plan, on this machine.
class Share {
 public:
  Share(const RunArguments& arguments, const Options& options, int index, slurm::TimeLimit& limit)
      : arguments_(arguments),
        options_(options),
        index_(index),
        limit_(limit),
        copy_(copy_of_share(shared_folder(arguments), index)) {
    of_copy_ = options;
    of_copy_.database = copy_.string();
  }

  ShareRun run() {
    std::optional<ShareFolder> folder;
    if (options_.database.empty()) folder.emplace(shared_folder(arguments_), index_);
    const auto history = folder ? folder->history() : fs::path(options_.database);
    if (std::error_code none; fs::equivalent(history, copy_, none))
      throw Error(
          fmt::format("--db {}: found the share's copy itself, expected a file of this machine alone", history.string()));
    SharedCopy copy(history, copy_, say_line);
    copy.bring();
    const auto before = checkpoint_names(copy_);
    auto executors = local_workers();
    auto request = launch_request(arguments_, options_);
    request.database = history;
    request.after_step = [&](std::int64_t written) {
      copy.keep_up(written);
      limit_.look();
    };
    auto plan = plan_study(
        request, [&] { return find_libraries(options_, executors); },
        [&](const std::string& id) { return where_plugins_are(options_, id); }, executors, say_line);
    warn_of_verdicts(plan.used, options_);
    const auto digest = choose(plan);
    const auto launched = launch(plan, executors, say_line);
    copy.finish();
    if (folder) folder->is_copied();
    const auto& ran = launched.ran;
    say_summary(plan.study, ran, arguments_, of_copy_);
    ShareRun end{ran.interrupted ? ExitCode::kAgain : ran.exit_code(),
                 ran.done + ran.failed > 0 || checkpoint_names(copy_) != before};
    if (!ran.interrupted)
      write_end(end_of_share(shared_folder(arguments_), index_),
                {ran.done + ran.skipped + ran.elsewhere,
                 ran.failed + ran.failed_elsewhere + ran.not_started + ran.set_aside.total(), digest});
    return end;
  }

  void dry_run(std::string& text) {
    auto executors = local_workers();
    auto plan = plan_study(
        launch_request(arguments_, options_), [&] { return find_libraries(options_, executors); },
        [&](const std::string& id) { return where_plugins_are(options_, id); }, executors, say_line);
    choose(plan);
    text += plan.chosen.empty()
                ? fmt::format("share {} has no trials\n", index_)
                : dry_run_text(plan, arguments_.by_cost, [](const SetAside&) { return std::vector<std::string>(); });
  }

 private:
  /// Leaves the share's trials alone in the plan. @return the digest of what it is a share of
  std::string choose(PlannedStudy& plan) const {
    const auto names = *share_names(arguments_.shares.share);
    const auto& file = arguments_.shares.plan;
    const auto shared_out = file.empty() ? make_shares(plan.study.name, plan.chosen,
                                                       std::vector<double>(plan.chosen.size(), std::nan("")), {}, names.shares)
                                         : read_shares(file);
    if (names.shares != shared_out.shares)
      throw Error(fmt::format("--share {}: {} has {} shares, expected --share I/{}", arguments_.shares.share, file,
                              shared_out.shares, shared_out.shares));
    plan.chosen = trials_of(shared_out, index_, plan.chosen, file);
    return digest_of(shared_out);
  }

  const RunArguments& arguments_;
  const Options& options_;
  int index_;
  slurm::TimeLimit& limit_;
  fs::path copy_;
  Options of_copy_;  ///< for commands that a user types next
};

int own_task() {
  const char* task = std::getenv("SLURM_ARRAY_TASK_ID");
  return task == nullptr ? 0 : std::atoi(task);
}
std::string own_array() {
  const char* job = std::getenv("SLURM_ARRAY_JOB_ID");
  return job == nullptr ? "" : job;
}

/// A task of Slurm's was stopped: it goes back into the queue, where that is what its stop means.
void go_on_later(const RunArguments& arguments, bool by_time) {
  const auto shared = shared_folder(arguments);
  const auto say_so = [&](const std::string& word) { slurm::say_end(shared, own_array(), own_task(), word); };
  const auto next = by_time ? slurm::Next::kRequeue : slurm::next_of_own_job();
  if (next == slurm::Next::kNothing) return say_so("cancelled");
  if (next == slurm::Next::kRequeue) {
    say_so("time-limited");
    const auto failed = slurm::requeue_own_job();
    if (failed.empty()) return;
    say("this job cannot be requeued ({}): it is submitted again\n", failed);
  }
  const auto job = slurm::submit({fmt::format("--array={}", own_task()), arguments.shares.script});
  slurm::remember(shared, {job, {{own_task(), share_names(arguments.shares.share)->indexes}}});
  say_so("resubmitted");
  say("submitted again as job {}\n", job);
}

}  // namespace

void write_plan(const RunArguments& arguments, const Options& options) {
  auto executors = local_workers();
  const auto database = options.database_file();
  const auto plan = plan_study(
      launch_request(arguments, options), [&] { return find_libraries(options, executors); },
      [&](const std::string& id) { return where_plugins_are(options, id); }, executors, say_line);
  const auto shared_out = planned_shares(plan, database, arguments.shares.shares);
  write_shares(arguments.shares.plan, shared_out);
  print("{}", shares_text(shared_out));
  say("plan: {}; each share: {}\n", path_text(arguments.shares.plan),
      next_command(options, {"run", arguments.file, "--plan", arguments.shares.plan, "--share",
                             fmt::format("I/{}", shared_out.shares)}));
}

int run_shares(const RunArguments& arguments, const Options& options) {
  const StopOnSignal stop;
  const auto names = *share_names(arguments.shares.share);
  if (arguments.dry_run) {
    std::string text;
    slurm::TimeLimit none({}, {});
    for (const int index : names.indexes) Share(arguments, options, index, none).dry_run(text);
    print("{}", text);
    return 0;
  }
  bool is_near = false;
  slurm::TimeLimit limit(slurm::own_time_left, [&](double left_s) {
    say("the job's time is over in {:.0f} s: what runs is written to disk\n", left_s);
    is_near = true;
    std::raise(SIGUSR1);
  });
  ExitCode code = ExitCode::kDone;
  bool got_on = false;
  try {
    for (const int index : names.indexes) {
      if (asked_to_stop != 0) code = ExitCode::kAgain;
      if (code == ExitCode::kAgain) break;
      const auto ended = Share(arguments, options, index, limit).run();
      got_on = got_on || ended.got_on;
      if (ended.code != ExitCode::kDone) code = ended.code;
    }
  } catch (const Interrupted& interrupted) {
    say("ablate: {} before the first trial of a share; the same command begins it anew\n", interrupted.what());
    code = ExitCode::kAgain;
  }
  if (!arguments.shares.script.empty()) {
    if (code != ExitCode::kAgain)
      slurm::say_end(shared_folder(arguments), own_array(), own_task(), code == ExitCode::kDone ? "done" : "failed");
    else if (is_near && !got_on) {
      slurm::say_end(shared_folder(arguments), own_array(), own_task(), "time-limited");
      say("ablate: in the whole time of this job no trial ended and no checkpoint was written: it is not queued again. --time "
          "gives it more, experiment.checkpoint writes more often.\n");
    } else
      go_on_later(arguments, is_near);
  }
  return static_cast<int>(code);
}

int run_with_shares(const RunArguments& arguments, const Options& options) {
  if (!arguments.shares.share.empty()) return run_shares(arguments, options);
  const StopOnSignal stop;
  if (arguments.shares.slurm.submit)
    submit_shares(arguments, options);
  else
    write_plan(arguments, options);
  return 0;
}

}  // namespace ablate
