#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <utility>

#include "core/host/scheduler/scheduler.h"
#include "core/util/one_line.h"
#include "core/util/orphans.h"

namespace ablate {
namespace {

std::vector<std::string> environment_of(const Notice& notice, const std::string& experiment) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with("ABLATE_EVENT=")) all.emplace_back(*entry);
  const auto put = [&](const char* name, const std::string& value) { all.push_back(fmt::format("ABLATE_{}={}", name, value)); };
  put("EVENT", notice.event);
  put("EXPERIMENT", experiment);
  put("DONE", std::to_string(notice.done));
  put("FAILED", std::to_string(notice.failed));
  put("SKIPPED", std::to_string(notice.skipped));
  put("SET_ASIDE", std::to_string(notice.set_aside));
  put("ELSEWHERE", std::to_string(notice.elsewhere));
  put("NOT_STARTED", std::to_string(notice.not_started));
  put("REASON", one_line(notice.reason, 1000));
  put("DATABASE", notice.database.string());
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (auto& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

Notifier::~Notifier() {
  constexpr int kLooks = 20;
  for (int look = 0; look < kLooks && !running_.empty(); ++look) {
    poll(nullptr, 0, 10);  // real time, because this loop waits for real processes
    look_at_earlier();
  }
}

void Notifier::send(const Notice& notice) {
  look_at_earlier();
  std::vector<std::string> words = {"timeout", "--signal=KILL", std::to_string(limit_s_), "sh", "-c", command_};
  auto variables = environment_of(notice, experiment_);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int failed =
      posix_spawnp(&pid, words.front().c_str(), &files, &attributes, pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed == 0) {
    spare_child(pid);
    return running_.push_back(pid);
  }
  if (!std::exchange(has_complained_, true))
    note_(fmt::format("warning: --notify: no process for {}: {}", one_line(command_, 80), std::strerror(failed)));
}

void Notifier::look_at_earlier() {
  std::erase_if(running_, [&](pid_t pid) {
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == 0) return false;
    spare_no_longer(pid);
    if (status == 0 || std::exchange(has_complained_, true)) return true;
    auto why = WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                                 : fmt::format("it was ended by signal {}", WTERMSIG(status));
    // `timeout` also kills with this signal, so its time limit cannot be distinguished from another SIGKILL.
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) why += fmt::format(", as at its time limit of {} s", limit_s_);
    note_(fmt::format("warning: --notify: {} has failed ({})", one_line(command_, 80), why));
    return true;
  });
}

}  // namespace ablate
