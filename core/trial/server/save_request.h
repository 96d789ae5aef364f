// A wish of the worker that its running job looks at between two steps.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace ablate {

/// A page that worker and job share: no descriptor, of which a worker has few, and no signal, which a plugin may block or
/// catch. What code of a plugin writes there asks for a checkpoint that nobody needs, or hides that one was asked for: then the
/// one before stays.
class SaveRequest {
 public:
  /// Before the fork. Throws std::system_error where there is no memory.
  SaveRequest() : page_(mmap(nullptr, sizeof(Flag), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (page_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "no memory to share with a job");
    new (page_) Flag(0);
  }
  ~SaveRequest() { munmap(page_, sizeof(Flag)); }
  SaveRequest(const SaveRequest&) = delete;
  SaveRequest& operator=(const SaveRequest&) = delete;

  void ask() { flag().store(1); }
  /// In the job. @return whether it was asked since the last call
  bool take() { return flag().exchange(0) != 0; }

 private:
  using Flag = std::atomic<int>;
  static_assert(Flag::is_always_lock_free, "two processes share it");
  Flag& flag() { return *static_cast<Flag*>(page_); }

  void* page_;
};

}  // namespace ablate
