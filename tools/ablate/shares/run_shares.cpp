// ablate run --plan and --share: divides a grid among machines; each share has its own history.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "core/host/client/start_worker.h"
#include "core/host/launch/launch.h"
#include "core/host/shares/share_files.h"
#include "core/host/shares/shared_copy.h"
#include "core/host/shares/shares_plan.h"
#include "core/host/slurm/submission.h"
#include "core/host/study/study.h"
#include "core/util/real_path.h"
#include "core/util/shell_word.h"
#include "core/util/stop_on_signal.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/dry_run.h"
#include "tools/ablate/questions/output_file.h"
#include "tools/ablate/shares/planned_shares.h"
#include "tools/ablate/shares/shares.h"
#include "tools/ablate/streams.h"
#include "tools/ablate/verdict_text.h"

namespace ablate {

namespace fs = std::filesystem;

fs::path shared_folder(const RunArguments& arguments) {
  return arguments.shares.shared.empty() ? default_shared_folder(arguments.file) : fs::path(arguments.shares.shared);
}

namespace {

/// Result of running one share.
struct ShareRun {
  ExitCode code = ExitCode::kDone;
  bool got_on = false;  ///< a trial ended, or a checkpoint was written
};

/// Share of a plan on this machine.
class Share {
 public:
  Share(const RunArguments& arguments, const Options& options, int index, slurm::TimeLimit& limit, Executors& executors)
      : arguments_(arguments),
        options_(options),
        index_(index),
        limit_(limit),
        executors_(executors),
        shared_(shared_folder(arguments)) {
    if (!options.database.empty() && real_path(options.database).parent_path() == real_path(shared_))
      throw Error(
          fmt::format("--db {}: found a file in the shared folder, which is for copies; expected a file of this machine",
                      options.database));
  }

  ShareRun run() {
    std::optional<ShareFolder> folder;  // removed again if no history is written to it
    if (options_.database.empty()) folder.emplace(shared_, index_);
    auto plan = planned(folder ? folder->history() : fs::path(options_.database));
    warn_of_verdicts(plan.used, options_);
    const auto of = choose(plan);
    plan.asked.listed_us = keep_plan(of);
    SharedCopy copy(plan.asked.database, shared_, index_, say_line);
    copy.bring();
    const auto before = copy.checkpoints();
    plan.asked.after_step = [&](std::int64_t written) {
      copy.keep_up(written);
      if (asked_to_stop == 0) limit_.look();  // a second signal would not wait for a checkpoint
    };
    const auto launched = [&] {
      try {
        return launch(plan, executors_, say_line);
      } catch (const Error&) {
        copy.finish();  // copies the trials that have run
        throw;
      }
    }();
    copy.finish();
    if (folder) folder->is_copied();
    const auto& ran = launched.ran;
    auto of_copy = options_;  // for commands that a user types next
    of_copy.database = copy.copy_file().string();
    say_summary(plan.study, ran, arguments_, of_copy);
    copy.expect_folder();
    if (!ran.interrupted)
      write_end(end_of_share(shared_, index_),
                {ran.done + ran.skipped + ran.elsewhere,
                 ran.failed + ran.failed_elsewhere + ran.not_started + ran.set_aside.total(), digest_of(of)});
    return {ran.interrupted ? ExitCode::kAgain : ran.exit_code(), ran.done + ran.failed > 0 || copy.checkpoints() != before};
  }

  void dry_run(std::string& text) {
    auto plan = planned(options_.database_file());
    choose(plan);
    text += plan.wanted.empty()
                ? fmt::format("share {} has no trials\n", index_)
                : dry_run_text(plan, arguments_.by_cost, [](const SetAside&) { return std::vector<std::string>(); });
  }

 private:
  /// Plans the study; writes nothing.
  PlannedStudy planned(const fs::path& history) {
    auto request = launch_request(arguments_, options_);
    request.database = history;  // not the user's own history, which may be on a disk shared by many machines
    return shareable(planned_study(request, options_, executors_));
  }

  /// Reduces the plan to the share's trials and returns the plan of all shares.
  SharesPlan choose(PlannedStudy& plan) const {
    const auto names = *share_names(arguments_.shares.share);
    const auto& file = arguments_.shares.plan;
    auto of = file.empty() ? make_shares(plan.study.name, plan.wanted, std::vector<double>(plan.wanted.size(), std::nan("")),
                                         {}, names.shares)
                           : read_shares(file);
    if (names.shares != of.shares)
      throw Error(fmt::format("--share {}: {} has {} shares, expected --share I/{}", arguments_.shares.share, file, of.shares,
                              of.shares));
    plan.wanted = trials_of(of, index_, plan.wanted, file);
    return of;
  }

  /// Writes the plan into the shared folder, so that others can watch the grid. All shares of a folder belong to one plan.
  /// @return time of the plan in microseconds since 1970, UTC. All shares use it for the grid, because machines' clocks differ.
  std::int64_t keep_plan(const SharesPlan& of) const {
    const auto file = plan_of_shares(shared_);
    std::error_code failed;
    if (fs::exists(file, failed)) {
      if (digest_of(read_shares(file)) != digest_of(of))
        throw Error(
            fmt::format("{} is another plan: the study, data or code has changed since, or the shares differ. `ablate "
                        "merge {}` copies the results of its shares; --shared names another folder.",
                        file.string(), shell_word(shared_.string())));
    } else {
      fs::create_directories(shared_, failed);
      if (failed) throw not_written(fmt::format("the shared folder {} cannot be made", shared_.string()), failed);
      write_shares(file, of);
    }
    const auto written = std::chrono::file_clock::to_sys(fs::last_write_time(file));
    return std::chrono::duration_cast<std::chrono::microseconds>(written.time_since_epoch()).count();
  }

