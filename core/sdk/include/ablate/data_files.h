// Finds the files of a data set. Torch-free.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ablate {

inline bool is_folder(const std::filesystem::path& path) { return std::filesystem::is_directory(path); }
/// True if the path exists and is not a folder.
inline bool is_file(const std::filesystem::path& path) { return std::filesystem::exists(path) && !is_folder(path); }

/// Folders in which data are searched by name, in this order: $ABLATE_DATA if set, /usr/share/datasets, the working folder.
inline std::vector<std::filesystem::path> data_folders() {
  std::vector<std::filesystem::path> folders = {"/usr/share/datasets"};
  if (const char* root = std::getenv("ABLATE_DATA"); root != nullptr && *root != '\0')
    folders.insert(folders.begin(), std::filesystem::path(root));
  std::error_code gone;
  if (auto here = std::filesystem::current_path(gone); !gone) folders.push_back(std::move(here));
  return folders;
}

/// Returns the path of a task's parameter `data`: the path itself if it is absolute or begins with ./ or ../, otherwise the
/// first match in data_folders(). Throws std::runtime_error with all paths that were searched.
/// @param task the plugin's id
/// @param expected kind of file or folder, and how to get the data: the end of the message, after "expected "
/// @param will_do is_folder, is_file, or another test
std::filesystem::path find_data(const std::string& task, const std::string& data, const std::string& expected,
                                const std::function<bool(const std::filesystem::path&)>& will_do = is_folder);

/// Returns the file, or the file with .gz behind its name, or an empty path if neither exists.
std::filesystem::path plain_or_gzipped(const std::filesystem::path& path);

/// Returns the files with these names in the folder of `data` (find_data), in this order, each plain or gzipped. Throws
/// std::runtime_error with all paths that were searched, or with all names that are missing in the folder.
std::vector<std::filesystem::path> find_files(const std::string& task, const std::string& data, const std::string& expected,
                                              std::span<const char* const> names);

}  // namespace ablate
