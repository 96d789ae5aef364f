// Finds a text and its published form.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate::lm {

enum class Form {
  kFile,      ///< any file, split by position
  kWikiText,  ///< wiki.{train,valid,test}.tokens
  kBooks,     ///< PG-19: train/, validation/ and test/ with one file per book, NUMBER.txt
};

/// The data set and its source, for the parameter's help and for errors.
inline constexpr const char* kExpected =
    "https://mattmahoney.net/dc/enwik8.zip; https://wikitext.smerity.com/wikitext-103-v1.zip "
    "(wiki.{train,valid,test}.tokens); or a folder with one of them in it, packed or not; or the PG-19 folder, with the "
    "folders train, validation and test of books, NUMBER.txt, from https://storage.googleapis.com/deepmind-gutenberg; or any "
    "file, plain, gzipped or alone in a zip archive";

struct Source {
  Form form;
  std::filesystem::path path;  ///< the file; WikiText's folder or zip archive; the books' folder
  bool zipped = false;         ///< true if the path is a zip archive that holds only the file
  std::string name() const { return path.string(); }
};

inline constexpr std::array<const char*, 3> kWikiText = {"wiki.train.tokens", "wiki.valid.tokens", "wiki.test.tokens"};
inline constexpr std::array<const char*, 3> kBookFolders = {"train", "validation", "test"};

/// Throws std::runtime_error with the places searched and advice; std::invalid_argument if by_words or bytes does not fit.
/// @param data as in find_data (ablate/data_files.h): a file, a zip archive (one file, or WikiText's three files), a folder. In
/// a folder the first match counts: enwik8 or enwik8_first10M, WikiText's files (all of these plain or gzipped), enwik8.zip,
/// WikiText's archive, the folders of books.
/// @param by_words, bytes parameters of the task. A single file cannot be read as words, and only a single file can be limited
/// to its first bytes.
Source find_source(const std::string& data, bool by_words, std::int64_t bytes);

/// Returns the files of each split: a single file in the first split only, WikiText's three files, or the books by number.
/// Throws std::runtime_error, with names, if files are missing or a folder of books has another file.
std::array<std::vector<std::filesystem::path>, 3> files_of(const Source& source);

}  // namespace ablate::lm
