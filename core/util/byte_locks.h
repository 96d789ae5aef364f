// Locks on the bytes of a file, kept by the kernel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace ablate {

/// Locks on numbered slots, visible to all processes that share a history. Each process holds one slot until it releases the
/// slot or ends. A process that is stopped or runs in another container of the machine still holds its slot. This is an
/// interface, because tests and simulations of many schedulers have their own locks. For one thread only.
class Locks {
 public:
  Locks() = default;
  virtual ~Locks() = default;  ///< releases the slot
  Locks(const Locks&) = delete;
  Locks& operator=(const Locks&) = delete;

  /// Locks a slot, whose number is 1 or more. Returns false if another process holds it. Throws Error.
  virtual bool take(std::int64_t slot) = 0;

  /// True if this or another process holds the slot, or if the system does not know. If false, the slot's holder is dead.
  virtual bool is_held(std::int64_t slot) = 0;

  /// Returns why is_held may be wrong here: "it is on nfs, where other machines may not see its locks"; else "". Call it
  /// while the process holds a slot.
  virtual std::string doubt() = 0;

  /// If somebody removed the lock file, locks the slot again in a new file, so that new processes see the lock.
  virtual void keep_slot() {}

  /// Removes the lock file. Only for the last holder, while no other process can begin to lock a slot.
  virtual void remove() = 0;
};

/// Sets an open-file-description lock (F_OFD_SETLK) on a byte of an open file. The lock belongs to the descriptor and its
/// copies, not to a process. It stays when the process closes another descriptor of the file, and a forked child shares it.
/// @return false if another descriptor has the lock, or if the call fails for another reason (errno)
bool lock_byte(int descriptor, std::int64_t at);
void unlock_byte(int descriptor, std::int64_t at);

/// Locks in a file: each slot is a byte. The file stays empty, and the first take() makes it. exec closes the descriptor.
class ByteLocks final : public Locks {
 public:
  explicit ByteLocks(std::filesystem::path file);
  ~ByteLocks() override;

  bool take(std::int64_t slot) override;
  bool is_held(std::int64_t slot) override;
  std::string doubt() override;
  void keep_slot() override;
  void remove() override;

 private:
  /// True if a second process, with its own descriptor, cannot lock the slot that this process holds.
  bool holds_against_others() const;

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::vector<int> earlier_;  ///< descriptors of removed lock files, in which other processes may still hold slots
  std::int64_t slot_ = 0;     ///< slot that this object holds; 0: none
};

/// Returns the name of a file system on which locks may have no effect on other machines: "nfs", "lustre", "gpfs", "ceph",
/// "fuse", "9p", "cifs"; "" for any other. `type` is statfs::f_type.
std::string doubtful_file_system(long type);

/// Returns the locks of the schedulers that share a history: FILE-leases beside it.
std::unique_ptr<Locks> locks_beside(const std::filesystem::path& history);

}  // namespace ablate
