#include "core/host/shares/shared_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "core/host/shares/share_files.h"
#include "core/records/checkpoint_files.h"
#include "core/util/error.h"
#include "core/util/regular_file.h"
#include "core/util/scratch_folder.h"
#include "core/util/stop_on_signal.h"
#include "db/history/artifacts.h"
#include "db/history/keeping.h"
#include "db/history/store.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

constexpr double kShareOfTime = 0.05;  ///< largest part of the run's time that copies may take
constexpr double kBetweenLooks_s = 30;
constexpr int kTries = 5, kTriesInPeace = 300;  ///< attempts to copy after a request to stop; attempts without a request
constexpr double kBetweenTries_s = 2;

/// Extension of a kind's complete files.
struct KindOfFile {
  const char *kind, *ending;
};
constexpr std::array kResults = {KindOfFile{db::kOutput, ".txt"}, KindOfFile{db::kWeights, ".safetensors"}};

std::vector<db::ArtifactFile> whole_checkpoints(const fs::path& history) {
  std::vector<db::ArtifactFile> files;
  for (const auto& file : checkpoint_files(db::artifact_folder(history, db::kCheckpoints)))
    if (!file.is_part) files.push_back({db::kCheckpoints, file.path.filename().string()});
  return files;
}

std::set<std::string> names_of(const std::vector<db::ArtifactFile>& files) {
  std::set<std::string> names;
  for (const auto& file : files) names.insert(file.name);
  return names;
}

}  // namespace

SharedCopy::SharedCopy(fs::path history, fs::path shared, int index, Note note, Clock& clock)
    : history_(std::move(history)),
      shared_(std::move(shared)),
      index_(index),
      copy_(copy_of_share(shared_, index, new_run())),
      files_(files_of_share(shared_, index)),
      note_(std::move(note)),
      clock_(clock) {}

void SharedCopy::bring() {
  std::error_code failed;
  fs::create_directories(shared_, failed);
  if (failed) throw not_written(fmt::format("the shared folder {} cannot be made", shared_.string()), failed);
  mark_ = std::make_unique<SharedFolderMark>(shared_);
  db::Store store(history_);  // creates the file
  db::copy_files(files_, history_, whole_checkpoints(files_));
  checkpoints_ = names_of(whole_checkpoints(history_));  // this run must not remove checkpoints that it did not copy here
  for (const auto& other : copies_of_share(shared_, index_)) take(other);
  store.tidy_checkpoints({}, UINTMAX_MAX);
  copy();
  remove_old_parts();
}

/// SQLite reads a copy on this machine, because locks may not work in the shared folder.
void SharedCopy::take(const fs::path& other) {
  expect_folder();
  const auto mine = copy_of_share(shared_, index_, new_run());
  std::error_code failed;
  fs::rename(other, mine, failed);
  if (failed == std::errc::no_such_file_or_directory) return;  // another run took it, or the run that wrote it ended
  const auto& named = failed ? other : mine;
  const ScratchFolder folder(history_.parent_path());
  const auto here = folder.path() / "copy.db";
  try {
    copy_to(named, here);
    db::Store(history_).merge(db::OtherHistory(here));
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    std::error_code none;
    if (!failed && !fs::exists(mine, none) && !none) return;  // a third run has taken it meanwhile
    auto where = named;
    if (!failed) {  // a link, because a rename could replace a newer copy of a run that was only slow
      fs::create_hard_link(mine, other, none);
      if (!none) fs::remove(mine, none), where = other;
    }
    throw Error(
        fmt::format("share {}: the copy of an earlier run, {}, cannot be merged: {}. If the copy itself is damaged, move it "
                    "away to do without it.",
                    index_, where.string(), error.what()),
        error.code());
  }
  if (!failed) taken_.push_back(mine);
}

void SharedCopy::keep_up(std::int64_t written) {
  const double start_s = clock_.now_s();
  const bool is_new = written != copied_ || names_of(whole_checkpoints(history_)) != checkpoints_;
  if (asked_to_stop != 0 || start_s < next_s_ || (!is_new && start_s < next_look_s_)) return;
  try {
    copy();
    copied_ = written;
    has_complained_ = false;
  } catch (const Interrupted&) {
    return;
  } catch (const std::exception& error) {
    if (!has_complained_)
      note_(fmt::format("warning: new results of this share cannot be copied to {}: {}; it is tried again", shared_.string(),
                        error.what()));
    has_complained_ = true;
  }
  const double now_s = clock_.now_s();
  next_s_ = now_s + (now_s - start_s) / kShareOfTime;
  next_look_s_ = std::max(next_s_, now_s + kBetweenLooks_s);
}

