// Workers, also where one dies.
#pragma once

#include <functional>
#include <memory>

#include "core/host/client/client.h"

namespace ablate {

/// A new worker; tried a few times, since what ended the last one may end the next, as the kernel does where memory is short.
/// Null where asked_to_stop. Throws Error. @param note takes a line for the user; may be empty
std::unique_ptr<WorkerClient> start_worker(const std::function<void(const std::string&)>& note = {},
                                           const char* program = WorkerClient::kWorker);

/// Asks, of a new worker where there is none. Where the worker dies, another one is asked once more: somebody's kill says
/// nothing of the job. Where that one dies, too, `lost` is told why, and `worker` is null.
void ask_worker(std::unique_ptr<WorkerClient>& worker, const std::function<void(WorkerClient&)>& ask,
                const std::function<void(const std::string& why)>& lost);

/// The answer of a job, so asked: one that takes two workers with it has failed by its fault. Throws Error where no worker can
/// be started, Interrupted where a signal asks to stop. @param timeout_s 0: none
template <class Job>
Answered<typename Job::Answer> ask_worker(std::unique_ptr<WorkerClient>& worker, const Job& job, double timeout_s) {
  Answered<typename Job::Answer> answered;
  ask_worker(
      worker, [&](WorkerClient& one) { answered = one.ask(job, timeout_s); },
      [&](const std::string& why) { answered = {.failed = why, .fault = true}; });
  return answered;
}

}  // namespace ablate
