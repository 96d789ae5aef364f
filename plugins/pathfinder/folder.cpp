#include "folder.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <unordered_map>

#include "ablate/data_files.h"
#include "ablate/input_file.h"
#include "ablate/parallel.h"
#include "png.h"

namespace ablate::pathfinder {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 256;
constexpr std::int64_t kContours[] = {6, 9, 14};
constexpr const char* kEmpty = "curv_baseline/imgs/0/sample_172.png";

/// Returns the name of a difficulty's folder. The difficulty is the number of paddles of a long contour.
std::string name_of(std::int64_t contour) {
  return contour == 6 ? "curv_baseline" : "curv_contour_length_" + std::to_string(contour);
}

/// Returns the folder that contains metadata; an empty path if there is none.
fs::path folder_at(const fs::path& path, std::int64_t side, std::int64_t contour) {
  const auto name = name_of(contour), size = "pathfinder" + std::to_string(side);
  for (const auto& place : {path, path / name, path / size / name, path / "lra_release" / size / name,
                            path / "lra_release" / "lra_release" / size / name})
    if (fs::is_directory(place / "metadata")) return place;
  return {};
}

/// Returns the files sorted by number: 2.npy before 10.npy.
std::vector<fs::path> metadata_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder / "metadata"))
    if (entry.path().extension() == ".npy") files.push_back(entry.path());
  std::ranges::sort(files, {}, [](const fs::path& path) {
    const auto name = path.filename().string();
    return std::pair(name.size(), name);
  });
  if (files.empty()) throw FileError(folder, "found no file metadata/*.npy, expected one for each folder of imgs");
  return files;
}

FileError error_of(const Folder& found, const Folder::Row& row, const std::string& what) {
  return {found.metadata[row.file], row.line, what};
}

/// @param row has its file and line set
Folder::Row parse(const Folder& found, const fs::path& folder, Folder::Row row, std::string_view text) {
  const auto refuse = [&](const std::string& what) { throw error_of(found, row, what); };
  std::istringstream words{std::string(text)};
  if (text.find('\0') != std::string_view::npos) refuse("found a zero byte, expected text in ASCII or UTF-8");
  std::string place, name, number, label;
  if (!(words >> place >> name >> number >> label))
    refuse("found fewer than four words, expected a folder, a file, a number, a label, ...: imgs/0 sample_0.png 0 1");
  if (label != "0" && label != "1") refuse("found the label \"" + label.substr(0, 20) + "\", expected 0 or 1");
  const auto picture = (fs::path(place) / name).lexically_normal();
  if (picture.is_absolute() || *picture.begin() == "..") refuse("names a picture outside of its folder, expected one in imgs");
  row.picture = folder / picture, row.connected = label == "1";
  return row;
}

/// Rows by the path of their picture.
using Named = std::unordered_map<std::string, Folder::Row>;

/// Throws if no line of the metadata names a picture in imgs. This happens in an incomplete copy of the data.
void check_all_named(const fs::path& folder, const Named& named) {
  if (!fs::is_directory(folder / "imgs")) return;
  fs::path first;
  std::size_t count = 0;
  for (const auto& part : fs::directory_iterator(folder / "imgs")) {
    if (!part.is_directory()) continue;
    for (const auto& entry : fs::directory_iterator(part)) {
      const auto& picture = entry.path();
      if (picture.extension() != ".png" || picture.filename().native().starts_with('.') || named.contains(picture.native()))
        continue;
      if (count++ == 0 || picture < first) first = picture;
    }
  }
  if (count == 0) return;
  auto own = folder / "metadata" / first.parent_path().filename();
  own += ".npy";
  throw FileError(first, "is named by no line of the metadata, expected one, as in " + own.string() +
                             (fs::exists(own) ? "" : ", which is missing") + "; found " + std::to_string(count) +
                             " such pictures: unpack the archive again");
}

}  // namespace

fs::path find_folder(const std::string& data, std::int64_t side, std::int64_t contour) {
  const auto expected = std::string(kExpected) + ". For size = " + std::to_string(side) +
                        " and contour = " + std::to_string(contour) + " the folder is pathfinder" + std::to_string(side) + "/" +
                        name_of(contour);
  auto found = folder_at(
      find_data("pathfinder", data, expected, [&](const fs::path& path) { return !folder_at(path, side, contour).empty(); }),
      side, contour);
  const auto name = fs::canonical(found).filename();
  for (const auto other : kContours)
    if (other != contour && name == name_of(other))
      throw std::invalid_argument("contour = " + std::to_string(contour) + ", expected " + std::to_string(other) + ": " +
                                  found.string() + " has contours of " + std::to_string(other) + " paddles");
  return found;
}

Folder read_folder(const fs::path& folder) {
  Folder found{metadata_in(folder), {}};
  Named named;
  for (std::size_t i = 0; i < found.metadata.size(); ++i) {
    const auto& file = found.metadata[i];
    Lines lines(file);
    while (const auto line = lines.next()) {
      auto row = parse(found, folder, {{}, false, i, lines.number()}, *line);
      if (const auto [before, is_new] = named.emplace(row.picture.native(), row); !is_new)
        throw error_of(found, row,
                       "names " + row.picture.string() + ", as " + found.metadata[before->second.file].string() + ":" +
                           std::to_string(before->second.line) + " does, expected a line for each picture");
      if (row.picture.generic_string().ends_with(kEmpty) && fs::exists(row.picture) && fs::file_size(row.picture) == 0)
        continue;
      if (!fs::exists(row.picture))
        throw error_of(found, row, "names " + row.picture.string() + ", which is missing; unpack the archive again");
      found.rows.push_back(std::move(row));
    }
    if (lines.number() == 0) throw FileError(file, "is empty, expected a line for each picture");
  }
  check_all_named(folder, named);
  return found;
}

Pictures read_pictures(const Folder& folder, std::int64_t side, int threads) {
  std::vector<Pictures> parts((folder.rows.size() + kBlock - 1) / kBlock, Pictures(side));
  parallel(parts.size(), threads, [&](std::size_t part) {
    for (auto i = part * kBlock; i < std::min((part + 1) * kBlock, folder.rows.size()); ++i) {
      const auto& row = folder.rows[i];
      try {
        parts[part].add(read_png(row.picture, side), row.connected);
      } catch (const FileError& error) {
        throw error_of(folder, row, error.what());
      }
    }
  });
  Pictures pictures(side);
  for (const auto& part : parts) pictures.append(part);
  return pictures;
}

}  // namespace ablate::pathfinder
