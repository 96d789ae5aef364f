// What a worker has loaded: libraries, and the data of tasks, which all of its jobs share by fork.
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
  /// @param state what is put back after each piece of plugin code, so that one changes nothing for the next; outlives it
  explicit LoadedParts(const ProcessState& state);
  ~LoadedParts();

  /// Throws Error for a library or data that are not what was planned.
  void load(const LoadCommand& what);
  void load(const Libraries& libraries);

  /// Puts back what foreign code may have changed.
  void restore() const;
  /// After restore(): ProcessState::lost.
  std::string lost() const { return state_.lost(); }

  const Descriptor& plugin(Kind kind, const std::string& id) const;
  std::unique_ptr<Task> make_task(const PluginSpec& section, int threads);
  /// One that was loaded.
  Task& task(const PluginSpec& section) const;

 private:
  Task* loaded(const PluginSpec& section) const;  ///< null if it was not loaded
  void load_task(const LoadCommand::Data& planned);

  const ProcessState& state_;
  std::unique_ptr<TorchState> torch_;
  std::map<std::string, const Descriptor*> plugins_;  ///< by "kind id"
  std::map<std::string, std::string> codes_;          ///< PluginInfo::code_identity of loaded tasks, by id
  std::map<std::string, TaskCache> caches_;           ///< of tasks that were made, by id and code
  std::vector<std::pair<PluginSpec, std::unique_ptr<Task>>> tasks_;
};

}  // namespace ablate
