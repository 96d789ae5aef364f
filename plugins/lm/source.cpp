#include "source.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "ablate/archive.h"
#include "ablate/data_files.h"
#include "ablate/input_file.h"

namespace ablate::lm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNames[] = {"enwik8", "enwik8_first10M"};
constexpr const char* kArchives[] = {"enwik8.zip", "wikitext-103-v1.zip"};
constexpr const char* kUnpacked = "wikitext-103";
constexpr const char* kRemedy =
    ". Set ABLATE_DATA to a folder that contains them under these names: enwik8/enwik8.zip, "
    "wikitext-103/wikitext-103-v1.zip, or pg19/ with PG-19's three folders";

bool is_wikitext(const fs::path& folder) {
  return std::ranges::any_of(kWikiText, [&](const char* name) { return !plain_or_gzipped(folder / name).empty(); });
}

bool is_books(const fs::path& folder) {
  return fs::is_directory(folder / kBookFolders[0]) && fs::is_directory(folder / kBookFolders[2]);
}

bool is_zip(const fs::path& path) { return path.extension() == ".zip" && is_file(path); }

Source source_in(const fs::path& zip) {
  Archive archive(zip, Packing::kZip);
  std::size_t files = 0;
  for (; const auto name = archive.next(); ++files)
    if (std::ranges::count(kWikiText, name->filename().string()) > 0) return {Form::kWikiText, zip};
  if (files != 1)
    throw FileError(zip,
                    "found " + std::to_string(files) + " files in it, expected one, as in enwik8.zip, or WikiText's three");
  return {Form::kFile, zip, true};
}

/// Returns an empty path if nothing usable was found.
Source source_at(const fs::path& path) {
  if (is_zip(path)) return source_in(path);
  if (!fs::is_directory(path)) return {Form::kFile, fs::exists(path) ? path : fs::path()};
  for (const auto* name : kNames)
    if (auto file = plain_or_gzipped(path / name); !file.empty()) return {Form::kFile, std::move(file)};
  for (const auto& folder : {path, path / kUnpacked})
    if (is_wikitext(folder)) return {Form::kWikiText, folder};
  for (const auto* name : kArchives)
    if (is_zip(path / name)) return source_in(path / name);
  return {Form::kBooks, is_books(path) ? path : fs::path()};
}

/// Returns the number in the name of a book's file; -1 if the name has another form.
std::int64_t number_of(const fs::path& book) {
  const auto stem = book.stem().string();
  std::int64_t number = -1;
  const auto [end, fault] = std::from_chars(stem.data(), stem.data() + stem.size(), number);
  return book.extension() == ".txt" && fault == std::errc() && end == stem.data() + stem.size() ? number : -1;
}

std::vector<fs::path> books_in(const fs::path& folder) {
  if (!fs::is_directory(folder)) throw FileError(folder, "is no folder, expected one of PG-19's books (NUMBER.txt)");
  std::vector<std::pair<std::int64_t, fs::path>> books;
  for (const auto& entry : fs::directory_iterator(folder)) {
    books.emplace_back(number_of(entry.path()), entry.path());
    if (books.back().first < 0)
      throw FileError(entry.path(), "found in a folder of books, expected only names of the form NUMBER.txt, like 10146.txt");
  }
  if (books.empty()) throw FileError(folder, "holds no book, expected at least one NUMBER.txt");
  std::ranges::sort(books);
  std::vector<fs::path> paths;
  for (auto& [number, path] : books) paths.push_back(std::move(path));
  return paths;
}

}  // namespace

Source find_source(const std::string& data, bool by_words, std::int64_t bytes) {
  auto source = source_at(find_data("lm", data, std::string(kExpected) + kRemedy,
                                    [](const fs::path& path) { return !source_at(path).path.empty(); }));
  if (source.form == Form::kFile && by_words)
    throw std::invalid_argument("tokens = words needs WikiText or books, but " + source.name() +
                                " is a single file, split by position; expected tokens = bytes");
  if (source.form != Form::kFile && bytes > 0)
    throw std::invalid_argument("bytes = " + std::to_string(bytes) + " limits a single file, but " + source.name() +
                                " has its own splits; expected 0");
  return source;
}

std::array<std::vector<fs::path>, 3> files_of(const Source& source) {
  std::array<std::vector<fs::path>, 3> files;
  if (!fs::is_directory(source.path)) {
    files[0] = {source.path};
    return files;
  }
  std::string missing;
  for (std::size_t split = 0; split < files.size(); ++split) {
    if (source.form == Form::kBooks) {
      files[split] = books_in(source.path / kBookFolders[split]);
    } else if (auto file = plain_or_gzipped(source.path / kWikiText[split]); !file.empty()) {
      files[split] = {std::move(file)};
    } else {
      missing += (missing.empty() ? "" : ", ") + std::string(kWikiText[split]);
    }
  }
  if (!missing.empty())
    throw std::runtime_error("lm: " + source.name() + " lacks " + missing +
                             ", expected all three files of WikiText, plain or ending in .gz");
  return files;
}

}  // namespace ablate::lm
