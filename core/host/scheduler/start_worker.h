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

/// WorkerClient::ask, of a new worker where there is none. Where the worker dies, another one is asked once more: somebody's
/// kill says nothing of the job. Where that one dies, too, the answer is {"failed": "it took the worker with it: ...", "fault":
/// true}, and `worker` is null. Throws Error where no worker can be started, Interrupted where a signal asks to stop.
nlohmann::json ask_worker(std::unique_ptr<WorkerClient>& worker, const std::string& kind, const nlohmann::json& spec,
                          double timeout_s);

}  // namespace ablate
