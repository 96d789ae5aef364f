// ELF files: what a linker read, what of an object or a static library is code, and a section's content. Torch-free.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::identity {

/// A file that a linker read.
struct LinkerInput {
  std::filesystem::path file;     ///< as written
  std::set<std::string> members;  ///< of a static library: those that were linked
};

/// Each once, in the linker's order. Throws Error where the map is missing or is none of GNU ld's.
std::vector<LinkerInput> linker_inputs(const std::filesystem::path& map);

/// Names and contents of an object file, or of members of a static library: all sections but debug information, which holds
/// paths. What is no ELF file counts whole.
std::string code_of_objects(const std::filesystem::path& file, const std::set<std::string>& members);

/// Whether it is a static library that only names its members' files.
bool is_thin_archive(const std::filesystem::path& file);

/// Writes at the start of a library's section. False where it has no such section. Throws Error where the content is too long
/// for it, or the file cannot be written.
bool write_section(const std::filesystem::path& library, const char* section, std::string_view content);

}  // namespace ablate::identity
