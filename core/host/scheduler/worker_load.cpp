#include "core/host/scheduler/worker_load.h"

#include <fmt/format.h>

#include <chrono>
#include <set>
#include <thread>

#include "core/host/scheduler/stop_on_signal.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr int kMostTries = 5;

json request(const std::deque<const PlannedTrial*>& waiting, LibraryWatch& watch) {
  json libraries = json::array(), tasks = json::array(), hashes = json::object();
  std::set<std::string> sections;
  bool cuda = false;
  for (const auto* planned : waiting) {
    for (const auto& plugin : planned->plugins) {
      if (hashes.contains(plugin.path)) continue;
      hashes[plugin.path] = plugin.content_hash;
      libraries.push_back(plugin.path);
      watch.remember({plugin});
    }
    const auto& resolved = planned->trial->resolved;
    if (sections.insert(resolved.at("task").dump()).second)
      tasks.push_back({{"section", resolved.at("task")},
                       {"digest", planned->data_digest},
                       {"files", planned_files(*planned->trial, "task")}});
    cuda = cuda || resolved.at("train").at("device").get<std::string>().starts_with("cuda");
  }
  return {{"do", "load"}, {"libraries", libraries}, {"hashes", hashes}, {"tasks", tasks}, {"cuda", cuda}};
}

}  // namespace

std::unique_ptr<WorkerClient> start_worker(const std::function<void(const std::string&)>& note) {
  for (int tries = 1; asked_to_stop == 0; ++tries) try {
      return std::make_unique<WorkerClient>();
    } catch (const Error& error) {
      if (tries == kMostTries) throw;
      note(fmt::format("warning: {}; trying again", error.what()));
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  return nullptr;
}

void load_worker(WorkerClient& worker, const std::deque<const PlannedTrial*>& waiting, LibraryWatch& watch, double limit_s) {
  using Clock = std::chrono::steady_clock;
  worker.send(request(waiting, watch));
  const auto start = Clock::now();
  try {
    for (;;) {
      const auto event = worker.next(1000);
      if (asked_to_stop != 0) return worker.give_up();
      if (event && event->at("event") == "loaded") return;
      if (event && event->at("event") == "refused")
        throw Error(event->value("reason", "?"),
                    static_cast<ExitCode>(event->value("code", static_cast<int>(ExitCode::kPlugin))));
      if (std::chrono::duration<double>(Clock::now() - start).count() > limit_s) {
        worker.give_up();
        throw Error(fmt::format("the worker did not load the study's plugins and data within {:g} s, though each was loaded by "
                                "itself before: a load() that hangs with one thread or with a cache?",
                                limit_s),
                    ExitCode::kPlugin);
      }
    }
  } catch (const WorkerEnded& ended) {
    throw Error(fmt::format("the worker ended while it loaded the study's plugins and data: {}", ended.what()),
                ExitCode::kPlugin);
  }
}

}  // namespace ablate
