// The digest is a trial's identity of its data: the same for the same contents, another one for others.
#include <fmt/format.h>

#include <algorithm>

#include "core/trial/conformance/edited_files.h"
#include "core/trial/conformance/task_checks.h"

namespace ablate {
namespace {

// Where a file is edited, until an edit can be read and is seen: first what train may hold of a single file, then what test
// may.
constexpr double kPlaces[] = {0.5, 0.3, 0.8, 0.1, 0.97}, kPlacesOfLines[] = {0.97, 0.8, 0.3, 0.5, 0.1};

/// Whether two tasks hand out the same: all examples and targets of each split, of which 100,000.
bool are_same(const Task& found, const TaskSubject& subject) {
  return std::all_of(std::begin(kSplits), std::end(kSplits), [&](const auto& named) {
    const auto& sample = subject.sample(named.split);
    return found.size(named.split) == sample.size &&
           contents_of(found, subject.info, named.split) == contents_of(*subject.task, subject.info, named.split);
  });
}

/// A task of other parameters; its cache folder is gone with it.
struct Loaded {
  Loaded(const TaskSubject& subject, const nlohmann::json& changes) : folder(subject.folder("cache")) {
    task = subject.make(2, folder, changes);
    task->info();
    task->load();
  }
  ~Loaded() {
    task.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  std::filesystem::path folder;
  std::unique_ptr<Task> task;
};

enum class Seen { kRefused, kSame, kOtherContents, kOtherDigest };

Seen see(const TaskSubject& subject, const EditedFiles& files) {
  try {
    const Loaded edited(subject, files.changes());
    if (edited.task->digest() != subject.task->digest()) return Seen::kOtherDigest;
    const bool is_same = text_of(edited.task->info()) == text_of(subject.info) && are_same(*edited.task, subject);
    return is_same ? Seen::kSame : Seen::kOtherContents;
  } catch (const std::exception&) {
    return Seen::kRefused;  // it is no longer in the file's format
  }
}

}  // namespace

std::string too_large_to_edit(const TaskSubject& subject, Splits) {
  constexpr std::uintmax_t most = 64 << 20;
  if (subject.quick) return "it is loaded once more for each edit, and this is a quick look";
  std::uintmax_t size = 0;
  for (const auto& file : subject.files) {
    if (!std::filesystem::is_regular_file(file)) return file.string() + " is no file";
    size += std::filesystem::file_size(file);
  }
  return size <= most ? "" : fmt::format("its files have {} MiB, and up to {} are copied and edited", size >> 20, most >> 20);
}

void task_digest(const TaskSubject& subject, Splits, Finding& finding) {
  const auto digest = subject.task->digest();
  if (digest.empty()) return finding.off_by(kFault, "it is empty");
  for (const auto& found : {subject.task->digest(), subject.again->digest()})
    if (found != digest) finding.off_by(kFault, fmt::format("{}, and before {}", found, digest));
}

void task_digest_of_seed(const TaskSubject& subject, Splits, Finding& finding) {
  if (subject.other->digest() != subject.task->digest()) return;
  if (subject.seed == SeedPromise::kOther) return finding.off_by(kFault, "the digest is the same");
  if (text_of(subject.other->info()) != text_of(subject.info) || !are_same(*subject.other, subject))
    finding.off_by(kFault, "the digest is the same, and the examples are not");
}

/// Copies of the files have the digest of the originals; with one character changed, which some example shows, they have not.
void task_digest_of_files(const TaskSubject& subject, Splits, Finding& finding) {
  const auto files = EditedFiles::of(subject);
  if (!files) return finding.leave("no parameter leads to a copy of the files");
  if (const Loaded copy(subject, files->changes()); copy.task->digest() != subject.task->digest()) {
    if (are_same(*copy.task, subject)) return finding.off_by(kFault, "the same files in another folder have another digest");
    return finding.leave("what is read from a copy of the files is something else");
  }
  std::size_t edits = 0;
  // Of many files the first and the last: what holds of those holds of the rest, and a load may take seconds.
  for (std::size_t file = 0; file < files->size(); file += std::max<std::size_t>(files->size() - 1, 1))
    for (const bool end_of_line : {false, true})
      for (const auto share : end_of_line ? kPlacesOfLines : kPlaces) {
        files->edit(file, share, end_of_line);
        const auto seen = see(subject, *files);
        files->restore(file);
        if (seen == Seen::kOtherContents)
          finding.off_by(
              kFault, fmt::format("a character behind {} % of {} is another, so are the examples, and the digest is the same",
                                  100 * share, subject.files[file].string()));
        if (seen != Seen::kOtherContents && seen != Seen::kOtherDigest) continue;
        ++edits;
        break;
      }
  const auto text = fmt::format("{} edits of {} files seen", edits, files->size());
  if (edits == 0) return finding.leave(text);
  finding.say(text);
}

}  // namespace ablate
