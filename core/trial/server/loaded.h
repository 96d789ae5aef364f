// Libraries and task data that a worker has loaded. All jobs of the worker share them by fork.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "ablate/task.h"
#include "core/registry/library.h"
#include "core/shared/pipe.h"
#include "core/trial/server/process_state.h"
#include "core/trial/server/task_cache.h"

namespace ablate {

class TorchState;

class LoadedParts {
 public:
  /// @param state restored after each piece of plugin code, so that plugins do not affect each other; must outlive this object
  explicit LoadedParts(const ProcessState& state);
  ~LoadedParts();

  /// Throws Error if a library or data differ from the plan.
  void load(const LoadCommand& what);
  void load(const Libraries& libraries);

  /// Restores the settings that foreign code may have changed.
  void restore() const;
  /// Returns ProcessState::lost. Call it after restore().
  std::string lost() const { return state_.lost(); }

  const Descriptor& plugin(Kind kind, const std::string& id) const;
  std::unique_ptr<Task> make_task(const PluginSpec& section, int threads);
  /// Returns a loaded task.
  Task& task(const PluginSpec& section) const;

 private:
  Task* loaded(const PluginSpec& section) const;  ///< null if it was not loaded
  void load_task(const LoadCommand::Data& planned);

  const ProcessState& state_;
  std::unique_ptr<TorchState> torch_;
  std::map<std::string, const Descriptor*> plugins_;  ///< by "kind id"
  std::map<std::string, std::string> codes_;          ///< PluginInfo::code_identity of loaded tasks, by id
  std::map<std::string, TaskCache> caches_;           ///< folders of tasks that were made, by id and code
  std::vector<std::pair<PluginSpec, std::unique_ptr<Task>>> tasks_;
};

}  // namespace ablate
