// One executor at a time, also where one dies.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/host/client/executor.h"

namespace ablate {

/// Starts an executor where somebody needs one, and another where it died. How, whoever makes this says: local_workers() of
/// start_worker.h, or a test.
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

  /// Asks. Where the executor dies, another one is asked once more: somebody's kill says nothing of the job. One that takes two
  /// with it has failed by its fault. Throws Error where none can be started, Interrupted where a signal asks to stop.
  /// @param timeout_s 0: none
  template <class Job>
  Answered<typename Job::Answer> ask(const Job& job, double timeout_s) {
    for (int tries = 1;; ++tries) try {
        return need().ask(job, timeout_s);
      } catch (const WorkerEnded& ended) {
        end();
        if (tries == kMostAsked)
          return {.answer = {}, .failed = std::string("it took the worker with it: ") + ended.what(), .fault = true};
      }
  }

 private:
  static constexpr int kMostAsked = 2;

  Start start_;
  std::unique_ptr<Executor> now_;
};

}  // namespace ablate
