// Contents of tasks with other parameters, files or cache folders, for comparison.
#pragma once

#include "core/registry/plugin_info.h"
#include "core/trial/conformance/task/checks.h"

namespace ablate {

/// Contents of a task: the size of each split, and hashes of up to 100,000 examples of each split.
class Contents {
 public:
  Contents(const Task& task, const TaskInfo& info);

  /// Returns the splits that differ: "train, dev".
  std::string others(const Contents& than) const;
  /// True if only targets differ.
  bool same_but_targets(const Contents& than) const;

 private:
  std::vector<std::int64_t> sizes_;
  std::vector<std::vector<Content>> all_;
};

/// Folder that is deleted with this object.
struct OwnFolder {
  explicit OwnFolder(std::filesystem::path made) : folder(std::move(made)) {}
  ~OwnFolder();
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  std::filesystem::path folder;
};

/// Loaded task with other parameters.
/// @param cache the task's cache folder, which may hold data of other tasks
struct Loaded {
  Loaded(const TaskSubject& subject, const nlohmann::json& changes, const std::filesystem::path& cache);
  Contents contents() const { return {*task, info}; }

  std::unique_ptr<Task> task;
  TaskInfo info;
};

/// Loaded task with other parameters and its own cache folder, which is deleted with this object.
struct LoadedAlone : private OwnFolder, Loaded {
  LoadedAlone(const TaskSubject& subject, const nlohmann::json& changes)
      : OwnFolder(subject.folder("cache")), Loaded(subject, changes, folder) {}
};

/// Returns the number of bytes of the task's files, plus one.
std::uintmax_t bytes_of(const TaskSubject& subject);

/// Returns other values of a parameter. For a number: near values, then the minimum and the maximum unless they are much
/// larger than `value`. For a choice: all other choices. The task may refuse a value.
std::vector<nlohmann::json> other_values(const ParameterInfo& parameter, const nlohmann::json& value);

}  // namespace ablate
