// What tasks have answered before: so that a grid that is done neither loads its data nor starts a worker to say so.
// Torch-free.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>

#include "core/shared/messages.h"

namespace ablate {

/// Answers lie in the cache folder, a file each, written whole. One holds for the task's code, its parameters, the folder that
/// relative paths start in, $ABLATE_DATA, what is where find_data (ablate/data_files.h) would look for its parameters, and the
/// size, time and inode of the files that it named (Task::files), folders too. Whatever loads the data compares their digest:
/// what has changed without one of these is noticed then.
class TaskMemory {
 public:
  /// @param folder "": nothing is remembered
  explicit TaskMemory(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Where an answer lies; taken before the task is asked, so that what changes while it answers belongs to another answer.
  /// @param code PluginInfo::code_identity @param asked {"kind": ..., "section": ..., ...}, all that the answer depends on
  std::filesystem::path path_of(const std::string& code, const nlohmann::json& asked) const;
  std::optional<nlohmann::json> find(const std::filesystem::path& path) const;
  /// What `read` makes of it. An answer of which it throws BadMessage (another version's, or somebody else's file) is
  /// forgotten: the task is asked again.
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
  /// @param answer with "files": {absolute path: file_stamp from before it was read}. One without is not remembered, nor is one
  /// of files that are not there, or are others by now.
  void put(const std::filesystem::path& path, const nlohmann::json& answer) const;
  void forget(const std::filesystem::path& path) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace ablate
