// What a worker does for the scheduler: looks at libraries, prepares tasks, runs trials.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "ablate/task.h"
#include "core/trial/server/server.h"
#include "core/trial/server/task_cache.h"
#include "core/trial/server/torch_state.h"

namespace ablate {

/// Kinds of jobs by their names: what each does with its spec.
using JobKinds = std::map<std::string, std::function<void(const nlohmann::json& spec, const Say& say)>>;

class TorchJobs final : public Jobs {
 public:
  /// @param state what is put back after each piece of plugin code, so that one changes nothing for the next
  /// @param more kinds of jobs that are none of a study's
  explicit TorchJobs(const ProcessState& state, JobKinds more = {}) : state_(state), more_(std::move(more)) {}
  void load(const nlohmann::json& what) override;
  void run(const std::string& kind, const nlohmann::json& spec, const Say& say) override;

 private:
  /// Loaded libraries by "kind id".
  const Descriptor& plugin(Kind kind, const std::string& id) const;
  void restore() const;
  std::unique_ptr<Task> make_task(const nlohmann::json& section, int threads);
  /// Loads a task for all jobs, which share it by fork. Throws Error where its data or files are not what was planned.
  /// @param planned {"section": ..., "digest": of its data, "files": as PlannedFiles has them}
  void load_task(const nlohmann::json& planned);
  Task& task(const nlohmann::json& section) const;
  /// @param spec {"resolved": Trial::resolved, "files": of its attentions and compressions, as PlannedFiles has them}
  void trial(const nlohmann::json& spec, const Say& say);

  const ProcessState& state_;
  JobKinds more_;
  TorchState torch_;
  std::map<std::string, const Descriptor*> plugins_;
  std::map<std::string, std::string> codes_;            ///< PluginInfo::code_identity of loaded tasks, by id
  std::map<std::string, TaskCache> caches_;             ///< of tasks that were made, by id and code
  std::map<std::string, std::unique_ptr<Task>> tasks_;  ///< by the section's text
};

}  // namespace ablate
