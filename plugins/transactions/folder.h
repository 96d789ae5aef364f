// Finding the files of the Berka data.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ablate::transactions {

struct Folder {
  std::filesystem::path clients, dispositions;
  std::vector<std::filesystem::path> transactions;  ///< at least one; by name

  std::vector<std::filesystem::path> all() const;
};

/// @param data as find_data (ablate/data_files.h) has it: a folder. It holds client.asc, disp.asc, and trans.asc or, where
/// that is not there, files trans_*.csv; each may end in .gz. Throws std::runtime_error with what was looked for and what to
/// do.
Folder find_files(const std::string& data);

}  // namespace ablate::transactions
