// Digest of a task, by which a trial identifies its data: equal for equal contents, and different for different contents.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/trial/conformance/task/checks.h"
#include "core/trial/conformance/task/contents.h"
#include "core/trial/conformance/task/edited_files.h"

namespace ablate {
namespace {

// Places to edit a file, as shares of its length. If a single file has all splits, these places lie in train, test and dev.
constexpr double kPlaces[] = {0.5, 0.97, 0.925, 0.85, 0.3, 0.8, 0.1},
                 kPlacesOfLines[] = {0.97, 0.8, 0.925, 0.3, 0.5, 0.1, 0.85};
constexpr std::size_t kTries = std::size(kPlaces);

/// Edits files and loads the task after each edit, until every kind of change was seen in each file or no load is left.
class Edits {
 public:
  Edits(const TaskSubject& subject, const EditedFiles& files, Finding& finding)
      : subject_(subject), files_(files), finding_(finding), before_(*subject.task, subject.info), files_seen_(files.size()) {
    left_ = static_cast<std::int64_t>(std::clamp<std::uintmax_t>(kMostRead / bytes_of(subject), kFewestLoads, kMostLoads));
  }

  void run() {
    // If there are very many files, only some are edited, spread over all.
    const auto stride = (files_.size() + kMostFiles - 1) / kMostFiles;
    for (std::size_t attempt = 0; attempt < kTries; ++attempt)
      for (std::size_t file = 0; file < files_.size(); file += stride) {
        const auto& name = subject_.files[file].string();
        for (const bool end_of_line : {false, true})
          if (auto& seen = files_seen_[file]; !seen.all_of(end_of_line) || (files_.size() == 1 && splits_.size() < 3)) {
            const double share = (end_of_line ? kPlacesOfLines : kPlaces)[attempt];
            files_.edit(file, share, end_of_line);
            if (look(fmt::format("a changed character after {} % of {}", 100 * share, name), file))
              seen.characters[end_of_line ? 1 : 0] = true;
          }
        if (!files_seen_[file].targets && left_ > 0 && files_.exchange(file, attempt))
          look(fmt::format("exchanged word {} of each two lines of {}", attempt + 1, name), file);
      }
  }

  std::string text() const {
    return fmt::format("{} edits of {} files seen{}{}{}", seen_, files_.size(), splits_.empty() ? "" : ", in ",
                       fmt::join(splits_, ", "), targets_ ? ", and of targets alone" : "");
  }
  bool any() const { return seen_ > 0; }

 private:
  static constexpr std::uintmax_t kMostRead = 64 << 20;
  static constexpr std::uintmax_t kFewestLoads = 8, kMostLoads = 60;
  static constexpr std::size_t kMostFiles = 8;
  struct Seen {
    bool characters[2] = {false, false}, targets = false;
    bool all_of(bool end_of_line) const { return characters[end_of_line ? 1 : 0]; }
  };

  /// Loads the task with the edited file, and restores the file. Returns true if some split has changed.
  bool look(const std::string& what, std::size_t file) {
    if (left_-- <= 0) return files_.restore(file), false;
    bool changed = false;
    try {
      const LoadedAlone edited(subject_, files_.changes());
      const auto after = edited.contents();
      const auto splits = after.others(before_);
      if (edited.task->digest() == subject_.task->digest() &&
          (!splits.empty() || text_of(edited.info) != text_of(subject_.info)))
        finding_.off_by(kFault, fmt::format("{}: the examples{} changed, but the digest is the same", what,
                                            splits.empty() ? "" : " of " + splits));
      if (!splits.empty()) {
        changed = true;
        ++seen_;
        for (const auto& [split, name] : kSplits)
          if (splits == name) splits_.insert(name);
        if (after.same_but_targets(before_)) files_seen_[file].targets = targets_ = true;
      }
    } catch (const std::exception&) {  // the edited file has an invalid format
    }
    files_.restore(file);
    return changed;
  }

  const TaskSubject& subject_;
  const EditedFiles& files_;
  Finding& finding_;
  Contents before_;
  std::vector<Seen> files_seen_;
  std::set<std::string> splits_;  ///< splits that changed while no other split did
  bool targets_ = false;
  std::size_t seen_ = 0;
  std::int64_t left_ = 0;  ///< remaining loads
};

}  // namespace

std::string too_large_to_edit(const TaskSubject& subject, Splits) {
  constexpr std::uintmax_t most = 64 << 20;
  if (subject.quick) return "each edit needs one more load of the task, which a quick check leaves out";
  std::uintmax_t size = 0;
  for (const auto& file : subject.files) {
    if (!std::filesystem::is_regular_file(file)) return file.string() + " is no file";
    size += std::filesystem::file_size(file);
  }
  return size <= most
             ? ""
             : fmt::format("its files have {} MiB, more than the {} MiB that are copied and edited", size >> 20, most >> 20);
}

void task_digest(const TaskSubject& subject, Splits, Finding& finding) {
  const auto digest = subject.task->digest();
  if (digest.empty()) return finding.off_by(kFault, "it is empty");
  for (const auto& found : {subject.task->digest(), subject.again->digest()})
    if (found != digest) finding.off_by(kFault, fmt::format("{}, and before {}", found, digest));
}

/// Checks that copies of the files have the digest of the originals, and another digest if an edit changes some example.
void task_digest_of_files(const TaskSubject& subject, Splits, Finding& finding) {
  const auto files = EditedFiles::of(subject);
  if (!files) return finding.leave("no parameter leads to a copy of the files");
  if (const LoadedAlone copy(subject, files->changes()); copy.task->digest() != subject.task->digest()) {
    if (copy.contents().others(Contents(*subject.task, subject.info)).empty())
      return finding.off_by(kFault, "the same files in another folder have another digest");
    return finding.leave("a copy of the files gives other examples");
  }
  Edits edits(subject, *files, finding);
  edits.run();
  if (!edits.any()) return finding.leave(edits.text());
  finding.say(edits.text());
}

}  // namespace ablate
