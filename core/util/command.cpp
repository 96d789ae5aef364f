#include "core/util/command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>

#include "core/util/one_line.h"

namespace ablate {
namespace {

using Time = std::chrono::steady_clock;

constexpr std::size_t kMostComplaint = 2000;
constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

/// The two ends of a pipe. Other started programs do not inherit them.
struct PipeEnds {
  int read = -1, write = -1;
  PipeEnds() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) == 0) read = ends[0], write = ends[1];
  }
  ~PipeEnds() {
    if (read >= 0) close(read);
    if (write >= 0) close(write);
  }
  PipeEnds(const PipeEnds&) = delete;
  PipeEnds& operator=(const PipeEnds&) = delete;
  void close_write() {
    close(write);
    write = -1;
  }
};

pid_t spawn(std::vector<std::string>& words, const PipeEnds& out, const PipeEnds& complaint, std::string& why) {
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.write, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, complaint.write, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) why = std::strerror(failed);
  return failed == 0 ? pid : -1;
}

/// @return false at the end
bool take(int descriptor, std::string& into, std::size_t most) {
  std::array<char, 65536> piece{};
  const auto size = ::read(descriptor, piece.data(), piece.size());
  if (size < 0) return errno == EINTR || errno == EAGAIN;
  into.append(piece.data(), std::min(static_cast<std::size_t>(size), most - std::min(most, into.size())));
  return size > 0;
}

}  // namespace

CommandResult run_command(std::vector<std::string> words, double limit_s) {
  CommandResult result;
  PipeEnds out, complaint;
  if (out.read < 0 || complaint.read < 0) {
    result.why = std::strerror(errno);
    return result;
  }
  const pid_t pid = spawn(words, out, complaint, result.why);
  if (pid < 0) return result;
  out.close_write();
  complaint.close_write();
  const auto until = Time::now() + std::chrono::duration<double>(limit_s);
  std::array<pollfd, 2> open{pollfd{out.read, POLLIN, 0}, pollfd{complaint.read, POLLIN, 0}};
  std::string errors;
  int status = 0;
  bool has_ended = false, is_late = false;
  // Waits for the end of the program, because its children may keep its pipes open for longer.
  while (!has_ended) {
    poll(open.data(), open.size(), kBetweenLooks.count());
    has_ended = waitpid(pid, &status, WNOHANG) == pid;
    do {
      if (open[0].fd >= 0 && open[0].revents != 0 && !take(out.read, result.out, kMostCommandBytes)) open[0].fd = -1;
      if (open[1].fd >= 0 && open[1].revents != 0 && !take(complaint.read, errors, kMostComplaint)) open[1].fd = -1;
    } while (has_ended && poll(open.data(), open.size(), 0) > 0);
    if (open[0].fd < 0 && open[1].fd < 0 && !has_ended) usleep(2000);
    if (!has_ended && !is_late && Time::now() > until) is_late = true, kill(-pid, SIGKILL);
  }
  result.why = is_late ? "no answer in time" : one_line(errors, kMostComplaint);
  if (!is_late) result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace ablate
