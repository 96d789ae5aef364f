// What tasks of other parameters, of other files and of other cache folders hand out, to be compared.
#pragma once

#include "core/registry/plugin_info.h"
#include "core/trial/conformance/task/checks.h"

namespace ablate {

/// What a task hands out: of each split how many, and what stands in 100,000 of them.
class Contents {
 public:
  Contents(const Task& task, const TaskInfo& info);

  /// "train, dev": the splits that are others.
  std::string others(const Contents& than) const;
  /// Whether all that is another are targets.
  bool same_but_targets(const Contents& than) const;

 private:
  std::vector<std::int64_t> sizes_;
  std::vector<std::vector<Content>> all_;
};

/// A folder that is gone with this.
struct OwnFolder {
  explicit OwnFolder(std::filesystem::path made) : folder(std::move(made)) {}
  ~OwnFolder();
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  std::filesystem::path folder;
};

/// A task of other parameters. @param cache its folder, with what others may have left there
struct Loaded {
  Loaded(const TaskSubject& subject, const nlohmann::json& changes, const std::filesystem::path& cache);
  Contents contents() const { return {*task, info}; }

  std::unique_ptr<Task> task;
  TaskInfo info;
};

/// The same, in a folder of its own.
struct LoadedAlone : private OwnFolder, Loaded {
  LoadedAlone(const TaskSubject& subject, const nlohmann::json& changes)
      : OwnFolder(subject.folder("cache")), Loaded(subject, changes, folder) {}
};

/// Returns the bytes of the task's files, plus one.
std::uintmax_t bytes_of(const TaskSubject& subject);

/// Other values of a parameter: those beside it, the least one, the greatest one where it is at most twice as large, its
/// choices. What a task makes of them it says. Of numbers the nearest ones are the first.
std::vector<nlohmann::json> other_values(const ParameterInfo& parameter, const nlohmann::json& value);

}  // namespace ablate
