// The code of a file and of all that it includes of ours. Torch-free.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/identity/code.h"

namespace ablate::identity {

class Included {
 public:
  /// @param sdk the SDK's include folder, which is ours wherever it lies
  /// @param system folders whose headers, and those of their subfolders, are not: the compiler's and torch's
  Included(const std::filesystem::path& sdk, const std::vector<std::filesystem::path>& system);

  /// What the compiler may read of ours from a file: its tokens and those of each header that it includes, and so on, each
  /// once. Of several headers of a name all count: which of them the compiler takes is its own rule (-iquote, -isystem,
  /// include_next).
  /// @param folders where it looks for headers, beside the SDK's and the environment's (CPATH, CPLUS_INCLUDE_PATH)
  /// @param may_lack headers that are not there are the compiler's own: CUDA's, where there is no toolkit
  /// Throws Error where the file is missing.
  std::string code_of(const std::filesystem::path& file, const std::vector<std::filesystem::path>& folders,
                      bool may_lack = false);

  /// The SDK's headers that were met so far, by name ("ablate/task.h"), with the digest of their own code.
  const std::map<std::string, std::string>& sdk_headers() const { return sdk_headers_; }
  /// What is not known of what was read: "x.cpp: includes what only a macro says", "x.cpp: includes <y.h>, which was not
  /// found".
  const std::set<std::string>& unknown() const { return unknown_; }

 private:
  struct Visit;
  /// @param named path as it was found: if it is a link, its neighbours are the files beside the link
  void visit(const std::filesystem::path& named, Visit& visit);
  bool is_ours(const std::filesystem::path& file) const;
  /// Returns all files of that name, in the order of the folders, with links as they were found.
  std::vector<std::filesystem::path> find(const Include& include, const std::filesystem::path& from,
                                          const std::vector<std::filesystem::path>& folders) const;

  std::filesystem::path sdk_;
  std::vector<std::filesystem::path> system_, environment_;
  std::map<std::filesystem::path, Code> read_;
  std::map<std::string, std::string> sdk_headers_;
  std::set<std::string> unknown_;
};

}  // namespace ablate::identity
