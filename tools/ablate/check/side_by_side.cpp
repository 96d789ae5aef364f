#include "tools/ablate/check/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "core/host/scheduler/start_worker.h"
#include "core/util/stop_on_signal.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

constexpr double kAnswer_s = 10;  ///< for a worker to tell that a job's time is over

class SideBySide {
 public:
  SideBySide(std::vector<ListenedCheck> jobs, int at_a_time, double timeout_s, std::unique_ptr<WorkerClient>& checker)
      : at_a_time_(static_cast<std::size_t>(at_a_time)), timeout_s_(timeout_s), checker_(checker) {
    for (auto& job : jobs) waiting_.push_back({std::move(job), false});
  }

  void run() {
    const StopOnSignal stop;
    while (!waiting_.empty() || !running_.empty()) try {
        if (!checker_) checker_ = start_checker();
        start_some();
        take(checker_->next(1000));
        stop_if_asked();
      } catch (const WorkerEnded& ended) {
        checker_.reset();
        give_back(fmt::format("the worker ended ({})", ended.what()));
      }
  }

 private:
  struct Waiting {
    ListenedCheck job;
    bool alone;
  };
  struct Running {
    ListenedCheck job;
    HeardOfJob heard;
  };

  void start_some() {
    const auto most = std::min(at_a_time_, static_cast<std::size_t>(checker_->most_jobs()));
    while (!waiting_.empty() && running_.size() < most && !(one_alone_ && !running_.empty())) {
      auto& [job, alone] = waiting_.front();
      if (alone && !running_.empty()) return;
      one_alone_ = alone;
      const int number = std::visit([&](const auto& one) { return checker_->start(one, timeout_s_); }, job.job);
      running_.emplace(number, Running{std::move(job), {}});
      waiting_.pop_front();
    }
  }

  void take(const std::optional<Event>& event) {
    silent_s_ = event ? 0 : silent_s_ + 1;
    if (silent_s_ > timeout_s_ + kAnswer_s) checker_->give_up();  // it is stopped; next() will tell
    if (!event) return;
    const auto found = running_.find(job_of(*event));
    if (found == running_.end()) return;
    auto& [job, heard] = found->second;
    if (const auto* said = std::get_if<SaidEvent>(&*event); said != nullptr && heard.take(said->data)) {
      heard.answered();
      job.hear(check_said_from_json(said->data));
    }
    if (const auto outcome = heard.end(*event)) {
      job.end(*outcome, failure_text(*outcome, timeout_s_));
      running_.erase(found);
    }
  }

  void give_back(const std::string& why) {
    silent_s_ = 0;
    const bool told = running_.size() == 1;
    // The numbers fall: the last of the map was started first, and comes first again.
    for (auto& [number, running] : running_) {
      if (told) {
        running.job.end(HeardOfJob::lost(why), why);
      } else {
        if (running.job.again) running.job.again();
        waiting_.push_front({std::move(running.job), true});
      }
    }
    running_.clear();
  }

  std::size_t at_a_time_;
  double timeout_s_;
  std::unique_ptr<WorkerClient>& checker_;
  std::deque<Waiting> waiting_;
  std::map<int, Running> running_;
  bool one_alone_ = false;
  double silent_s_ = 0;
};

}  // namespace

std::unique_ptr<WorkerClient> start_checker() {
  auto checker = start_worker([](const std::string& text) { say("{}\n", text); }, WorkerClient::kChecker);
  if (!checker) throw Interrupted();
  return checker;
}

void run_side_by_side(std::vector<ListenedCheck> jobs, int at_a_time, double timeout_s,
                      std::unique_ptr<WorkerClient>& checker) {
  SideBySide(std::move(jobs), at_a_time, timeout_s, checker).run();
}

}  // namespace ablate
