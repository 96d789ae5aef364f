#include "core/worker/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <vector>

#include "core/util/error.h"
#include "core/util/one_line.h"

namespace ablate {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kTail = 8192;  ///< bytes of a job's output that are kept

void write_all(int to, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const auto n = write(to, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) _exit(1);  // nobody listens any more
    done += static_cast<std::size_t>(n);
  }
}

std::string line(const json& message) { return message.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"; }

struct Child {
  pid_t pid = -1;
  int handle = -1;  ///< a pidfd: readable when the child has ended
  int messages = -1, output = -1;
  std::string unread, tail;
  Clock::time_point start;
};

/// Appends what is there to read, but no more than a mebibyte: a job that prints without end must not keep the others waiting.
void drain(int from, std::string& into) {
  char chunk[65536];
  for (int rounds = 0; rounds < 16; ++rounds) {
    const auto n = read(from, chunk, sizeof(chunk));
    if (n > 0)
      into.append(chunk, static_cast<std::size_t>(n));
    else if (n == 0 || errno != EINTR)
      return;
  }
}

/// The processes whose parent this one is.
std::vector<pid_t> own_children() {
  std::ifstream list("/proc/self/task/" + std::to_string(getpid()) + "/children");
  return {std::istream_iterator<pid_t>(list), {}};
}

class Server {
 public:
  Server(int input, int output, Jobs& jobs) : input_(input), output_(output), jobs_(jobs) {}

  void run() {
    for (;;) {
      std::vector<pollfd> waiting{{input_, POLLIN, 0}};
      for (const auto& [job, child] : children_) {
        waiting.push_back({child.handle, POLLIN, 0});
        waiting.push_back({child.messages, POLLIN, 0});
        waiting.push_back({child.output, POLLIN, 0});
      }
      if (poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) throw std::runtime_error(std::strerror(errno));
      if (waiting[0].revents != 0 && !commands()) break;
      std::vector<int> ended;
      for (auto& [job, child] : children_) {
        forward(job, child);
        if (pollfd one{child.handle, POLLIN, 0}; poll(&one, 1, 0) > 0) ended.push_back(job);
      }
      for (const int job : ended) reap(job);
    }
    for (const auto& [job, child] : children_) kill(child.pid, SIGKILL);
  }

 private:
  void say(const json& message) { write_all(output_, line(message)); }

  bool commands() {
    char chunk[65536];
    const auto n = read(input_, chunk, sizeof(chunk));
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
    if (n > 0) unread_.append(chunk, static_cast<std::size_t>(n));
    for (std::size_t end; (end = unread_.find('\n')) != std::string::npos;) {
      const auto message = json::parse(unread_.substr(0, end));
      unread_.erase(0, end + 1);
      const std::string what = message.at("do");
      if (what == "start") {
        start(message);
      } else if (what == "kill") {
        if (const auto found = children_.find(message.at("job")); found != children_.end()) kill(found->second.pid, SIGKILL);
      } else if (what == "load") {
        load(message);
      }
    }
    return true;
  }

  void load(const json& message) {
    const pid_t self = getpid();
    std::string refused;
    try {
      jobs_.load(message);
    } catch (const std::exception& error) {
      refused = one_line(error.what());
    } catch (...) {
      refused = "an exception that is no std::exception";
    }
    if (getpid() != self) _exit(1);  // a plugin has forked: its copy of this process must not answer, too
    // Plugin code has run here, and may have changed these.
    std::signal(SIGCHLD, SIG_DFL);
    std::signal(SIGPIPE, SIG_IGN);
    if (refused.empty())
      say({{"event", "loaded"}});
    else
      say({{"event", "refused"}, {"reason", refused}});
  }

  void start(const json& message) {
    int messages[2], output[2];
    if (pipe2(messages, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) throw std::runtime_error(std::strerror(errno));
    const pid_t self = getpid();
    const pid_t pid = fork();
    if (pid == 0) become_child(message, self, messages[1], output[1]);
    close(messages[1]);
    close(output[1]);
    if (pid < 0) throw std::runtime_error(std::strerror(errno));
    for (const int end : {messages[0], output[0]}) fcntl(end, F_SETFL, O_NONBLOCK);
    Child child{.pid = pid, .messages = messages[0], .output = output[0], .start = Clock::now()};
    child.handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (child.handle < 0)
      throw std::runtime_error(std::string("pidfd_open: ") + std::strerror(errno) + " (Linux 5.3 or newer is needed)");
    children_.emplace(message.at("job").get<int>(), std::move(child));
  }

  [[noreturn]] void become_child(const json& message, pid_t parent, int messages, int output) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    // Where memory runs out, the kernel takes the trial that eats it, not the scheduler or its database.
    if (const int score = open("/proc/self/oom_score_adj", O_WRONLY); score >= 0) {
      [[maybe_unused]] const auto written = write(score, "1000", 4);
      close(score);
    }
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    close(input_);
    close(output_);
    for (const auto& [job, other] : children_) {
      close(other.handle);
      close(other.messages);
      close(other.output);
    }
    int code = 0;
    const Say say = [messages, self = getpid()](const json& data) {
      if (getpid() != self) _exit(1);  // a plugin has forked: its copy of the job must not answer, too
      write_all(messages, line(data));
    };
    try {
      jobs_.run(message.at("kind"), message.at("spec"), say);
    } catch (const Error& error) {
      say({{"failed", one_line(error.what())}, {"fault", error.code() == ExitCode::kPlugin}});
      code = 1;
    } catch (const std::exception& error) {
      say({{"failed", one_line(error.what())}, {"fault", false}});
      code = 1;
    } catch (...) {
      say({{"failed", "an exception that is no std::exception"}});
      code = 1;
    }
    std::cout.flush();
    std::cerr.flush();
    fflush(nullptr);
    _exit(code);  // destructors of a plugin's statics may take long or crash, and change nothing
  }

  void forward(int job, Child& child) {
    drain(child.messages, child.unread);
    for (std::size_t end; (end = child.unread.find('\n')) != std::string::npos;) {
      auto data = json::parse(child.unread.substr(0, end), nullptr, false);
      child.unread.erase(0, end + 1);
      if (!data.is_discarded()) say({{"event", "message"}, {"job", job}, {"data", std::move(data)}});
    }
    drain(child.output, child.tail);
    if (child.tail.size() > kTail) child.tail.erase(0, child.tail.size() - kTail);
  }

  void reap(int job) {
    auto& child = children_.at(job);
    int status = 0;
    rusage usage{};
    if (wait4(child.pid, &status, 0, &usage) < 0) throw std::runtime_error(std::string("wait4: ") + std::strerror(errno));
    end_orphans();
    forward(job, child);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    say({{"event", "ended"},
         {"job", job},
         {"status", status},
         {"wall_s", std::chrono::duration<double>(Clock::now() - child.start).count()},
         {"cpu_s", seconds(usage.ru_utime) + seconds(usage.ru_stime)},
         {"peak_resident_bytes", static_cast<std::int64_t>(usage.ru_maxrss) * 1024},
         {"output", child.tail}});
    for (const int end : {child.handle, child.messages, child.output}) close(end);
    children_.erase(job);
  }

  /// Ends what jobs left behind: as their subreaper, this process has become their parent.
  void end_orphans() {
    for (const auto pid : own_children()) {
      const auto is_it = [&](const auto& entry) { return entry.second.pid == pid; };
      if (std::any_of(children_.begin(), children_.end(), is_it)) continue;
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }

  int input_, output_;
  Jobs& jobs_;
  std::string unread_;
  std::map<int, Child> children_;
};

}  // namespace

void serve(int input, int output, const nlohmann::json& environment, Jobs& jobs) {
  for (const int end : {input, output}) fcntl(end, F_SETFD, FD_CLOEXEC);
  std::signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  write_all(output, line({{"event", "ready"}, {"environment", environment}}));
  Server(input, output, jobs).run();
}

}  // namespace ablate
