#include "core/host/scheduler/start_worker.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "core/util/stop_on_signal.h"

namespace ablate {
namespace {

constexpr int kMostStarts = 3, kMostAsked = 2;

}  // namespace

std::unique_ptr<WorkerClient> start_worker(const std::function<void(const std::string&)>& note, const char* program) {
  for (int tries = 1; asked_to_stop == 0; ++tries) try {
      return std::make_unique<WorkerClient>(program);
    } catch (const WorkerMissing&) {
      throw;
    } catch (const Interrupted&) {
      break;
    } catch (const Error& error) {
      if (tries == kMostStarts) throw;
      if (note) note(fmt::format("warning: {}; trying again", error.what()));
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  return nullptr;
}

void ask_worker(std::unique_ptr<WorkerClient>& worker, const std::function<void(WorkerClient&)>& ask,
                const std::function<void(const std::string& why)>& lost) {
  for (int tries = 1;; ++tries) try {
      if (!worker) worker = start_worker();
      if (!worker) throw Interrupted();
      return ask(*worker);
    } catch (const WorkerEnded& ended) {
      worker.reset();
      if (tries == kMostAsked) return lost(fmt::format("it took the worker with it: {}", ended.what()));
    }
}

}  // namespace ablate
