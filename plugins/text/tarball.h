// A tar archive, packed by gzip or xz, read from front to end (libarchive).
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

namespace ablate::imdb {

/// The first bytes of the file that is visited, at most so many; valid during the visit, once.
using ReadBytes = std::function<std::string(std::size_t most)>;

/// Calls visit for each regular file in it, with its path as the archive has it. Throws FileError: what is no regular file, no
/// such archive, damaged or cut off; and what visit throws.
void for_each_entry(const std::filesystem::path& archive,
                    const std::function<void(const std::string& name, const ReadBytes& read)>& visit);

}  // namespace ablate::imdb
