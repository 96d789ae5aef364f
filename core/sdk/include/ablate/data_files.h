// Where the files of a data set are. Torch-free.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ablate {

inline bool is_folder(const std::filesystem::path& path) { return std::filesystem::is_directory(path); }
/// Whatever is there and no folder.
inline bool is_file(const std::filesystem::path& path) { return std::filesystem::exists(path) && !is_folder(path); }

/// Where data of a name are looked for, in this order: $ABLATE_DATA where it is set, /usr/share/datasets, the working folder.
inline std::vector<std::filesystem::path> data_folders() {
  std::vector<std::filesystem::path> folders = {"/usr/share/datasets"};
  if (const char* root = std::getenv("ABLATE_DATA"); root != nullptr && *root != '\0')
    folders.insert(folders.begin(), std::filesystem::path(root));
  std::error_code gone;
  if (auto here = std::filesystem::current_path(gone); !gone) folders.push_back(std::move(here));
  return folders;
}

/// What a task's parameter `data` stands for: itself, where it is absolute or begins with ./ or ../; else what will do in the
/// first of data_folders() that has it. Throws std::runtime_error with all that was looked for.
/// @param task the plugin's id
/// @param expected what it has to be and how one comes to have it: the end of the message, after "expected "
/// @param will_do is_folder, is_file, or what else a task looks for
std::filesystem::path find_data(const std::string& task, const std::string& data, const std::string& expected,
                                const std::function<bool(const std::filesystem::path&)>& will_do = is_folder);

/// The file, or else the one with .gz behind its name; empty where there is neither.
std::filesystem::path plain_or_gzipped(const std::filesystem::path& path);

/// The files of these names in the folder that `data` stands for (find_data), in their order, each plain or gzipped. Throws
/// std::runtime_error with what was looked for, or with all names that the folder lacks.
std::vector<std::filesystem::path> find_files(const std::string& task, const std::string& data, const std::string& expected,
                                              std::span<const char* const> names);

}  // namespace ablate
