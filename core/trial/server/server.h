// The worker: a warmed parent that never computes, and one forked child a job. Messages: core/shared/pipe.h.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "core/shared/jobs.h"
#include "core/shared/pipe.h"
#include "core/trial/server/process_state.h"
#include "core/util/error.h"

namespace ablate {

/// A job's way to talk to the scheduler, one JSON line a message; and what it is asked meanwhile. In the child only.
struct Say : std::function<void(const nlohmann::json&)> {
  using function::function;
  /// Whether a SaveCommand has come since the last call.
  std::function<bool()> asked_to_save = [] { return false; };
};

/// A job's own word that memory did not suffice, however its library says that.
struct OutOfMemory : Error {
  static constexpr const char* kHost = Failed::kHost;
  static constexpr const char* kDevice = Failed::kDevice;
  OutOfMemory(const char* what_of, const std::string& why) : Error(why), of(what_of) {}
  const char* of;  ///< one of these
};

/// What a worker can do; the server knows nothing of torch or plugins.
class Jobs {
 public:
  virtual ~Jobs() = default;
  /// In the parent, before jobs that need it. Throws std::exception: refused.
  virtual void load(const LoadCommand& what) = 0;
  /// In a forked child. @param kind kName of a job @param spec the job. Throws std::exception: the job failed with its what().
  virtual void run(const std::string& kind, const nlohmann::json& spec, const Say& say) = 0;
};

/// Serves until the input ends. @param environment told to the scheduler once @param state what every job begins with; in a job
/// it has the job's own limits and processors
void serve(int input, int output, const nlohmann::json& environment, ProcessState& state, Jobs& jobs);

}  // namespace ablate
