// What runs jobs for the host: the local worker process is one, a simulated one serves the tests. Torch-free.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

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

}  // namespace ablate
