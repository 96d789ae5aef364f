// Worker: a warmed-up parent (warm_up), which runs no job, and a forked child for each job. Messages: core/shared/pipe.h.
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

/// Channel from a job's child to the scheduler, one JSON line for each message. Also passes on the scheduler's requests.
struct Say : std::function<void(const nlohmann::json&)> {
  using function::function;
  /// True if a SaveCommand has come since the last call.
  std::function<bool()> asked_to_save = [] { return false; };
};

/// Error of a job that ran out of memory, however its library reports that.
struct OutOfMemory : Error {
  static constexpr const char* kHost = Failed::kHost;
  static constexpr const char* kDevice = Failed::kDevice;
  OutOfMemory(const char* what_of, const std::string& why) : Error(why), of(what_of) {}
  const char* of;  ///< kHost or kDevice
};

/// Work that a worker can do. The server itself depends neither on torch nor on plugins.
class Jobs {
 public:
  virtual ~Jobs() = default;
  /// Called in the parent, before jobs that need these libraries and data. Throws std::exception to refuse the command.
  virtual void load(const LoadCommand& what) = 0;
  /// Runs the job `spec`, whose kName is `kind`. Called in a forked child. Throws std::exception if the job fails.
  virtual void run(const std::string& kind, const nlohmann::json& spec, const Say& say) = 0;
};

/// Serves until the input ends.
/// @param environment sent to the scheduler once
/// @param state state that every job starts with; in a job it has the job's own limits and processors
void serve(int input, int output, const nlohmann::json& environment, ProcessState& state, Jobs& jobs);

}  // namespace ablate
