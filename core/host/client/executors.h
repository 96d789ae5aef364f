// One executor at a time, and another where it dies.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/host/client/executor.h"

namespace ablate {

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
