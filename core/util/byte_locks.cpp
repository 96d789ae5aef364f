#include "core/util/byte_locks.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/util/error.h"

namespace ablate {
namespace {

struct flock one_byte(std::int64_t slot, short type = F_WRLCK) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = slot;
  lock.l_len = 1;
  return lock;
}

}  // namespace

bool lock_byte(int descriptor, std::int64_t at) {
  auto lock = one_byte(at);
  return fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

void unlock_byte(int descriptor, std::int64_t at) {
  auto lock = one_byte(at, F_UNLCK);
  fcntl(descriptor, F_OFD_SETLK, &lock);
}

ByteLocks::ByteLocks(std::filesystem::path file) : file_(std::move(file)) {}

ByteLocks::~ByteLocks() {
  for (const int one : earlier_) close(one);
  if (descriptor_ >= 0) close(descriptor_);
}

bool ByteLocks::take(std::int64_t slot) {
  const auto refuse = [&](const char* what) {
    throw Error("cannot " + std::string(what) + " " + file_.string() + ": " + std::strerror(errno) +
                ". The schedulers that share a history lock bytes of that file, so its folder must be writable and its file "
                "system must have locks; point elsewhere with --db FILE or ABLATE_DB.");
  };
  if (descriptor_ < 0) descriptor_ = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) refuse("open");
  if (lock_byte(descriptor_, slot)) {
    slot_ = slot;
    return true;
  }
  if (errno != EAGAIN && errno != EACCES) refuse("lock");
  return false;
}

bool ByteLocks::is_held(std::int64_t slot) {
  if (slot == slot_) return true;
  const auto is_held_in = [&](int descriptor) {
    auto lock = one_byte(slot);
    return fcntl(descriptor, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
  };
  return is_held_in(descriptor_) || std::any_of(earlier_.begin(), earlier_.end(), is_held_in);
}

bool ByteLocks::holds_against_others() const {
  const pid_t child = fork();
  if (child == 0) {  // only system calls, because other threads may hold locks of the process
    const int other = open(file_.c_str(), O_RDWR | O_CLOEXEC);
    _exit(other >= 0 && lock_byte(other, slot_) ? 1 : 0);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return !(child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

std::string ByteLocks::doubt() {
  struct statfs found {};
  if (fstatfs(descriptor_, &found) == 0)
    if (const auto name = doubtful_file_system(found.f_type); !name.empty())
      return "it is on " + name + ", where other machines may not see its locks";
  if (!holds_against_others()) return "its file system lets two processes hold the same lock";
  return "";
}

void ByteLocks::keep_slot() {
  struct stat own {
  }, there{};
  if (descriptor_ < 0 || slot_ == 0 || fstat(descriptor_, &own) != 0) return;
  if (stat(file_.c_str(), &there) == 0 && own.st_ino == there.st_ino && own.st_dev == there.st_dev) return;
  const int anew = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (anew < 0) return;
  if (lock_byte(anew, slot_))
    earlier_.push_back(std::exchange(descriptor_, anew));
  else
    close(anew);
}

void ByteLocks::remove() {
  std::error_code none;
  std::filesystem::remove(file_, none);
}

std::string doubtful_file_system(long type) {
  switch (static_cast<unsigned long>(type) & 0xFFFFFFFF) {
    case NFS_SUPER_MAGIC:
      return "nfs";
    case FUSE_SUPER_MAGIC:
      return "fuse";
    case V9FS_MAGIC:
      return "9p";
    case CEPH_SUPER_MAGIC:
      return "ceph";
    case SMB_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
      return "cifs";
    case 0x0BD00BD0:
      return "lustre";
    case 0x47504653:
      return "gpfs";
    default:
      return "";
  }
}

std::unique_ptr<Locks> locks_beside(const std::filesystem::path& history) {
  return std::make_unique<ByteLocks>(history.string() + "-leases");
}

}  // namespace ablate
