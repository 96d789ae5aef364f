// Executors, which run jobs for the host: one at a time, and a new one if it dies. One is the local worker process; tests use a
// simulated one. Torch-free.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/host/client/job_outcome.h"
#include "core/shared/pipe.h"

namespace ablate {

/// What became of a job: an answer, or why there is none.
template <class Answer>
struct Answered {
  std::optional<Answer> answer;
  std::string failed;  ///< failure_text; "" where there is an answer
  bool fault = false;  ///< whether that is a plugin's
  bool late = false;   ///< it did not end in time
};

/// Takes commands and tells events, as core/shared/pipe.h has them. Ready when it is made; its jobs end with it. One thread.
class Executor {
 public:
  Executor() = default;
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Loads, starts a job, ends one, or asks for a word. Never waits, and never throws: next() tells what became of it.
  virtual void send(const Command& command) = 0;

  /// The next event, or nothing after the time-out. May return early. Throws WorkerEnded where the executor is gone.
  virtual std::optional<Event> next(int timeout_ms) = 0;

  /// Of the machine and the libraries that jobs run with: recorded with every attempt.
  virtual const nlohmann::json& environment() const = 0;

  /// Jobs at a time, 1 or more.
  virtual int most_jobs() const = 0;

  /// The number of the process that its jobs are children of; 0: there is none.
  virtual std::int64_t process() const { return 0; }

  /// Ends one that does not answer, and all of its jobs, at once. The next call of next() tells.
  virtual void give_up() = 0;

  /// Starts a job; next() tells of it by its number, which is negative: never that of a trial. @param timeout_s 0: none
  template <class Job>
  int start(const Job& job, double timeout_s = 0) {
    send(StartCommand{--last_job_, Job::kName, to_json(job), timeout_s});
    return last_job_;
  }

  /// Runs one job to its end. @param timeout_s after which it is ended; 0: none. Throws WorkerEnded, and Interrupted where a
  /// signal asks to stop: the job still runs then, and ends with the executor.
  template <class Job>
  Answered<typename Job::Answer> ask(const Job& job, double timeout_s = 0) {
    const auto [last, outcome, failed] = wait_for(start(job, timeout_s), timeout_s);
    Answered<typename Job::Answer> answered{.failed = failed, .fault = outcome.fault, .late = outcome.late()};
    if (outcome.done()) answered.answer = from_json<typename Job::Answer>(last);
    return answered;
  }

 private:
  struct Reply {
    nlohmann::json last;  ///< the job's last own message
    JobOutcome outcome;
    std::string failed;  ///< failure_text
  };
  Reply wait_for(int job, double timeout_s);

  int last_job_ = 0;
};

/// The executor itself died: a fault of a library that was loaded for all jobs, or somebody's kill.
struct WorkerEnded : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Starts an executor when one is needed, and another when it has died. The caller says how: local_workers() of start_worker.h,
/// or a test's own.
class Executors {
 public:
  using Note = std::function<void(const std::string&)>;  ///< takes a line for the user; may be empty
  /// Null where a signal asks to stop. Throws Error.
  using Start = std::function<std::unique_ptr<Executor>(const Note& note)>;

  explicit Executors(Start start) : start_(std::move(start)) {}

  /// The present one; null where there is none.
  Executor* now() const { return now_.get(); }
  /// The present one, else a new one. Throws Error, Interrupted.
  Executor& need(const Note& note = {});
  /// Ends the present one.
  void end() { now_.reset(); }
  /// Ends the present one, then starts another. @return null where a signal asks to stop. Throws Error.
  Executor* replace(const Note& note);

  /// Asks the executor. Where it dies, another one is asked once more: somebody may have killed it. A job with which two
  /// executors die has failed by its own fault. Throws Error where none can be started, Interrupted where a signal asks to
  /// stop.
  /// @param timeout_s 0: none
  template <class Job>
  Answered<typename Job::Answer> ask(const Job& job, double timeout_s) {
    for (int tries = 1;; ++tries) try {
        return need().ask(job, timeout_s);
      } catch (const WorkerEnded& ended) {
        end();
        if (tries == kMostAsked)
          return {.answer = {}, .failed = std::string("the worker died with it, twice: ") + ended.what(), .fault = true};
      }
  }

 private:
  static constexpr int kMostAsked = 2;

  Start start_;
  std::unique_ptr<Executor> now_;
};

}  // namespace ablate
