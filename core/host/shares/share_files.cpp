#include "core/host/shares/share_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>

#include "core/util/error.h"
#include "core/util/json_file.h"
#include "core/util/real_path.h"
#include "core/util/sha256.h"
#include "core/util/stop_on_signal.h"
#include "db/history/artifacts.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

fs::path own_machines_folder() {
  for (const char* name : {"SLURM_TMPDIR", "TMPDIR"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  std::error_code failed;
  auto folder = fs::temp_directory_path(failed);
  return failed ? fs::path("/tmp") : folder;
}

[[noreturn]] void refuse_folder(const fs::path& folder, const std::string& why) {
  throw Error(
      fmt::format("no folder for the share's history: {}: {}. Set $SLURM_TMPDIR or $TMPDIR to another folder of this machine, "
                  "or --db FILE to another file.",
                  folder.string(), why));
}

/// Makes the folder. Other users may write in its parent folder, so it must belong to this user and be closed to all others.
void make_own(const fs::path& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) refuse_folder(folder, std::strerror(errno));
  struct stat found {};
  if (lstat(folder.c_str(), &found) != 0) {
    if (errno == ENOENT) return make_own(folder);  // the last run of another share has just removed the folder
    refuse_folder(folder, std::strerror(errno));
  }
  if (!S_ISDIR(found.st_mode) || found.st_uid != geteuid() || (found.st_mode & 0077) != 0)
    refuse_folder(
        folder, "found no folder, or a folder that other users own or may open; expected a folder of this user with mode 700");
}

std::string device_and_inode(const fs::path& folder) {
  struct stat s {};
  return stat(folder.c_str(), &s) == 0 && S_ISDIR(s.st_mode) ? fmt::format("{} {}", s.st_dev, s.st_ino) : "";
}

std::string id_of_plan(const fs::path& shared) {
  const auto plan = read_json_file(plan_of_shares(shared));
  const auto id = plan.is_object() ? plan.value(kFolderId, nlohmann::json()) : nlohmann::json();
  return id.is_string() ? id.get<std::string>() : "";
}

}  // namespace

SharedFolderMark::SharedFolderMark(fs::path shared)
    : shared_(std::move(shared)), place_(device_and_inode(shared_)), id_(id_of_plan(shared_)) {}

void SharedFolderMark::expect() {
  const auto now = device_and_inode(shared_);
  if (!now.empty() && now == place_) return;
  if (now.empty() || id_.empty() || id_of_plan(shared_) != id_)
    throw Error(fmt::format("{} is not the folder that this share began with: found {}. Is its file system mounted? Once it is "
                            "there the same command goes on",
                            shared_.string(), now.empty() ? "none" : "another"),
                ExitCode::kAgain);
  place_ = now;
}

Error not_written(const std::string& what, std::error_code why) {
  const bool is_full = why == std::errc::no_space_on_device || why == std::error_code(EDQUOT, std::generic_category());
  return Error(fmt::format("{}: {}{}", what, why.message(), is_full ? "; once there is room the same command goes on" : ""),
               is_full ? ExitCode::kAgain : ExitCode::kUsage);
}

fs::path default_shared_folder(const fs::path& study) {
  auto folder = study;
  return folder.replace_extension(".shares");
}

fs::path copy_of_share(const fs::path& shared, int index, const std::string& run) {
  return shared / fmt::format("share-{}.{}.db", index, run);
}
fs::path files_of_share(const fs::path& shared, int index) { return shared / fmt::format("share-{}.db", index); }

std::vector<fs::path> copies_of_share(const fs::path& shared, int index) {
  const auto begin = fmt::format("share-{}.", index);
  std::vector<fs::path> copies;
  std::error_code failed;
  for (fs::directory_iterator entry(shared, failed), end; !failed && entry != end; entry.increment(failed)) {
    const auto name = entry->path().filename().string();
    std::error_code none;
    if (name.starts_with(begin) && name.ends_with(".db") && name.size() == begin.size() + 8 + 3 && entry->is_regular_file(none))
      copies.push_back(entry->path());
  }
  std::sort(copies.begin(), copies.end());
  return copies;
}

std::string new_run() { return fmt::format("{:08x}", std::random_device()()); }

fs::path end_of_share(const fs::path& shared, int index) { return shared / fmt::format("share-{}.end", index); }
fs::path plan_of_shares(const fs::path& shared) { return shared / "plan.json"; }

void write_end(const fs::path& file, const ShareEnd& end) {
  const auto failed = put_json_file(file, {{"done", end.done}, {"failed", end.failed}, {"plan", end.plan}});
  if (!failed.empty())
    throw Error(fmt::format("the share's end cannot be written: {}: {}; the same command tries again", file.string(), failed),
                ExitCode::kAgain);
}

bool read_end(const fs::path& file, const std::string& plan, ShareEnd& into) try {
  const auto found = read_json_file(file);
  if (!found.is_object() || found.at("plan") != plan) return false;
  into = {found.at("done"), found.at("failed"), found.at("plan")};
  return into.done >= 0 && into.failed >= 0;
} catch (const nlohmann::json::exception&) {
  return false;
}

ShareFolder::ShareFolder(const fs::path& shared, int index)
    : folder_(own_machines_folder() /
              fmt::format("ablate-shares-{}-{}", geteuid(), sha256(real_path(shared).string()).substr(0, 16))),
      index_(index) {
  make_own(folder_);
  take_lock();
}

/// Takes a lock shared by all runs of the share on this machine. Retries if another run has just removed the files.
void ShareFolder::take_lock() {
  const auto file = folder_ / fmt::format("share-{}.lock", index_);
  for (;;) {
    make_own(folder_);
    lock_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock_ < 0 && errno == ENOENT) continue;  // the folder was just removed
    while (lock_ >= 0 && flock(lock_, LOCK_SH) != 0) {
      if (errno != EINTR) refuse_folder(file, std::strerror(errno));
      stop_if_asked();
    }
    if (lock_ < 0) refuse_folder(file, std::strerror(errno));
    struct stat opened {
    }, named{};
    if (fstat(lock_, &opened) == 0 && stat(file.c_str(), &named) == 0 && opened.st_ino == named.st_ino) return;
    close(lock_);  // the file was removed meanwhile
  }
}

fs::path ShareFolder::history() const { return folder_ / fmt::format("share-{}.db", index_); }

ShareFolder::~ShareFolder() {
  if (lock_ < 0) return;
  const auto file = history();
  std::error_code none;
  if ((is_copied_ || !fs::exists(file, none)) && flock(lock_, LOCK_EX | LOCK_NB) == 0) {
    for (const char* kind : {db::kOutput, db::kWeights, db::kCheckpoints})
      fs::remove_all(db::artifact_folder(file, kind), none);
    for (const char* ending : {"", "-wal", "-shm", "-leases"}) fs::remove(file.string() + ending, none);
    fs::remove(folder_ / fmt::format("share-{}.lock", index_), none);
    rmdir(folder_.c_str());  // succeeds only for the last share
  }
  close(lock_);
}

}  // namespace ablate
