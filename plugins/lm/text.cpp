#include "text.h"

#include <stdexcept>

#include "ablate/data_files.h"
#include "ablate/input_file.h"

namespace ablate::lm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNames[] = {"enwik8", "enwik8_first10M"};

/// Of a data set's folder; empty where it is none.
fs::path text_in(const fs::path& folder) {
  for (const auto* name : kNames)
    if (auto path = plain_or_gzipped(folder / name); !path.empty()) return path;
  return {};
}

}  // namespace

fs::path find_text(const std::string& data) {
  const auto found =
      find_data("lm", data,
                "a file, or a folder with enwik8 or enwik8_first10M in it, plain or gzipped. Set ABLATE_DATA to a "
                "folder with enwik8/enwik8 in it: the file of enwik8.zip from https://mattmahoney.net/dc/textdata.html",
                [](const fs::path& path) { return fs::is_directory(path) ? !text_in(path).empty() : fs::exists(path); });
  return fs::is_directory(found) ? text_in(found) : found;
}

std::vector<std::uint8_t> read_text(const fs::path& path, std::int64_t bytes) {
  const auto wanted = static_cast<std::size_t>(bytes);
  auto text = InputFile(path).read_some(wanted == 0 ? UINT64_MAX : wanted);
  if (text.size() < wanted)
    throw FileError(path, "found " + std::to_string(text.size()) + " bytes, expected bytes = " + std::to_string(wanted) +
                              " or more; make bytes smaller, or 0 for all");
  return text;
}

}  // namespace ablate::lm
