// Locks on the bytes of a file, as the kernel keeps them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace ablate {

/// Locks on numbered slots, which all that share a history see: each of several processes holds one, which ends with it. An
/// interface: a test, or a simulation of many schedulers, has its own. A slot is held until its holder gives it up or is dead;
/// one that is stopped, or runs in another container of the machine, holds it. One thread.
class Locks {
 public:
  Locks() = default;
  virtual ~Locks() = default;  ///< gives up what this one holds
  Locks(const Locks&) = delete;
  Locks& operator=(const Locks&) = delete;

  /// Holds a slot from now on. @param slot 1 or more @return false where another holds it. Throws Error.
  virtual bool take(std::int64_t slot) = 0;

  /// Whether anybody holds it, this one included; if not, its holder is dead. Where the system cannot tell: true.
  virtual bool is_held(std::int64_t slot) = 0;

  /// Why is_held may be wrong here: "it lies on nfs, where locks may mean nothing"; "" where it can be relied on. To be asked
  /// while a slot is held.
  virtual std::string doubt() = 0;

  /// Holds the slot also for whoever comes now, where what the locks are kept in was removed by somebody.
  virtual void keep_slot() {}

  /// Removes what the locks are kept in. For the last holder, while nobody else can begin to take a slot.
  virtual void remove() = 0;
};

/// Takes an open-file-description lock (F_OFD_SETLK) on a byte of an open file. It belongs to the descriptor and its copies,
/// not to a process: it stays when the process closes the file elsewhere, and a forked child shares it. @return false: another
/// has it, or errno says why it cannot be had
bool lock_byte(int descriptor, std::int64_t at);
void unlock_byte(int descriptor, std::int64_t at);

/// Such locks: each slot is a byte of the file, which stays empty. The descriptor is closed by exec. The file is made by the
/// first take().
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
  /// Whether a second process, with a descriptor of its own, cannot lock what this one holds.
  bool holds_against_others() const;

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::vector<int> earlier_;  ///< of files that were removed: who has not moved yet is seen there
  std::int64_t slot_ = 0;     ///< that it holds; 0: none
};

/// The name of a file system on which locks may mean nothing to other machines: "nfs", "lustre", "gpfs", "ceph", "fuse", "9p",
/// "cifs"; "" for any other. @param type statfs::f_type
std::string doubtful_file_system(long type);

/// Those of the schedulers that share a history: FILE-leases beside it.
std::unique_ptr<Locks> locks_beside(const std::filesystem::path& history);

}  // namespace ablate
