// ablate watch --shared: where a grid stands whose shares run elsewhere.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/host/shares/share_place.h"
#include "core/host/shares/shares_plan.h"
#include "core/host/slurm/submission.h"
#include "core/util/clock.h"
#include "core/util/error.h"
#include "db/history/reader.h"
#include "db/questions/watch_state.h"
#include "db/report/format.h"
#include "tools/ablate/shares/shares.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

/// By the share's copied history: how many of its trials are done and failed, and what it said last that runs.
struct ShareState {
  std::size_t trials = 0, done = 0, failed = 0;
  bool has_ended = false;
  std::vector<std::string> running;  ///< labels, with their steps
};

ShareState state_of(const fs::path& shared, const SharesPlan& plan, int index, const std::string& digest) {
  ShareState state;
  for (const auto& trial : plan.trials) state.trials += trial.share == index ? 1 : 0;
  ShareEnd end;
  state.has_ended = read_end(end_of_share(shared, index), digest, end);
  if (state.has_ended) {
    state.done = static_cast<std::size_t>(end.done), state.failed = static_cast<std::size_t>(end.failed);
    return state;
  }
  const auto copy = copy_of_share(shared, index);
  std::error_code none;
  if (!fs::exists(copy, none)) return state;
  const db::Reader reader(copy);
  const auto names = reader.experiments();
  if (std::find(names.begin(), names.end(), plan.experiment) == names.end()) return state;
  const auto watched = db::watch_state(reader, plan.experiment, machine_clock().since_1970_us());
  state.done = static_cast<std::size_t>(watched.done), state.failed = static_cast<std::size_t>(watched.failed);
  for (const auto& trial : watched.running)
    state.running.push_back(trial.steps > 0 ? fmt::format("{}, step {} of {}", trial.label, trial.step, trial.steps)
                                            : trial.label);
  return state;
}

/// Of each share the latest task that has it, and how that one stands; none where no job was ever submitted.
std::map<int, std::string> jobs_of_shares(const fs::path& shared, const std::vector<slurm::QueuedTask>& queue,
                                          std::map<std::string, std::size_t>& tasks) {
  std::map<int, std::string> standing;
  for (const auto& submission : slurm::submissions(shared))
    for (const auto& [task, shares] : submission.shares) {
      const auto found = std::find_if(queue.begin(), queue.end(), [&, task = task](const auto& one) {
        return one.array == submission.job && one.task == task;
      });
      const auto word =
          slurm::standing_of(found == queue.end() ? nullptr : &*found, slurm::end_of(shared, submission.job, task));
      if (word != "resubmitted") ++tasks[word];
      for (const int share : shares) standing[share] = fmt::format("{} ({}_{})", word, submission.job, task);
    }
  return standing;
}

}  // namespace

std::string shares_standing(const fs::path& shared) {
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
      trouble = fmt::format("{}; jobs are shown by their own last word\n", db::one_row(error.what()));
    }
    jobs = jobs_of_shares(shared, queue, tasks);
    std::vector<std::string> words;
    for (const auto& [word, count] : tasks) words.push_back(fmt::format("{} {}", count, word));
    text += fmt::format("jobs: {}\n", fmt::join(words, ", "));
  }
  for (int index = 0; index < plan.shares; ++index) {
    const auto& state = states[static_cast<std::size_t>(index)];
    if (state.has_ended && state.failed == 0) continue;
    const auto job = jobs.find(index);
    text += fmt::format("  share {}: {} of {} done{}{}\n", index, state.done, state.trials,
                        state.failed > 0 ? fmt::format(", {} failed", state.failed) : "",
                        state.has_ended     ? "; ended"
                        : job == jobs.end() ? ""
                                            : "; job " + job->second);
    for (const auto& running : state.running) text += fmt::format("    last seen running: {}\n", db::one_row(running));
  }
  return text + trouble;
}

}  // namespace ablate
