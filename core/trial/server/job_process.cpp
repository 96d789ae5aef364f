#include "core/trial/server/job_process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>
#include <random>
#include <system_error>
#include <utility>

#include "core/util/bytes_text.h"
#include "core/util/error.h"
#include "core/util/one_line.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr auto kBetweenLooks = std::chrono::milliseconds(1000);
constexpr auto kLongestRest = std::chrono::milliseconds(5000);
constexpr int kRests = 50;  ///< pause between two measurements, as a multiple of the time that a measurement takes

std::string text_of(std::int64_t bytes) { return bytes_text(static_cast<std::uintmax_t>(std::max<std::int64_t>(0, bytes))); }

constexpr std::size_t kLongestMessage = std::size_t{1} << 24;  ///< bytes; a curve of 200 points needs some thousands

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "no pipe to a job");
    read = ends[0], write = ends[1];
  }
  ~Pipe() {
    for (const int end : {read, write})
      if (end >= 0) close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
};

/// Returns false at the end of the pipe.
bool drain(int from, std::string& into) {
  char chunk[65536];
  // Reads at most one mebibyte, so that a job that prints without end does not block other jobs.
  for (int rounds = 0; rounds < 16; ++rounds) {
    const auto n = ::read(from, chunk, sizeof(chunk));
    if (n == 0) return false;
    if (n < 0 && errno != EINTR) return true;
    if (n > 0) into.append(chunk, static_cast<std::size_t>(n));
  }
  return true;
}

void close_one(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

/// Binds the child to these processors. If the kernel refuses, the child runs on any processor.
void run_on(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors)
    if (processor >= 0 && processor < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(processor), &set);
  if (CPU_COUNT(&set) > 0) sched_setaffinity(0, sizeof(set), &set);
}

/// Runs the job in the child, sends its messages and any exception to the scheduler, and exits.
[[noreturn]] void run_job(const std::function<void(const Say&)>& run, int messages, const std::string& word,
                          SaveRequest& save) {
  Say say = [messages, word, self = getpid()](const json& data) {
    if (getpid() != self) _exit(1);  // a plugin has forked: its copy of the job must not answer
    const auto line = word + data.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    for (std::size_t done = 0; done < line.size();) {
      const auto n = write(messages, line.data() + done, line.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) _exit(1);  // nobody reads any more
      done += static_cast<std::size_t>(n);
    }
  };
  say.asked_to_save = [&save] { return save.take(); };
  int code = 1;
  try {
    run(say);
    code = 0;
  } catch (const OutOfMemory& error) {
    say(to_json(Failed{one_line(error.what()), false, error.of}));
  } catch (const std::bad_alloc& error) {
    say(to_json(Failed{one_line(error.what()), false, OutOfMemory::kHost}));
  } catch (const Error& error) {
    say(to_json(Failed{one_line(error.what()), error.code() == ExitCode::kPlugin}));
  } catch (const std::exception& error) {
    say(to_json(Failed{one_line(error.what())}));
  } catch (...) {
    say(to_json(Failed{"an exception that is no std::exception"}));
  }
  std::cout.flush();
  std::cerr.flush();
  fflush(nullptr);
  _exit(code);  // without the destructors of a plugin's statics, which may take long or crash, and change nothing
}

}  // namespace

int MemoryWatch::milliseconds_left(Clock::time_point now) const {
  return static_cast<int>(std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(next_ - now).count()));
}

std::optional<std::int64_t> MemoryWatch::look(pid_t process, Clock::time_point now) {
  if (now < next_) return std::nullopt;
  const auto found = own_memory(process);
  machine_ = look_at_memory();
  const auto took = Clock::now() - now;
  next_ = now + std::clamp<Clock::duration>(kRests * took, kBetweenLooks, limit_ > 0 ? kBetweenLooks : kLongestRest);
  if (found < 0) return std::nullopt;
  bytes_ = found;
  if (reported_ >= 0 && std::abs(bytes_ - reported_) <= reported_ / 16) return std::nullopt;
  reported_ = bytes_;
  return bytes_;
}

