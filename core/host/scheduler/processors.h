// Assigns processors to trials, so that no other trial of this user shares them, even under another scheduler.
#pragma once

#include <filesystem>
#include <map>
#include <vector>

namespace ablate {

/// A processor is taken by a lock on a byte of a file that all schedulers of a user on this machine share. The kernel releases
/// the locks of a dead process. For one thread only.
class Processors {
 public:
  /// @param file created if missing; if that fails, only this object's own trials are kept apart
  explicit Processors(const std::filesystem::path& file = shared_file());
  ~Processors();
  Processors(const Processors&) = delete;
  Processors& operator=(const Processors&) = delete;

  /// Processors that this process may run on, in order.
  const std::vector<int>& all() const { return all_; }

  /// Takes `count` free processors for this job until give_back(). Returns none if fewer are free.
  std::vector<int> take(int job, int count);
  void give_back(int job);

 private:
  static std::filesystem::path shared_file();
  bool lock(int processor);
  void unlock(int processor);

  int file_ = -1;
  std::vector<int> all_;
  std::map<int, std::vector<int>> taken_;  ///< by job
};

/// Returns the number of processors that this process may use, limited by its quota of CPU time; at least 1.
int processor_count();

}  // namespace ablate
