// Jobs that a worker does for the scheduler: a table with one file for each job in core/trial/server/handlers.
#pragma once

#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/trial/server/loaded.h"
#include "core/trial/server/server.h"

namespace ablate {

/// Function that does one job in a child: parses the job and sends its answer.
using Handler = void (*)(LoadedParts& loaded, const nlohmann::json& spec, const Say& say);
using Handlers = std::map<std::string, Handler>;

struct NamedHandler {
  const char* kind;  ///< kName of its job
  Handler handle;
};

/// Returns the handler of a job. `handle` takes the job and returns its answer, or sends all answers itself.
template <class Job, auto handle>
constexpr NamedHandler handler() {
  return {Job::kName, [](LoadedParts& loaded, const nlohmann::json& spec, const Say& say) {
            const auto job = from_json<Job>(spec);
            if constexpr (std::is_invocable_v<decltype(handle), LoadedParts&, const Job&, const Say&>) {
              handle(loaded, job, say);
            } else {
              const typename Job::Answer answer = handle(loaded, job);
              say(to_json(answer));
            }
          }};
}

/// Returns the handlers of a study's jobs and of `more` jobs.
Handlers study_handlers(const std::vector<NamedHandler>& more = {});

class TorchJobs final : public Jobs {
 public:
  /// @param state restored after each piece of plugin code; outlives this object
  TorchJobs(const ProcessState& state, Handlers handlers) : loaded_(state), handlers_(std::move(handlers)) {}
  void load(const LoadCommand& what) override { loaded_.load(what); }
  void run(const std::string& kind, const nlohmann::json& spec, const Say& say) override;

 private:
  LoadedParts loaded_;
  Handlers handlers_;
};

}  // namespace ablate
