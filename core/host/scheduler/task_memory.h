// Cache of tasks' answers, so that a done grid needs neither its data nor a worker. Torch-free.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>

#include "core/shared/messages.h"

namespace ablate {

/// Answers are in the cache folder, one file each, written completely or not at all. An answer depends on the task's code and
/// parameters, the folder that relative paths start from, $ABLATE_DATA, and the paths where find_data (ablate/data_files.h)
/// looks. It also depends on size, time and inode of the files and folders that the task named (Task::files). Code that loads
/// the data compares their digest, and so notices any other change.
class TaskMemory {
 public:
  /// @param folder "": nothing is cached
  explicit TaskMemory(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Path of an answer. Computed before the task is queried, so that a change during the answer leads to another path.
  /// @param code PluginInfo::code_identity
  /// @param asked {"kind": ..., "section": ..., ...}, all that the answer depends on
  std::filesystem::path path_of(const std::string& code, const nlohmann::json& asked) const;
  std::optional<nlohmann::json> find(const std::filesystem::path& path) const;
  /// Returns read(answer). If `read` throws BadMessage (another version's answer, a foreign file), removes the answer.
  template <class Read>
  auto find(const std::filesystem::path& path, Read&& read) const
      -> std::optional<std::invoke_result_t<Read, const nlohmann::json&>> {
    if (const auto known = find(path)) try {
        return read(*known);
      } catch (const BadMessage&) {
        forget(path);
      }
    return std::nullopt;
  }
  /// @param answer has "files": {absolute path: file_stamp before the file was read}. Not stored without "files", or if one of
  /// the files is missing or has changed.
  void put(const std::filesystem::path& path, const nlohmann::json& answer) const;
  void forget(const std::filesystem::path& path) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace ablate
