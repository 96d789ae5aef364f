// ablate watch --shared: progress of a grid whose shares run elsewhere.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/host/shares/share_files.h"
#include "core/host/shares/shares_plan.h"
#include "core/host/slurm/submission.h"
#include "core/records/outcome.h"
#include "core/util/clock.h"
#include "core/util/error.h"
#include "db/history/lineage.h"
#include "db/history/past_tries.h"
#include "db/history/reader.h"
#include "db/questions/attempts/watch_state.h"
#include "db/report/format.h"
#include "tools/ablate/shares/shares.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

/// State of a share from the copies of its runs: done and failed trials, and the last message of running trials.
struct ShareState {
  std::size_t trials = 0, done = 0, failed = 0;
  bool has_ended = false;
  std::vector<std::string> running;  ///< labels and steps
  std::string trouble;               ///< error of a copy that cannot be read
};

/// Adds the contents of one copy. `keys` are the keys of the share's trials.
void look_at(const fs::path& copy, const SharesPlan& plan, const std::vector<std::string>& keys, std::set<std::string>& done,
             std::set<std::string>& failed, std::vector<std::string>& running) {
  const db::Reader reader(copy);
  for (const auto& [key, attempt] : db::done_attempts(reader, keys)) done.insert(key);
  for (const auto& [key, past] : db::past_tries(reader, keys))
    if (std::any_of(past.outcomes.begin(), past.outcomes.end(), [](const auto& one) { return counts_as_failed(one); }))
      failed.insert(key);
  const auto names = reader.experiments();
  if (std::find(names.begin(), names.end(), plan.experiment) == names.end()) return;
  for (const auto& trial : db::watch_state(reader, plan.experiment, machine_clock().since_1970_us()).running)
    running.push_back(trial.steps > 0 ? fmt::format("{}, step {} of {}", trial.label, trial.step, trial.steps) : trial.label);
}

ShareState state_of(const fs::path& shared, const SharesPlan& plan, int index, const std::string& digest) {
  ShareState state;
  std::vector<std::string> keys;
  for (const auto& trial : plan.trials)
    if (trial.share == index) keys.push_back(trial.key);
  state.trials = keys.size();
  ShareEnd end;
  state.has_ended = read_end(end_of_share(shared, index), digest, end);
  std::set<std::string> done, failed;
  for (const auto& copy : copies_of_share(shared, index)) try {
      look_at(copy, plan, keys, done, failed, state.running);
    } catch (const Error& error) {
      if (std::error_code none; fs::exists(copy, none)) state.trouble = error.what();
    }
  for (const auto& key : done) failed.erase(key);
  state.done = done.size(), state.failed = failed.size();
  if (state.has_ended) state.running.clear();
  return state;
}

/// Returns the state of each share's latest Slurm task, if any. Counts all tasks except resubmitted tasks by state in `tasks`.
std::map<int, std::string> jobs_of_shares(const fs::path& shared, const std::vector<slurm::QueuedTask>& queue,
                                          bool queue_is_known, std::map<std::string, std::size_t>& tasks) {
  std::map<int, std::string> standing;
  for (const auto& submission : slurm::submissions(shared))
    for (const auto& [task, shares] : submission.shares) {
      const auto found = std::find_if(queue.begin(), queue.end(), [&, task = task](const auto& one) {
        return one.array == submission.job && (one.task == task || one.task == slurm::QueuedTask::kAll);
      });
      const auto last = slurm::end_of(shared, submission.job, task);
      const auto word = !queue_is_known && (last.empty() || last == "requeued")
                            ? std::string("not known")
                            : slurm::standing_of(found == queue.end() ? nullptr : &*found, last);
      if (word != "resubmitted") ++tasks[word];
      for (const int share : shares) standing[share] = fmt::format("{} ({}_{})", word, submission.job, task);
    }
  return standing;
}

}  // namespace

std::string shares_standing(const fs::path& shared) {
  if (std::error_code none; !fs::exists(plan_of_shares(shared), none))
    throw Error(fmt::format("found no shares in {}: expected a folder in which `ablate run --share` or --slurm has left {}",
                            shared.string(), plan_of_shares(shared).filename().string()));
  const auto plan = read_shares(plan_of_shares(shared));
  const auto digest = digest_of(plan);
  std::vector<ShareState> states;
  for (int index = 0; index < plan.shares; ++index) states.push_back(state_of(shared, plan, index, digest));
  std::size_t done = 0, failed = 0, trials = 0, ended = 0, before = 0;
  for (const auto& trial : plan.trials) before += trial.share == SharedTrial::kDoneBefore ? 1 : 0;
  for (const auto& state : states)
    done += state.done, failed += state.failed, trials += state.trials, ended += state.has_ended ? 1 : 0;
  auto text = fmt::format("{}: {} of {} trials done, {} failed{}; {} of {} shares ended\n", db::one_row(plan.experiment), done,
                          trials, failed, before > 0 ? fmt::format(", {} done before", before) : "", ended, plan.shares);
  std::map<std::string, std::size_t> tasks;
  std::map<int, std::string> jobs;
  std::string trouble;
  if (!slurm::submissions(shared).empty()) {
    std::vector<slurm::QueuedTask> queue;
    try {
      queue = slurm::queued(slurm::job_name(shared));
    } catch (const Error& error) {
      trouble = fmt::format("{}: only the last messages of the jobs are known\n", db::one_row(error.what()));
    }
    jobs = jobs_of_shares(shared, queue, trouble.empty(), tasks);
    std::vector<std::string> words;
    for (const auto& [word, count] : tasks) words.push_back(fmt::format("{} {}", count, word));
    text += fmt::format("array tasks: {}\n", fmt::join(words, ", "));
  }
  for (int index = 0; index < plan.shares; ++index) {
    const auto& state = states[static_cast<std::size_t>(index)];
    if (state.has_ended && state.failed == 0 && state.trouble.empty()) continue;
    const auto job = jobs.find(index);
    text += fmt::format("  share {}: {} of {} done{}{}\n", index, state.done, state.trials,
                        state.failed > 0 ? fmt::format(", {} failed", state.failed) : "",
                        state.has_ended     ? "; ended"
                        : job == jobs.end() ? ""
                                            : "; job " + job->second);
    if (!state.trouble.empty()) text += fmt::format("    {}\n", db::one_row(state.trouble));
    for (const auto& running : state.running) text += fmt::format("    last seen running: {}\n", db::one_row(running));
  }
  return text + trouble;
}

}  // namespace ablate
