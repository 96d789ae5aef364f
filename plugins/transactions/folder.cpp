#include "folder.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace ablate::transactions {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "berka";
constexpr const char* kRemedy =
    "The files are those of the PKDD'99 discovery challenge's financial data: client.asc, disp.asc and trans.asc";

fs::path find_folder(const std::string& data) {
  if (data == kName) {
    const char* root = std::getenv("ABLATE_DATA");
    if (root != nullptr && fs::is_directory(fs::path(root) / data)) return fs::path(root) / data;
    throw std::runtime_error("transactions: berka was not found; set ABLATE_DATA to a folder with berka in it (found: " +
                             std::string(root != nullptr ? root : "not set") + "), or data to its folder. " + kRemedy);
  }
  if (fs::is_directory(data)) return data;
  throw std::runtime_error("transactions: data = \"" + data + "\" is " +
                           (fs::exists(data) ? "a file and no folder" : "no folder") +
                           "; expected one, or berka (a relative folder is looked for in " + fs::current_path().string() + ")");
}

/// Plain or gzipped; empty where there is neither.
fs::path either(const fs::path& folder, const std::string& name) {
  for (const char* ending : {"", ".gz"})
    if (auto path = folder / (name + ending); fs::exists(path)) return path;
  return {};
}

std::vector<fs::path> find_transactions(const fs::path& folder) {
  if (auto whole = either(folder, "trans.asc"); !whole.empty()) return {whole};
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("trans_") && (name.ends_with(".csv") || name.ends_with(".csv.gz"))) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<fs::path> Folder::all() const {
  std::vector<fs::path> files = {clients, dispositions};
  files.insert(files.end(), transactions.begin(), transactions.end());
  return files;
}

Folder find_files(const std::string& data) {
  const auto folder = find_folder(data);
  Folder found{either(folder, "client.asc"), either(folder, "disp.asc"), find_transactions(folder)};
  std::string missing;
  const auto miss = [&](bool is_there, const char* name) {
    if (!is_there) missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
  miss(!found.clients.empty(), "client.asc");
  miss(!found.dispositions.empty(), "disp.asc");
  miss(!found.transactions.empty(), "trans.asc or trans_*.csv");
  if (!missing.empty())
    throw std::runtime_error("transactions: " + folder.string() + " lacks " + missing + " (each may end in .gz). " + kRemedy);
  return found;
}

}  // namespace ablate::transactions
