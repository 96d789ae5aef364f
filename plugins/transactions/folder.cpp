#include "folder.h"

#include <algorithm>
#include <stdexcept>

#include "ablate/data_files.h"

namespace ablate::transactions {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExpected =
    "a folder of the PKDD'99 discovery challenge's financial data: client.asc, disp.asc and trans.asc or trans_*.csv, plain or "
    "gzipped; or set ABLATE_DATA to a folder with berka in it: the files of data_berka.zip from "
    "https://sorry.vse.cz/~berka/challenge/pkdd1999/berka.htm";

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

}  // namespace

std::vector<fs::path> Folder::all() const {
  std::vector<fs::path> files = {clients, dispositions};
  files.insert(files.end(), transactions.begin(), transactions.end());
  return files;
}

Folder find_files(const std::string& data) {
  const auto folder = find_data("transactions", data, kExpected);
  Folder found{plain_or_gzipped(folder / "client.asc"), plain_or_gzipped(folder / "disp.asc"), find_transactions(folder)};
  std::string missing;
  const auto miss = [&](bool is_there, const char* name) {
    if (!is_there) missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
  miss(!found.clients.empty(), "client.asc");
  miss(!found.dispositions.empty(), "disp.asc");
  miss(!found.transactions.empty(), "trans.asc or trans_*.csv");
  if (!missing.empty())
    throw std::runtime_error("transactions: " + folder.string() + " lacks " + missing + " (each may end in .gz); expected " +
                             kExpected);
  return found;
}

}  // namespace ablate::transactions
