#include "source.h"

#include <algorithm>
#include <stdexcept>

#include "ablate/archive.h"
#include "ablate/data_files.h"
#include "ablate/input_file.h"

namespace ablate::imdb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "aclImdb";
constexpr const char* kArchives[] = {"aclImdb_v1.tar.gz", "aclImdb_labelled.tar.xz"};
constexpr const char* kSplits[] = {"train", "test"};
constexpr const char* kLabels[] = {"pos", "neg"};

bool is_source(const fs::path& folder) { return fs::is_directory(folder / "train") && fs::is_directory(folder / "test"); }

/// Returns the data set at the path; an empty path if there is none.
fs::path source_at(const fs::path& path) {
  if (is_file(path) || is_source(path)) return path;
  if (is_source(path / kFolder)) return path / kFolder;
  for (const auto* name : kArchives)
    if (is_file(path / name)) return path / name;
  return {};
}

}  // namespace

fs::path find_source(const std::string& data) {
  return source_at(find_data("text", data,
                             std::string(kExpected) + ". Set ABLATE_DATA to a folder with imdb/aclImdb_v1.tar.gz in it",
                             [](const fs::path& path) { return !source_at(path).empty(); }));
}

std::vector<fs::path> files_of(const fs::path& source) {
  if (!fs::is_directory(source)) return {source};
  std::vector<fs::path> files;
  for (const auto* split : kSplits)
    for (const auto* label : kLabels) {
      const auto folder = source / split / label;
      if (!fs::is_directory(folder))
        throw std::runtime_error("text: " + source.string() + " lacks the folder " + split + "/" + label + "; expected " +
                                 kExpected);
      for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
      if (const auto urls = source / split / ("urls_" + std::string(label) + ".txt"); fs::exists(urls)) files.push_back(urls);
    }
  std::ranges::sort(files);
  return files;
}

void for_each_file(const fs::path& source, const std::function<void(const std::string& name, const ReadBytes& read)>& visit) {
  const auto text_of = [](const std::vector<std::uint8_t>& bytes) { return std::string(bytes.begin(), bytes.end()); };
  if (fs::is_directory(source)) {
    for (const auto& path : files_of(source))
      visit(path.lexically_relative(source).generic_string(),
            [&](std::size_t most) { return text_of(InputFile(path).read_some(most)); });
    return;
  }
  Archive archive(source, Packing::kTar);
  while (const auto name = archive.next()) {
    const auto own = name->lexically_normal().lexically_relative(kFolder);
    const auto folder = own.parent_path().generic_string(), file = own.filename().string();
    for (const std::string split : kSplits)
      for (const std::string label : kLabels)
        if (folder == split + "/" + label || (folder == split && file == "urls_" + label + ".txt"))
          visit(own.generic_string(), [&](std::size_t most) { return text_of(archive.read_some(most)); });
  }
}

}  // namespace ablate::imdb