std::string MemoryWatch::over_text() const {
  if (!is_over()) return "";
  return "it held " + text_of(bytes_) + " of memory of its own, and --memory allows " + text_of(limit_);
}

std::string MemoryWatch::sizes_text() const {
  if (reported_ < 0) return "";
  return "; it held " + text_of(bytes_) + " of its own at the last look, when " + text_of(machine_.available_bytes) + " of " +
         text_of(machine_.total_bytes) + " were available";
}

void MemoryWatch::limit_data(std::int64_t bytes) {
  constexpr std::int64_t kSlack = std::int64_t{256} << 20, kTimes = 2;
  const auto now = data_size(getpid());
  if (bytes <= 0 || now < 0) return;
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  const auto most = static_cast<rlim_t>(now + std::min(bytes, std::int64_t{1} << 60) * kTimes + kSlack);
  limit.rlim_cur = std::min(limit.rlim_max, most);
  setrlimit(RLIMIT_DATA, &limit);
}

void StoredOutput::take(std::string_view piece) {
  bytes_ += static_cast<std::int64_t>(piece.size());
  tail_ += piece;
  if (bytes_ > static_cast<std::int64_t>(kTail) && !file_.empty()) write(in_file_ == 0 ? std::string_view(tail_) : piece);
  if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
}

void StoredOutput::write(std::string_view piece) {
  piece = piece.substr(0, static_cast<std::size_t>(std::clamp<std::int64_t>(kMostInFile - in_file_, 0, kMostInFile)));
  if (piece.empty() || !unkept_.empty()) return;
  const bool begins = in_file_ == 0;
  std::error_code failed;
  if (begins) std::filesystem::create_directories(std::filesystem::path(file_).parent_path(), failed);
  const int to = open(file_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (begins ? O_CREAT | O_EXCL : 0), 0666);
  int why = to < 0 ? errno : 0;
  while (why == 0 && !piece.empty()) {
    const auto n = ::write(to, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      why = errno;
      break;
    }
    piece.remove_prefix(static_cast<std::size_t>(n));
    in_file_ += n;
  }
  if (to >= 0) close(to);
  if (why == 0) return;
  unkept_ = std::strerror(why);
  if (to >= 0 && in_file_ == 0) unlink(file_.c_str());
}

std::string secret_word() {
  static std::random_device random;
  return std::to_string(random()) + std::to_string(random());
}

JobProcess::JobProcess(const JobLimits& limits, const std::string& output_file, const std::function<void()>& prepare,
                       const std::function<void(const Say&)>& run)
    : word_(secret_word()), printed_(output_file), limited_(limits.time_s > 0), watch_(limits.memory_bytes) {
  Pipe messages, output;
  const pid_t parent = getpid();
  start_ = Clock::now();
  memory_ = look_at_memory();
  limit_ = start_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits.time_s));
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "no process for a job");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    // If memory runs out, the kernel kills a job like this one first, and spares the scheduler and its database.
    if (const int score = open("/proc/self/oom_score_adj", O_WRONLY); score >= 0) {
      [[maybe_unused]] const auto written = write(score, "1000", 4);
      close(score);
    }
    close(messages.read);
    close(output.read);
    prepare();                                     // first, because it may close a standard descriptor
    MemoryWatch::limit_data(limits.memory_bytes);  // after prepare(), which restores limits and processors
    run_on(limits.processors);
    if (const int nothing = open("/dev/null", O_RDONLY); nothing != STDIN_FILENO) {
      dup2(nothing, STDIN_FILENO);
      close(nothing);
    }
    dup2(output.write, STDOUT_FILENO);
    dup2(output.write, STDERR_FILENO);
    run_job(run, messages.write, word_, save_);
  }
  handle_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (handle_ < 0) {
    const int why = errno;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    throw std::system_error(why, std::generic_category(),
                            why == ENOSYS ? "no pidfd_open (Linux 5.3 or newer is needed)" : "no handle of a job");
  }
  std::swap(messages_, messages.read);
  std::swap(output_, output.read);
  for (const int end : {messages_, output_}) fcntl(end, F_SETFL, O_NONBLOCK);
}

