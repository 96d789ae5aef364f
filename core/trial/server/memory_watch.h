// The memory that one job holds of its own, looked at about once a second by the worker; and the limit of it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/util/memory_kills.h"

namespace ablate {

class MemoryWatch {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param limit_bytes 0: none
  explicit MemoryWatch(std::int64_t limit_bytes) : limit_(limit_bytes) {}

  int milliseconds_left(Clock::time_point now) const;
  /// Looks, where it is time to: without a limit less often at a process that takes the kernel long to count.
  /// @return bytes that it shares with no other, where they have changed by a sixteenth
  std::optional<std::int64_t> look(pid_t process, Clock::time_point now);

  bool is_over() const { return limit_ > 0 && bytes_ > limit_; }
  /// "it held 1.2 GiB of memory of its own, and --memory allows 1 GiB"; "" where it is not over.
  std::string over_text() const;
  /// "; it held 1.2 GiB of its own at the last look, when 100 MiB of the machine's 16 GiB were available"; "" before a look.
  std::string sizes_text() const;
  /// The machine's memory, at the last look.
  const MemoryState& last() const { return machine_; }

  /// In the child, behind whatever puts limits back: a job that takes more between two looks than the machine has is refused
  /// it, and says so. Far above the limit itself: what is counted here need not be touched. @param bytes 0: nothing happens
  static void limit_data(std::int64_t bytes);

 private:
  std::int64_t limit_, bytes_ = 0, told_ = -1;
  Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(500);
  MemoryState machine_;
};

}  // namespace ablate
