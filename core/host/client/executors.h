// Executors run jobs for the host. There is one executor at a time. If it dies, a new one is started. In a run the executor is
// the local worker process; tests use a simulated one. Torch-free.
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

/// Result of a job: an answer, or the reason why there is none.
template <class Answer>
struct Answered {
  std::optional<Answer> answer;
  std::string failed;  ///< failure_text; "" if there is an answer
  bool fault = false;  ///< true if a plugin caused the failure
  bool late = false;   ///< true if the job exceeded its time limit
};

/// Runs commands and reports events (core/shared/pipe.h). Ready once constructed. The destructor ends all jobs. For one thread.
class Executor {
 public:
  Executor() = default;
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Sends a command: load, start or end a job, save, or ping. Never waits or throws; next() reports the result.
  virtual void send(const Command& command) = 0;

  /// Returns the next event, or nullopt at the time-out or a signal. Throws WorkerEnded if the executor is gone.
  virtual std::optional<Event> next(int timeout_ms) = 0;

  /// Describes the machine and the libraries that jobs run with. Recorded with every attempt.
  virtual const nlohmann::json& environment() const = 0;

  /// Largest number of jobs at a time; 1 or more.
  virtual int most_jobs() const = 0;

  /// PID of the parent process of the executor's jobs, or 0 if there is none.
  virtual std::int64_t process() const { return 0; }

  /// Ends an executor that does not answer, and all its jobs, at once. The next call of next() reports the end.
  virtual void give_up() = 0;

  /// Starts a job, without a time limit if `timeout_s` is 0. Returns the job's number in events: a negative number,
  /// because the numbers of trials are positive.
  template <class Job>
  int start(const Job& job, double timeout_s = 0) {
    send(StartCommand{--last_job_, Job::kName, to_json(job), timeout_s});
    return last_job_;
  }

  /// Runs one job to its end, without a time limit if `timeout_s` is 0. Throws WorkerEnded, or Interrupted if a signal asks to
  /// stop. After Interrupted, the job still runs, and ends with the executor.
  template <class Job>
  Answered<typename Job::Answer> ask(const Job& job, double timeout_s = 0) {
    const auto [last, outcome, failed] = wait_for(start(job, timeout_s), timeout_s);
    Answered<typename Job::Answer> answered{.failed = failed, .fault = outcome.fault, .late = outcome.late()};
    if (outcome.done()) answered.answer = from_json<typename Job::Answer>(last);
    return answered;
  }

 private:
  struct Reply {
    nlohmann::json last;  ///< last message that reports no failure or crash
    JobOutcome outcome;
    std::string failed;  ///< failure_text
  };
  Reply wait_for(int job, double timeout_s);

  int last_job_ = 0;
};

/// Thrown when the executor itself died. A library that was loaded for all jobs is at fault, or the process was killed.
struct WorkerEnded : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Starts an executor when one is needed, and a new one when it has died. The caller provides the start function, for example
/// local_workers() of start_worker.h.
class Executors {
 public:
  using Note = std::function<void(const std::string&)>;  ///< receives a line for the user; may be empty
  /// Returns null if a signal asks to stop. Throws Error.
  using Start = std::function<std::unique_ptr<Executor>(const Note& note)>;

  explicit Executors(Start start) : start_(std::move(start)) {}

  /// Returns the present executor, or null if there is none.
  Executor* now() const { return now_.get(); }
  /// Returns the present executor, or starts one. Throws Error, Interrupted.
  Executor& need(const Note& note = {});
  /// Ends the present executor.
  void end() { now_.reset(); }
  /// Ends the present executor, then starts a new one. Returns null if a signal asks to stop. Throws Error.
  Executor* replace(const Note& note);

  /// Runs a job on the executor, without a time limit if `timeout_s` is 0. If the executor dies, for example by a kill from
  /// outside, a new executor tries the job once more. A job that ends two executors has failed by its own fault. Throws Error
  /// if no executor can be started, Interrupted if a signal asks to stop.
  template <class Job>
  Answered<typename Job::Answer> ask(const Job& job, double timeout_s) {
    for (int tries = 1;; ++tries) try {
        return need().ask(job, timeout_s);
      } catch (const WorkerEnded& ended) {
        end();
        if (tries == kMostAsked)
          return {.answer = {}, .failed = std::string("the worker died twice during this job: ") + ended.what(), .fault = true};
      }
  }

 private:
  static constexpr int kMostAsked = 2;

  Start start_;
  std::unique_ptr<Executor> now_;
};

}  // namespace ablate
