// A copy of the files that a task reads, in a folder that its parameters name instead, to be edited.
#pragma once

#include <optional>

#include "core/trial/conformance/task/checks.h"

namespace ablate {

class EditedFiles {
 public:
  /// Copies them, and looks for the parameter whose value has to be another. @return nothing where no parameter leads to the
  /// copy: the place is fixed
  static std::optional<EditedFiles> of(const TaskSubject& subject);

  /// The parameters that differ.
  const nlohmann::json& changes() const { return changes_; }
  std::size_t size() const { return copies_.size(); }
  /// Changes one character of a word, a digit to another digit, a letter to another letter: behind a share of the file's
  /// content, or the last one of the line that is there, where labels may stand. Gzipped ones are unpacked for it and packed
  /// again. The time of the last change stays.
  void edit(std::size_t file, double share, bool end_of_line) const;
  /// Exchanges the word-th word of each two lines that follow each other, but for the first line, which may be a heading: what
  /// stands there stays what may stand there. @return whether any line has become another one
  bool exchange(std::size_t file, std::size_t word) const;
  void restore(std::size_t file) const;

 private:
  nlohmann::json changes_;
  std::vector<std::filesystem::path> originals_, copies_;
};

}  // namespace ablate
