#include "core/host/client/start_worker.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "core/host/client/client.h"
#include "core/util/stop_on_signal.h"

namespace ablate {
namespace {

constexpr int kMostStarts = 3;
constexpr double kReady_s = 120;

std::unique_ptr<Executor> try_to_start(const char* program, const Executors::Note& note) {
  for (int tries = 1; asked_to_stop == 0; ++tries) try {
      return start_worker(program, kReady_s);
    } catch (const WorkerMissing&) {
      throw;
    } catch (const OtherBuild&) {
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

}  // namespace

std::unique_ptr<Executor> start_worker(const char* program, double ready_s) {
  return std::make_unique<WorkerClient>(program, ready_s);
}

Executors local_workers(const char* program) {
  return Executors([program, is_first = true](const Executors::Note& note) mutable {
    try {
      auto worker = try_to_start(program, note);
      is_first = false;
      return worker;
    } catch (OtherBuild& other) {
      other.is_first = is_first;
      throw;
    }
  });
}

}  // namespace ablate
