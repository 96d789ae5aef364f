// What tasks have answered before: so that a grid that is done neither loads its data nor starts a worker to say so.
// Torch-free.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace ablate {

/// Answers lie in the cache folder, a file each, written whole. One holds for the task's code, its parameters, the folder that
/// relative paths start in, and the size, time and inode of the files that it named (Task::files), folders too. Whatever loads
/// the data compares their digest: what has changed without one of these is noticed then.
class TaskMemory {
 public:
  /// @param folder "": nothing is remembered
  explicit TaskMemory(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// @param code PluginInfo::code_identity @param question {"kind": ..., "section": ..., ...}, all that the answer depends on
  std::optional<nlohmann::json> find(const std::string& code, const nlohmann::json& question) const;
  /// @param answer with "files", absolute paths. One whose files cannot be looked at is not remembered.
  void put(const std::string& code, const nlohmann::json& question, const nlohmann::json& answer) const;
  void forget(const std::string& code, const nlohmann::json& question) const;

 private:
  std::filesystem::path place(const std::string& code, const nlohmann::json& question) const;

  std::filesystem::path folder_;
};

}  // namespace ablate
