// What a worker does for the scheduler: looks at libraries, prepares tasks, runs trials.
#pragma once

#include <map>
#include <memory>

#include "ablate/task.h"
#include "core/worker/server.h"

namespace ablate {

class TorchJobs final : public Jobs {
 public:
  void load(const nlohmann::json& what) override;
  void run(const std::string& kind, const nlohmann::json& spec, const Say& say) override;

 private:
  /// Loaded libraries by "kind id".
  const Descriptor& plugin(Kind kind, const std::string& id) const;
  std::unique_ptr<Task> make_task(const nlohmann::json& section, int threads) const;
  /// Of a task section, loaded once and shared with all jobs by fork.
  Task& task(const nlohmann::json& section);
  void trial(const nlohmann::json& resolved, const Say& say);

  std::map<std::string, const Descriptor*> plugins_;
  std::map<std::string, std::unique_ptr<Task>> tasks_;  ///< by the section's text
};

}  // namespace ablate
