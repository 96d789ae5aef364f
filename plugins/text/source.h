// The published data set of Maas et al. 2011, unpacked or as its archive.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ablate::imdb {  // ablate::text is a function that makes a parameter

/// The data set and its source, for the parameter's help and for errors.
inline constexpr const char* kExpected =
    "aclImdb_v1.tar.gz from https://ai.stanford.edu/~amaas/data/sentiment, or aclImdb_labelled.tar.xz, an archive of only its "
    "labelled reviews; the folder aclImdb that they unpack to ({train,test}/{pos,neg}/ID_RATING.txt); or a folder with "
    "one of them in it";

/// Returns the folder with train and test, or the archive. Throws std::runtime_error if neither is found. The message lists
/// the expected data and gives advice.
/// @param data as in find_data (ablate/data_files.h): the folder aclImdb, a folder that contains it or its archive, or the
/// archive
std::filesystem::path find_source(const std::string& data);

/// Returns the archive, or the files that for_each_file visits in a folder. Throws std::runtime_error if a folder is missing.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& source);

/// Returns the first bytes of the visited file, at most `most`. May be called once, during the visit.
using ReadBytes = std::function<std::string(std::size_t most)>;

/// Calls visit for each file of {train,test}/{pos,neg} and for each urls_{pos,neg}.txt, in any order, with its relative path,
/// for example "train/pos/0_9.txt". Throws FileError and std::runtime_error if files are missing or unreadable.
void for_each_file(const std::filesystem::path& source,
                   const std::function<void(const std::string& name, const ReadBytes& read)>& visit);

}  // namespace ablate::imdb
