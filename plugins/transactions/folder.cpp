#include "folder.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "ablate/archive.h"
#include "ablate/data_files.h"

namespace ablate::transactions {
namespace {

namespace fs = std::filesystem;

constexpr const char* kArchive = "data_berka.zip";

bool is_archive(const fs::path& path) { return path.extension() == ".zip" && is_file(path); }

/// Returns the archive that contains a file; an empty path if no archive does.
fs::path archive_of(fs::path file) {
  while (file.has_relative_path() && !is_archive(file)) file = file.parent_path();
  return file.has_relative_path() ? file : fs::path();
}

/// Finds client.asc, disp.asc and trans.asc in the archive, in any of its folders.
Folder find_entries(const fs::path& archive) {
  Folder found;
  Archive zip(archive, Packing::kZip);
  found.transactions.emplace_back();
  while (const auto name = zip.next())
    for (const auto& [file, place] : {std::pair{"client.asc", &found.clients},
                                      {"disp.asc", &found.dispositions},
                                      {"trans.asc", &found.transactions.front()}}) {
      if (name->filename() != file) continue;
      if (!place->empty()) throw FileError(archive, std::string("holds ") + file + " twice, expected it once");
      *place = archive / name->relative_path();
    }
  if (found.transactions.front().empty()) found.transactions.clear();
  return found;
}

std::vector<fs::path> find_transactions(const fs::path& folder) {
  if (auto whole = plain_or_gzipped(folder / "trans.asc"); !whole.empty()) return {whole};
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("trans_") && (name.ends_with(".csv") || name.ends_with(".csv.gz"))) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Folder find_in(const fs::path& folder) {
  Folder found{plain_or_gzipped(folder / "client.asc"), plain_or_gzipped(folder / "disp.asc"), find_transactions(folder)};
  const bool has_any = !found.clients.empty() || !found.dispositions.empty() || !found.transactions.empty();
  return !has_any && is_archive(folder / kArchive) ? find_entries(folder / kArchive) : found;
}

}  // namespace

std::vector<fs::path> Folder::all() const {
  if (const auto archive = archive_of(clients); !archive.empty()) return {archive};
  std::vector<fs::path> files = {clients, dispositions};
  files.insert(files.end(), transactions.begin(), transactions.end());
  return files;
}

Folder find_files(const std::string& data) {
  const auto place =
      find_data("transactions", data, std::string(kExpected) + ". Set ABLATE_DATA to a folder with berka/data_berka.zip in it",
                [](const fs::path& path) { return is_folder(path) || is_archive(path); });
  auto found = is_folder(place) ? find_in(place) : find_entries(place);
  std::string missing;
  const auto miss = [&](bool is_there, const char* name) {
    if (!is_there) missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
  miss(!found.clients.empty(), "client.asc");
  miss(!found.dispositions.empty(), "disp.asc");
  miss(!found.transactions.empty(), "trans.asc or trans_*.csv");
  if (!missing.empty())
    throw std::runtime_error("transactions: " + place.string() + " lacks " + missing + "; expected " + kExpected);
  return found;
}

Lines lines_of(const fs::path& file) {
  const auto archive = archive_of(file);
  if (archive.empty()) return Lines(file);
  const auto zip = std::make_shared<Archive>(archive, Packing::kZip);
  while (const auto name = zip->next())
    if (archive / name->relative_path() == file) return {file, [zip](std::span<std::uint8_t> to) { return zip->read(to); }};
  throw FileError(archive, "no longer has " + file.filename().string() + ": it changed while it was read; fetch it again");
}

}  // namespace ablate::transactions
