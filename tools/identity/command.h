// A compiler's command, as compile_commands.json has it, and what of it makes other code. Torch-free.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ablate::identity {

struct Command {
  std::filesystem::path source;
  std::vector<std::filesystem::path> folders;  ///< where headers are looked for
  std::vector<std::filesystem::path> forced;   ///< -include, -imacros: as written
  /// Definitions, code generation, the language's standard: neither paths, warnings and debug information, nor what is known
  /// from elsewhere (torch's version is in the ABI stamp). Of CUDA: only what CMake does not give by itself, so that a library
  /// built without a toolkit is the same method.
  std::vector<std::string> options;
};

/// Folders that stand in options by a name, wherever they lie.
using Places = std::vector<std::pair<std::string, std::string>>;  ///< {"/home/x/project", "<source>"}, in the order of looking

/// By object file (canonical). Empty where the file is missing: not every generator writes one. Throws Error where it is
/// damaged.
std::map<std::filesystem::path, Command> read_commands(const std::filesystem::path& file, const Places& places);

/// A POSIX shell's words, and for them the command. @param folder where it runs
std::vector<std::string> shell_words(const std::string& line);
Command read_command(const std::vector<std::string>& words, const std::filesystem::path& source,
                     const std::filesystem::path& folder, const Places& places, std::filesystem::path* object = nullptr);

}  // namespace ablate::identity