  const RunArguments& arguments_;
  const Options& options_;
  int index_;
  slurm::TimeLimit& limit_;
  Executors& executors_;  ///< shared by all shares of this process
  fs::path shared_;
};

int own_task() {
  const char* task = std::getenv("SLURM_ARRAY_TASK_ID");
  return task == nullptr ? 0 : std::atoi(task);
}
std::string own_array() {
  const char* job = std::getenv("SLURM_ARRAY_JOB_ID");
  return job == nullptr ? "" : job;
}

/// Records how this Slurm task ended, unless the shared folder is unmounted: its next mount would hide the file.
void say_end(const fs::path& shared, const std::string& word) {
  if (std::error_code none; fs::exists(plan_of_shares(shared), none)) slurm::say_end(shared, own_array(), own_task(), word);
}

/// Puts a stopped Slurm task back into the queue if its kind of stop allows it, and returns the word that say_end() records.
/// @param is_near true if the job's time limit stopped the task
/// @param got_on true if this run of the job made progress
std::string go_on_later(const RunArguments& arguments, bool is_near, bool got_on) {
  using slurm::Next;
  const auto shared = shared_folder(arguments);
  const auto next = slurm::next_of_own_job();
  if (next == Next::kNothing) return "cancelled";
  if (next == Next::kBySlurm) return "requeued";
  if ((is_near || next == Next::kTimedOut) && !got_on) {
    say("ablate: this job has copied nothing new to the shared folder: no trial ended, no checkpoint was written, or the copy "
        "failed. It is not queued again. --time extends its time, experiment.checkpoint writes checkpoints more often.\n");
    return "time-limited";
  }
  if (next != Next::kSubmit) {
    say_end(shared, "requeued");  // requeueing ends this process
    const auto failed = slurm::requeue_own_job();
    if (failed.empty()) return "requeued";
    say("this job cannot be requeued ({}): it is submitted again\n", failed);
  }
  const auto job =
      slurm::submit({"--job-name=" + slurm::job_name(shared), fmt::format("--array={}", own_task()), arguments.shares.script});
  slurm::remember(shared, {job, {{own_task(), share_names(arguments.shares.share)->indexes}}});
  say("submitted again as job {}\n", job);
  return "resubmitted";
}

void end_task(const RunArguments& arguments, int code, bool is_near, bool got_on) {
  const bool was_stopped = code == static_cast<int>(ExitCode::kAgain) && asked_to_stop != 0;
  say_end(shared_folder(arguments), was_stopped ? go_on_later(arguments, is_near, got_on) : code == 0 ? "done" : "failed");
}

}  // namespace

void write_plan(const RunArguments& arguments, const Options& options) {
  auto executors = local_workers();
  const auto database = options.database_file();
  const auto plan = shareable(planned_study(launch_request(arguments, options), options, executors));
  const auto shared_out = planned_shares(plan, database, arguments.shares.shares);
  const OutputFile file{arguments.shares.plan, false, "--plan"};
  file.put_bytes([&](const db::Write& write) { write(shares_document(shared_out)); });
  print("{}", shares_text(shared_out));
  auto words = words_of_run(arguments, arguments.file, {});  // the history gave only the costs and belongs to no share
  for (const auto& folder : options.plugins) words.insert(words.begin(), {"--plugins", folder});
  words.insert(words.begin(), "ablate");
  words.insert(words.end(), {"--plan", arguments.shares.plan, "--share", fmt::format("I/{}", shared_out.shares)});
  for (auto& word : words) word = shell_word(word);
  say("each share: {}\n", fmt::join(words, " "));
}

int run_shares(const RunArguments& arguments, const Options& options) {
  const StopOnSignal stop;
  const auto names = *share_names(arguments.shares.share);
  auto executors = local_workers();
  if (arguments.dry_run) {
    std::string text;
    slurm::TimeLimit none({}, {});
    for (const int index : names.indexes) Share(arguments, options, index, none, executors).dry_run(text);
    print("{}", text);
    return 0;
  }
  bool is_near = false;
  slurm::TimeLimit limit(slurm::own_time_left, [&](double left_s) {
    say("the job's time is over in {:.0f} s: running trials are written to disk\n", left_s);
    is_near = true;
    std::raise(SIGUSR1);
  });
  int code = 0;
  bool got_on = false;
  const auto worse = [&](ExitCode other) { code = std::max(code, static_cast<int>(other)); };
  for (const int index : names.indexes) try {
      if (asked_to_stop != 0) worse(ExitCode::kAgain);
      if (code == static_cast<int>(ExitCode::kAgain)) break;
      const auto ended = Share(arguments, options, index, limit, executors).run();
      got_on = got_on || ended.got_on;
      worse(ended.code);
    } catch (const Interrupted& interrupted) {
      say("ablate: {} before the first trial of share {}; the same command begins it anew\n", interrupted.what(), index);
      worse(ExitCode::kAgain);
    } catch (const OtherBuild& other) {  // no share of this process can continue
      say("ablate: {}\n", other.what());
      worse(other.is_first ? other.code() : ExitCode::kAgain);
      break;
    } catch (const Error& error) {  // another share may still succeed
      say("{}{}\n", dynamic_cast<const ConfigError*>(&error) != nullptr ? "" : "ablate: ", error.what());
      worse(error.code());
      if (error.code() == ExitCode::kAgain) break;
    }
  if (!arguments.shares.script.empty()) end_task(arguments, code, is_near, got_on);
  return code;
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