JobProcess::~JobProcess() {
  if (pid_ > 0) {
    kill();
    waitpid(pid_, nullptr, 0);
  }
  for (auto* end : {&handle_, &messages_, &output_}) close_one(*end);
}

void JobProcess::wait_for(std::vector<pollfd>& descriptors, bool with_messages) const {
  for (const int end : {handle_, with_messages ? messages_ : -1, output_})
    if (end >= 0) descriptors.push_back({end, POLLIN, 0});
}

void JobProcess::close_in_child() const {
  for (const int end : {handle_, messages_, output_})
    if (end >= 0) close(end);
}

std::vector<json> JobProcess::read(bool with_messages) {
  std::vector<json> all;
  std::string output;
  if (output_ >= 0 && !drain(output_, output)) close_one(output_);
  printed_.take(output);
  // A pipe that the job has closed would be ready for ever, so it is closed here, too.
  if (with_messages && messages_ >= 0 && !drain(messages_, unread_)) close_one(messages_);
  for (std::size_t end; intrusion_.empty() && (end = unread_.find('\n')) != std::string::npos;) {
    const auto line = std::string_view(unread_).substr(0, end);
    auto data = line.starts_with(word_) ? json::parse(line.substr(word_.size()), nullptr, false) : json();
    if (data.is_object())
      all.push_back(std::move(data));
    else
      intrusion_ = "it wrote \"" + one_line(line, 80) + "\" into the channel that the host keeps for results";
    unread_.erase(0, end + 1);
  }
  if (intrusion_.empty() && unread_.size() > kLongestMessage)
    intrusion_ = "it wrote more than 16 MiB without a line end into the channel that the host keeps for results";
  if (!intrusion_.empty()) {
    unread_.clear();
    kill();
  }
  return all;
}

bool JobProcess::has_ended() const {
  pollfd one{handle_, POLLIN, 0};
  return poll(&one, 1, 0) > 0;
}

int JobProcess::milliseconds_left() const {
  const int next_look = watch_.milliseconds_left(Clock::now());
  if (!limited_ || late_) return next_look;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(limit_ - Clock::now()).count();
  return std::min(next_look, static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000)));
}

std::optional<std::int64_t> JobProcess::look_at_size() {
  const auto now = Clock::now();
  if (watch_.milliseconds_left(now) > 0 || has_ended()) return std::nullopt;
  const auto bytes = watch_.look(pid_, now);
  if (watch_.is_over() && !killed_) kill();
  return bytes;
}

void JobProcess::end_if_late() {
  if (!limited_ || late_ || Clock::now() < limit_ || has_ended()) return;
  late_ = true;
  kill();
}

void JobProcess::kill() {
  killed_ = true;
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

EndedEvent JobProcess::end(const std::function<void()>& left_behind, std::vector<json>& last) {
  int status = 0;
  rusage usage{};
  while (wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  const double wall_s = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto pid = std::exchange(pid_, -1);
  left_behind();
  last = read(true);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  const auto peak = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
  const bool by_others = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !killed_;
  auto memory = WIFSIGNALED(status) ? watch_.over_text() : "";
  std::string killed;
  if (by_others) {
    const auto now = look_at_memory();
    killed = killed_text(memory_, now, peak);
    if (counts_kills(memory_, now) || is_short(watch_.last()) || log_tells_kill(kernel_log(), pid, log_s_))
      memory = "signal 9 (Killed): " + killed + watch_.sizes_text();
  }
  return {.status = status,
          .wall_s = wall_s,
          .cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime),
          .peak_resident_bytes = peak,
          .output = printed_.tail(),
          .late = late_,
          .intrusion = intrusion_,
          .killed = killed,
          .printed = printed_.bytes(),
          .unkept = printed_.unkept(),
          .memory = memory};
}

}  // namespace ablate
