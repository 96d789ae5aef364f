// Copies of the files that a task reads, to be edited. The task reads the copies if one parameter has another value.
#pragma once

#include <optional>

#include "core/trial/conformance/task/checks.h"

namespace ablate {

class EditedFiles {
 public:
  /// Copies the files, and finds the parameter to change.
  /// @return nullopt if no parameter leads to the copies
  static std::optional<EditedFiles> of(const TaskSubject& subject);

  /// Returns the changed parameters.
  const nlohmann::json& changes() const { return changes_; }
  std::size_t size() const { return copies_.size(); }
  /// Changes one character of a word, after the given share of the file's content: a digit to another digit, a letter to
  /// another letter. With end_of_line, changes the last such character of that line instead, because labels may be there.
  /// Unpacks and packs gzipped files. Keeps the file's time of modification.
  void edit(std::size_t file, double share, bool end_of_line) const;
  /// Exchanges the given word between lines 1 and 2, lines 3 and 4, and so on. Leaves out line 0, which may be a heading. All
  /// words stay valid for their column.
  /// @return true if any line has changed
  bool exchange(std::size_t file, std::size_t word) const;
  void restore(std::size_t file) const;

 private:
  nlohmann::json changes_;
  std::vector<std::filesystem::path> originals_, copies_;
};

}  // namespace ablate