void SharedCopy::finish() {
  is_last_ = true;
  for (int tries = 1;; ++tries) try {
      copy();
      expect_folder();  // also after the last write, because the local files may be removed now
      return remove_old_parts();
    } catch (const std::exception& error) {
      if (tries >= (asked_to_stop != 0 ? kTries : kTriesInPeace))
        throw Error(fmt::format("the results of this share could not be copied to {}: {}. They are in {} on this machine; the "
                                "same command tries "
                                "again.",
                                shared_.string(), error.what(), history_.string()),
                    ExitCode::kAgain);
      clock_.wait(kBetweenTries_s);
    }
}

/// Copies files before the history, whose rows name the files.
void SharedCopy::copy() {
  expect_folder();
  for (const auto& [kind, ending] : kResults) copy_results(kind, ending);
  const auto here = copy_checkpoints();
  copy_history();
  expect_folder();
  if (here)  // after the copy of the rows, which make old checkpoints useless
    std::erase_if(checkpoints_, [&](const std::string& name) {
      std::error_code none;
      return !here->contains(name) && (fs::remove(db::artifact_folder(files_, db::kCheckpoints) / name, none), true);
    });
  std::erase_if(taken_, [](const fs::path& taken) {
    std::error_code failed;
    fs::remove(taken, failed);
    return !failed;
  });
}

void SharedCopy::copy_history() {
  const ScratchFolder folder(history_.parent_path());
  const auto whole = folder.path() / "history.db";
  db::back_up(history_, whole);
  copy_to(whole, copy_);
}

void SharedCopy::remove_old_parts() const {
  const auto look = [](const fs::path& folder, const std::string& begin) {
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
      const auto name = entry->path().filename().string(), ending = entry->path().extension().string();
      std::error_code none;
      if (name.starts_with(begin) && ending.size() > 1 && ending.find_first_not_of("0123456789", 1) == std::string::npos &&
          fs::file_time_type::clock::now() - fs::last_write_time(entry->path(), none) > std::chrono::hours(1) && !none)
        fs::remove(entry->path(), none);
    }
  };
  look(shared_, fmt::format("share-{}.", index_));
  for (const auto* kind : {db::kOutput, db::kWeights, db::kCheckpoints}) look(db::artifact_folder(files_, kind), "");
}

void SharedCopy::copy_results(const char* kind, const char* ending) {
  std::error_code failed;
  for (fs::directory_iterator entry(db::artifact_folder(history_, kind), failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const auto name = entry->path().filename();
    std::error_code none;
    if (name.extension() != ending || !entry->is_regular_file(none)) continue;
    const auto to = db::artifact_folder(files_, kind) / name;
    if (fs::exists(to, none) && fs::file_size(to, none) == entry->file_size(none)) continue;
    copy_to(entry->path(), to);
  }
}

std::optional<std::set<std::string>> SharedCopy::copy_checkpoints() {
  std::set<std::string> here;
  bool is_all = true;
  for (const auto& file : whole_checkpoints(history_)) {
    here.insert(file.name);
    std::error_code none;
    try {
      if (!fs::exists(file.in(files_), none)) copy_to(file.in(history_), file.in(files_));
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {
      if (fs::exists(file.in(history_), none)) throw;
      is_all = false;  // a newer checkpoint has replaced it meanwhile
      continue;
    }
    checkpoints_.insert(file.name);
  }
  return is_all ? std::optional(here) : std::nullopt;
}

void SharedCopy::copy_to(const fs::path& from, const fs::path& to) const {
  expect_folder();
  RegularFile file(from);
  std::error_code failed;
  fs::create_directories(to.parent_path(), failed);
  const auto pieces = [&](const TakePiece& take) {
    std::array<char, 1 << 16> piece{};
    while (const auto size = file.read(piece.data(), piece.size())) {
      if (!is_last_) stop_if_asked();
      take({piece.data(), size});
    }
  };
  if (const auto why = put_whole(to, pieces, true)) throw not_written("cannot write " + to.string(), why);
}

}  // namespace ablate
