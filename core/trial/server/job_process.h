// A forked child that runs one job, as the worker sees it.
#pragma once

#include <poll.h>
#include <sys/mman.h>
#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/trial/server/server.h"
#include "core/util/memory_kills.h"

namespace ablate {

/// The memory that one job holds of its own, looked at about once a second; and the limit of it.
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

/// A wish of the worker that its running job looks at between two steps. It stands on a page that both share: no descriptor, of
/// which a worker has few, and no signal, which a plugin may block or catch. What code of a plugin writes there asks for a
/// checkpoint that nobody needs, or hides that one was asked for: then the one before stays.
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

/// The output of a job, as far as it is kept. Its end is held in memory; where that is not all of it, a file has its beginning.
/// The file is a convenience: where it cannot be written nothing else suffers.
class KeptOutput {
 public:
  static constexpr std::size_t kTail = 8192;               ///< bytes at the end that are held
  static constexpr std::int64_t kMostInFile = 10'000'000;  ///< bytes at the beginning that a file has

  /// @param file a new one, made with its folder as soon as there is more than the tail; "": none
  explicit KeptOutput(std::string file) : file_(std::move(file)) {}

  void take(std::string_view piece);

  const std::string& tail() const { return tail_; }
  std::int64_t bytes() const { return bytes_; }          ///< all
  const std::string& unkept() const { return unkept_; }  ///< why the file was given up; "": it was not

 private:
  /// Opened for each piece: a worker has few descriptors, and its jobs inherit none of these.
  void write(std::string_view piece);

  std::string file_, tail_, unkept_;
  std::int64_t bytes_ = 0, in_file_ = 0;
};

/// One that nobody guesses.
std::string secret_word();

/// What a job may take, as StartCommand has it.
struct JobLimits {
  double time_s = 0;
  std::int64_t memory_bytes = 0;
  std::vector<int> processors = {};
};

/// The pipe that a job's messages come through is open in the child, where code of plugins runs. So each line begins with a
/// word that only the two ends know; a line without it, or one without end, is none of the host's, and ends the job.
class JobProcess {
 public:
  /// Forks. In the child calls prepare, runs and ends the process. @param output_file StartCommand's
  /// Throws std::system_error where there is no process or no descriptor to be had; nothing is left over then.
  JobProcess(const JobLimits& limits, const std::string& output_file, const std::function<void()>& prepare,
             const std::function<void(const Say&)>& run);
  /// Kills what still runs.
  ~JobProcess();
  JobProcess(const JobProcess&) = delete;
  JobProcess& operator=(const JobProcess&) = delete;

  pid_t pid() const { return pid_; }

  /// What is still open, to wait for. @param hears also its messages
  void wait_for(std::vector<pollfd>& descriptors, bool hears) const;
  /// In the parent's other children: nothing of this one stays open.
  void close_in_child() const;

  /// Reads what is there. @param hears also its messages @return whole messages, in order
  std::vector<nlohmann::json> read(bool hears);

  bool has_ended() const;

  /// Milliseconds until something of it is to be looked at: its time, or its memory.
  int milliseconds_left() const;
  /// Looks at its memory where it is time to, and ends it where it has too much. @return bytes, where they have changed
  std::optional<std::int64_t> look_at_size();
  /// Ends it where its time is over. A job that has ended by itself is never late.
  void end_if_late();
  /// The worker itself was stopped for so long: no fault of the job.
  void forgive(std::chrono::steady_clock::duration stopped) { limit_ += stopped; }
  void kill();
  void ask_to_save() { save_.ask(); }

  /// Waits for its end. @param left_behind called when it is gone, before the rest of its output is read
  /// @param last takes its last messages
  /// @return how it ended; its number is the caller's to say
  EndedEvent end(const std::function<void()>& left_behind, std::vector<nlohmann::json>& last);

 private:
  using Clock = std::chrono::steady_clock;

  pid_t pid_ = -1;
  int handle_ = -1;  ///< a pidfd: readable when the child has ended
  int messages_ = -1, output_ = -1;
  std::string word_, unread_, intrusion_;
  KeptOutput printed_;
  SaveRequest save_;
  Clock::time_point start_, limit_;
  bool limited_ = false, late_ = false, killed_ = false;
  MemoryState memory_;  ///< when it started
  double log_s_ = since_start_s();
  MemoryWatch watch_;
};

}  // namespace ablate
