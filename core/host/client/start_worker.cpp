#include "core/host/client/start_worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/host/client/executors.h"
#include "core/shared/build_identity.h"
#include "core/util/memory_kills.h"
#include "core/util/one_line.h"
#include "core/util/orphans.h"
#include "core/util/outbox.h"
#include "core/util/stop_on_signal.h"

namespace ablate {
namespace {

using nlohmann::json;

/// The host's side of a worker, which is a process that has loaded torch and forks one child per job. Host and worker send the
/// messages of core/shared/pipe.h, one per line. Each message after the worker's ReadyEvent begins with the word of that event.
/// The worker ends when its input closes or the scheduler dies. All jobs, and the processes that jobs left, then end, too.
class WorkerClient final : public Executor {
 public:
  /// Starts the named program from the running program's folder and waits until the worker is ready. Throws Error (also
  /// WorkerMissing, or Interrupted of core/util/stop_on_signal.h), and then leaves no process.
  WorkerClient(const char* program, double ready_s);
  /// Ends the worker, its jobs, and every process that jobs left: all children of this process since the worker's start.
  ~WorkerClient() override;

  /// Buffers bytes that the worker cannot receive yet. next() sends them.
  void send(const Command& command) override;
  /// Returns early on a signal.
  std::optional<Event> next(int timeout_ms) override;
  const nlohmann::json& environment() const override { return environment_; }
  int most_jobs() const override { return most_jobs_; }  ///< limited by the number of descriptors
  std::int64_t process() const override { return pid_; }
  void give_up() override;

 private:
  /// Waits for the worker to exit, and kills it after kEnding. Returns reason_of() its exit, and the cause of a SIGKILL.
  std::string end();

