// Forked child that runs one job, seen from the worker.
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

/// Measures, about once a second, the memory that one job does not share with other processes, and compares it with a limit.
class MemoryWatch {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param limit_bytes 0: no limit
  explicit MemoryWatch(std::int64_t limit_bytes) : limit_(limit_bytes) {}

  int milliseconds_left(Clock::time_point now) const;
  /// Measures the memory if a measurement is due. Without a limit, measures less often if the kernel takes long to count.
  /// @return bytes that no other process shares, if they changed by more than a sixteenth since the last returned value
  std::optional<std::int64_t> look(pid_t process, Clock::time_point now);

  bool is_over() const { return limit_ > 0 && bytes_ > limit_; }
  /// "it held 1.2 GiB of memory of its own, and --memory allows 1 GiB"; "" if the limit is not exceeded.
  std::string over_text() const;
  /// "; it held 1.2 GiB of its own at the last look, when 100 MiB of the machine's 16 GiB were available"; "" before a look.
  std::string sizes_text() const;
  /// Memory of the machine at the last measurement.
  const MemoryState& last() const { return machine_; }

  /// Limits the child's data (RLIMIT_DATA). A much too large allocation then fails with a message, even between measurements.
  /// Call it after any function that restores limits. The limit is far above `bytes`, because untouched memory counts, too.
  /// @param bytes 0: no limit
  static void limit_data(std::int64_t bytes);

 private:
  std::int64_t limit_, bytes_ = 0, reported_ = -1;
  Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(500);
  MemoryState machine_;
};

/// Request of the worker to save, which the running job reads between two steps. The request is in memory that both processes
/// share, because a worker has few descriptors, and a plugin may block or catch a signal. If a plugin overwrites the request, a
/// checkpoint is written needlessly or skipped. The previous checkpoint then stays.
class SaveRequest {
 public:
  /// Call it before the fork. Throws std::system_error if there is no memory.
  SaveRequest() : page_(mmap(nullptr, sizeof(Flag), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (page_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "no memory to share with a job");
    new (page_) Flag(0);
  }
  ~SaveRequest() { munmap(page_, sizeof(Flag)); }
  SaveRequest(const SaveRequest&) = delete;
  SaveRequest& operator=(const SaveRequest&) = delete;

  void ask() { flag().store(1); }
  /// Called in the job. Returns true if a save was requested since the last call.
  bool take() { return flag().exchange(0) != 0; }

 private:
  using Flag = std::atomic<int>;
  static_assert(Flag::is_always_lock_free, "two processes share it");
  Flag& flag() { return *static_cast<Flag*>(page_); }

  void* page_;
};

/// Stored output of a job. The last kTail bytes are in memory. If the output is longer, its beginning is in a file. The file is
/// optional: a failure to write it has no other effect.
class StoredOutput {
 public:
  static constexpr std::size_t kTail = 8192;               ///< bytes at the end that are stored in memory
  static constexpr std::int64_t kMostInFile = 10'000'000;  ///< bytes at the beginning that are stored in a file

  /// @param file path of a new file, made with its folder if the output exceeds the tail; "": no file
  explicit StoredOutput(std::string file) : file_(std::move(file)) {}

  void take(std::string_view piece);

  const std::string& tail() const { return tail_; }
  std::int64_t bytes() const { return bytes_; }          ///< all bytes of the output
  const std::string& unkept() const { return unkept_; }  ///< reason that the file was given up; "" if it was not

 private:
  /// Opens the file anew for each piece: a worker has few descriptors, and its jobs must not inherit the file's descriptor.
  void write(std::string_view piece);

  std::string file_, tail_, unkept_;
  std::int64_t bytes_ = 0, in_file_ = 0;
};

/// Returns a random word that plugins cannot guess.
std::string secret_word();

/// Limits of a job. 0, or an empty list of processors: no limit.
struct JobLimits {
  double time_s = 0;
  std::int64_t memory_bytes = 0;
  std::vector<int> processors = {};
};

/// Forked child that runs a job. The pipe for its messages is open in the child, where plugin code runs. So each line begins
/// with a secret word. A line without the word, or without an end, is foreign and ends the job.
class JobProcess {
 public:
  /// Forks. The child calls prepare, runs the job and exits. Throws std::system_error, and leaves no child and no open
  /// descriptor, if the system has no process or no descriptor left.
  /// @param output_file new file for the beginning of long output (StoredOutput); "": no file
  JobProcess(const JobLimits& limits, const std::string& output_file, const std::function<void()>& prepare,
             const std::function<void(const Say&)>& run);
  /// Kills the child if it still runs.
  ~JobProcess();
  JobProcess(const JobProcess&) = delete;
  JobProcess& operator=(const JobProcess&) = delete;

  pid_t pid() const { return pid_; }

  /// Adds the open descriptors to wait for. Includes the descriptor of messages if `with_messages` is true.
  void wait_for(std::vector<pollfd>& descriptors, bool with_messages) const;
  /// Closes this job's descriptors in another child of the worker, which has inherited them.
  void close_in_child() const;

  /// Reads what is available, including messages if `with_messages` is true. Returns whole messages, in order.
  std::vector<nlohmann::json> read(bool with_messages);

  bool has_ended() const;

  /// Milliseconds until the job's time limit or memory must be checked.
  int milliseconds_left() const;
  /// Measures the job's memory if due, and kills the job if the memory exceeds the limit. Returns the bytes if they changed.
  std::optional<std::int64_t> look_at_size();
  /// Kills the job if its time is over. A job that has ended by itself is never late.
  void end_if_late();
  /// Extends the time limit by the time for which the worker itself was stopped.
  void forgive(std::chrono::steady_clock::duration stopped) { limit_ += stopped; }
  void kill();
  void ask_to_save() { save_.ask(); }

  /// Waits for the job's end. Calls `left_behind` after the job's process has ended, before the rest of its output is read.
  /// @param last gets the job's last messages
  /// @return how the job ended; the caller sets the job's number
  EndedEvent end(const std::function<void()>& left_behind, std::vector<nlohmann::json>& last);

 private:
  using Clock = std::chrono::steady_clock;

  pid_t pid_ = -1;
  int handle_ = -1;  ///< a pidfd: readable when the child has ended
  int messages_ = -1, output_ = -1;
  std::string word_, unread_, intrusion_;
  StoredOutput printed_;
  SaveRequest save_;
  Clock::time_point start_, limit_;
  bool limited_ = false, late_ = false, killed_ = false;
  MemoryState memory_;  ///< memory of the machine when the job started
  double log_s_ = since_start_s();
  MemoryWatch watch_;
};

}  // namespace ablate
