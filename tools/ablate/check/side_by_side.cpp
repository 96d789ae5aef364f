#include "tools/ablate/check/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "core/util/stop_on_signal.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

constexpr double kAnswer_s = 10;  ///< time for a worker to report that a job has timed out

class SideBySide {
 public:
  SideBySide(std::vector<ListenedCheck> jobs, int at_a_time, double timeout_s, Executors& checkers)
      : at_a_time_(static_cast<std::size_t>(at_a_time)), timeout_s_(timeout_s), checkers_(checkers) {
    for (auto& job : jobs) waiting_.push_back({std::move(job), false});
  }

  void run() {
    const StopOnSignal stop;
    while (!waiting_.empty() || !running_.empty()) try {
        checkers_.need(say_line);
        start_some();
        take(checkers_.now()->next(1000));
        stop_if_asked();
      } catch (const WorkerEnded& ended) {
        checkers_.end();
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
    bool alone;  ///< true if this is the job's second run, without other jobs
    HeardOfJob heard;
  };

  void start_some() {
    const auto most = std::min(at_a_time_, static_cast<std::size_t>(checkers_.now()->most_jobs()));
    while (!waiting_.empty() && running_.size() < most && !(one_alone_ && !running_.empty())) {
      auto& [job, alone] = waiting_.front();
      if (alone && !running_.empty()) return;
      one_alone_ = alone;
      const int number = std::visit([&](const auto& one) { return checkers_.now()->start(one, timeout_s_); }, job.job);
      running_.emplace(number, Running{std::move(job), alone, {}});
      waiting_.pop_front();
    }
  }

  void take(const std::optional<Event>& event) {
    silent_s_ = event ? 0 : silent_s_ + 1;
    if (silent_s_ > timeout_s_ + kAnswer_s) checkers_.now()->give_up();  // stops the worker; next() reports the loss
    if (!event) return;
    const auto found = running_.find(job_of(*event));
    if (found == running_.end()) return;
    auto& [job, alone, heard] = found->second;
    if (const auto* said = std::get_if<SaidEvent>(&*event); said != nullptr && heard.take(said->data)) {
      heard.answered();
      job.hear(check_said_from_json(said->data));
    }
    if (const auto outcome = heard.end(*event)) {
      const auto why = failure_text(*outcome, timeout_s_);
      if (outcome->broken_off() && !alone)
        begin_anew(job, why);
      else
        job.end(*outcome, why);
      running_.erase(found);
    }
  }

  void give_back(const std::string& why) {
    silent_s_ = 0;
    // Job numbers count down, so the loop ends with the job that started first. That job is then the first of the queue again.
    for (auto& [number, running] : running_)
      if (running.alone)
        running.job.end(HeardOfJob::lost(why), why);
      else
        begin_anew(running.job, why);
    running_.clear();
  }

  void begin_anew(ListenedCheck& job, const std::string& why) {
    say("broken off: {}; once more, alone\n", why);
    if (job.again) job.again();
    waiting_.push_front({std::move(job), true});
  }

  std::size_t at_a_time_;
  double timeout_s_;
  Executors& checkers_;
  std::deque<Waiting> waiting_;
  std::map<int, Running> running_;
  bool one_alone_ = false;
  double silent_s_ = 0;
};

}  // namespace

void run_side_by_side(std::vector<ListenedCheck> jobs, int at_a_time, double timeout_s, Executors& checkers) {
  SideBySide(std::move(jobs), at_a_time, timeout_s, checkers).run();
}

}  // namespace ablate