  std::set<pid_t> not_ours_;  ///< children that this process had before the worker
  pid_t pid_ = -1;
  bool given_up_ = false;
  MemoryState memory_;  ///< state of the memory at the worker's start
  int to_ = -1, from_ = -1;
  std::string word_;  ///< first word of the worker's messages, once it is ready
  Outbox unsent_;
  std::string buffer_;
  nlohmann::json environment_;
  int most_jobs_ = 1;
};

/// Thrown if the program is missing or cannot be run. Another try would fail, too.
struct WorkerMissing : Error {
  using Error::Error;
};

/// Longest time for a worker to exit. A worker that exits kills its jobs at once.
constexpr std::chrono::seconds kEnding(8);
constexpr std::size_t kLongestLine = std::size_t{1} << 26;  ///< bytes; four times the longest message about a job
constexpr double kLongestWait_s = 1;  ///< longest single wait; short, because a signal just before the wait does not end it

std::filesystem::path path_of(const char* program) {
  std::error_code failed;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (const char* other = std::getenv("ABLATE_WORKER"); other != nullptr && *other != '\0') return other;
  return own.parent_path() / program;
}

std::chrono::milliseconds time_until(std::chrono::steady_clock::time_point end) {
  return std::chrono::floor<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
}

std::string build_of(const json& hello) {
  const auto build = hello.value("build", json());
  return build.is_string() ? one_line(build.get<std::string>(), 80) : "none";
}

WorkerClient::WorkerClient(const char* name, double ready_s) {
  stop_if_asked();
  adopt_orphans();
  memory_ = look_at_memory();
  not_ours_ = own_children();
  int in[2], out[2];
  const auto refuse = [](int why) {
    throw Error(fmt::format("no pipe to a worker: {}{}", std::strerror(why),
                            why == EMFILE ? " (raise the limit: ulimit -n 1024)" : ""));
  };
  if (pipe2(in, O_CLOEXEC) != 0) refuse(errno);
  if (pipe2(out, O_CLOEXEC) != 0) {
    const int why = errno;
    for (const int descriptor : in) close(descriptor);
    refuse(why);
  }
  const auto program = path_of(name);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The worker gets its own process group. Ctrl-C then reaches only the scheduler, which decides about running trials.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const auto parent = std::to_string(getpid());
  char* arguments[] = {const_cast<char*>(program.c_str()), const_cast<char*>(parent.c_str()), nullptr};
  // OpenMP threads that spin while they wait make a busy machine ten times slower.
  std::vector<char*> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.push_back(*entry);
  std::string passive = "OMP_WAIT_POLICY=PASSIVE";
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) variables.push_back(passive.data());
  variables.push_back(nullptr);
  const int failed = posix_spawn(&pid_, program.c_str(), &files, &attributes, arguments, variables.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  close(in[0]);
  close(out[1]);
  to_ = in[1], from_ = out[0];
  std::string why;
  bool is_other_build = false;
  if (failed != 0) {
    pid_ = -1;
    why = std::strerror(failed);
  } else {
    std::signal(SIGPIPE, SIG_IGN);
    fcntl(to_, F_SETFL, O_NONBLOCK);
    try {
      const auto start = std::chrono::steady_clock::now();
      for (double waited_s = 0; waited_s < ready_s && asked_to_stop == 0;) {  // a signal ends a wait early
        const auto ready = next(static_cast<int>(std::ceil(std::min(kLongestWait_s, ready_s - waited_s) * 1000)));
        waited_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const auto* said = ready ? std::get_if<ReadyEvent>(&*ready) : nullptr;
        if (said == nullptr) continue;
        environment_ = said->environment, most_jobs_ = said->most_jobs, word_ = said->word;
        return;
      }
      why = fmt::format("it did not answer within {:g} s", ready_s);
    } catch (const WorkerEnded& ended) {
      why = ended.what();
    } catch (const OtherBuild& other) {
      why = other.what(), is_other_build = true;
    }
    give_up();
    end();
  }
  close(to_);
  close(from_);
  stop_if_asked();
  if (is_other_build)
    throw OtherBuild(fmt::format(
        "{} comes from another build of ablate than this program: found {}, expected {}. Was it rebuilt or replaced "
        "while this program ran? If so, run the same command again: finished trials stay done. If this message appears "
        "again, build both (`cmake --build --preset release`), or unset ABLATE_WORKER if it is set",
        program.string(), why, build_identity()));
  if (failed == ENOENT) why += fmt::format("; `cmake --build --preset release --target {}` builds it", name);
  const auto message = fmt::format("{} did not start: {}", program.string(), why);
  if (failed == ENOENT || failed == EACCES || failed == ENOEXEC) throw WorkerMissing(message);
  throw Error(message);
}

WorkerClient::~WorkerClient() {
  close(to_);
  close(from_);
  end();
}

void WorkerClient::give_up() {
  given_up_ = true;
  if (pid_ > 0) kill(-pid_, SIGKILL);
}

std::string WorkerClient::end() {
  if (pid_ <= 0) return "";
  int status = 0;
  rusage usage{};
  const auto deadline = std::chrono::steady_clock::now() + kEnding;
  pid_t ended = 0;
  while ((ended = wait4(pid_, &status, WNOHANG, &usage)) == 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (ended == 0) {
    give_up();
    waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  end_orphans(not_ours_);
  auto why = reason_of(status);
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) return why;
  return why + (given_up_ ? ", because it did not answer"
                          : ": " + killed_text(memory_, look_at_memory(), static_cast<std::int64_t>(usage.ru_maxrss) * 1024));
}

void WorkerClient::send(const Command& command) {
  unsent_.add(command_to_json(command).dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
  unsent_.flush(to_);  // next() sends the rest, and reports the end of a worker that has stopped
}

std::optional<Event> WorkerClient::next(int timeout_ms) {
  const auto end_of_wait = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  for (auto left = std::chrono::milliseconds(timeout_ms);; left = time_until(end_of_wait)) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      // A library's thread may write to the pipe, too. Text before a message is dropped.
      const auto line = std::string_view(buffer_).substr(0, end);
      const auto begin = word_.empty() ? 0 : line.rfind(word_);
      auto message = begin == std::string::npos ? json() : json::parse(line.substr(begin + word_.size()), nullptr, false);
      buffer_.erase(0, end + 1);
      if (!message.is_object()) continue;
      if (!word_.empty()) return event_from_json(message);
      if (message.value("event", json()) != ReadyEvent::kName) continue;
      if (const auto build = build_of(message); build != build_identity()) throw OtherBuild(build);
      return event_from_json(message);
    }
    if (buffer_.size() > kLongestLine) buffer_.erase(0, buffer_.size() - kLongestLine / 2);
    pollfd waiting[] = {{from_, POLLIN, 0}, {unsent_.empty() ? -1 : to_, POLLOUT, 0}};
    // A worker that prints garbage must time out, exactly like a silent worker.
    if (left.count() < 0 || poll(waiting, 2, static_cast<int>(left.count())) <= 0) return std::nullopt;
    if (waiting[1].revents != 0) unsent_.flush(to_);
    if (waiting[0].revents == 0) continue;
    char chunk[65536];
    const auto n = read(from_, chunk, sizeof(chunk));
    if (n < 0 && errno == EINTR) return std::nullopt;
    if (n <= 0) {
      const auto why = end();
      throw WorkerEnded(why.empty() ? "it ended by itself" : why);
    }
    buffer_.append(chunk, static_cast<std::size_t>(n));
  }
}

constexpr int kMostStarts = 3;
constexpr double kReady_s = 120;

std::unique_ptr<Executor> try_to_start(const char* program, const Executors::Note& note) {
  for (int tries = 1; asked_to_stop == 0; ++tries) try {
      return start_worker(program, kReady_s);
    } catch (const WorkerMissing&) {
      throw;
    } catch (const OtherBuild&) {
      throw;
    } catch (const Interrupted&) {
      break;
    } catch (const Error& error) {
      if (tries == kMostStarts) throw;
      if (note) note(fmt::format("warning: {}; trying again", error.what()));
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  return nullptr;
}

}  // namespace

std::unique_ptr<Executor> start_worker(const char* program, double ready_s) {
  return std::make_unique<WorkerClient>(program, ready_s);
}

Executors local_workers(const char* program) {
  return Executors([program, is_first = true](const Executors::Note& note) mutable {
    try {
      auto worker = try_to_start(program, note);
      is_first = false;
      return worker;
    } catch (OtherBuild& other) {
      other.is_first = is_first;
      throw;
    }
  });
}

}  // namespace ablate
