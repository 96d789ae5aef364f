// Processors for trials: each gets its own, which no other trial of this user has, whichever scheduler runs it.
#pragma once

#include <filesystem>
#include <map>
#include <vector>

namespace ablate {

/// Processors are taken by locks on bytes of a file that all schedulers of a user on this machine share; the kernel gives back
/// what a dead one held. One thread.
class Processors {
 public:
  /// @param file made where it lacks; where it cannot be, only this object's own trials are kept apart
  explicit Processors(const std::filesystem::path& file = shared_file());
  ~Processors();
  Processors(const Processors&) = delete;
  Processors& operator=(const Processors&) = delete;

  /// That this process may run on, in order.
  const std::vector<int>& all() const { return all_; }

  /// @return so many that are free, for this job until it gives them back; none where fewer are free
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

/// How many this process may run on, and has the time of; at least 1.
int processor_count();

}  // namespace ablate
