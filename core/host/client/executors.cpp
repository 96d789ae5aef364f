#include "core/host/client/executors.h"

#include "core/util/stop_on_signal.h"

namespace ablate {
namespace {

constexpr double kAnswer_s = 10;       ///< grace period after a job's time limit, for the worker's report
constexpr int kLongestWait_ms = 1000;  ///< longest single wait; short, because a signal just before the wait does not end it

}  // namespace

Executor::Reply Executor::wait_for(int job, double timeout_s) {
  HeardOfJob heard;
  Reply reply;
  for (double silent_s = 0;;) {
    const auto event = next(kLongestWait_ms);
    stop_if_asked();
    if (!event) silent_s += kLongestWait_ms / 1000.0;
    if (timeout_s > 0 && silent_s > timeout_s + kAnswer_s) give_up();  // the executor hangs; next() will report its end
    if (!event || job_of(*event) != job) continue;
    if (const auto* said = std::get_if<SaidEvent>(&*event); said != nullptr && heard.take(said->data)) {
      heard.answered();
      reply.last = said->data;
    }
    if (const auto outcome = heard.end(*event)) {
      reply.outcome = *outcome, reply.failed = failure_text(*outcome, timeout_s);
      return reply;
    }
  }
}

Executor& Executors::need(const Note& note) {
  if (!now_) now_ = start_(note);
  if (!now_) throw Interrupted();
  return *now_;
}

Executor* Executors::replace(const Note& note) {
  end();
  now_ = start_(note);
  return now_.get();
}

}  // namespace ablate
