// Runs a program as a user would, and reads its output and its exit code.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/temporary.h"

struct Ended {
  int exit_code = -1;  ///< 128 + signal if a signal ended the program
  std::string out, err;
};

/// Returns the children of a process.
inline std::vector<pid_t> children_of(pid_t parent) {
  const auto own = std::to_string(parent);
  std::istringstream list(read_text("/proc/" + own + "/task/" + own + "/children"));
  std::vector<pid_t> found;
  for (pid_t pid; list >> pid;) found.push_back(pid);
  return found;
}

/// True if the process runs. A process that has ended counts as dead, even if nobody has waited for it yet.
inline bool is_alive(pid_t pid) {
  const auto stat = read_text("/proc/" + std::to_string(pid) + "/stat");
  const auto state = stat.rfind(") ");
  return state != std::string::npos && stat.substr(state + 2, 1) != "Z";
}

/// A program, started by the constructor; wait() waits for its end.
class Process {
 public:
  Process(std::vector<std::string> command, const std::map<std::string, std::string>& environment = {},
          const std::string& folder = "") {
    pid_ = fork();
    if (pid_ == 0) {
      // A shell starts background jobs with Ctrl-C ignored, and children inherit that.
      for (const int sent : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signal(sent, SIG_DFL);
      for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
      if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(126);
      dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
      dup2(open((folder_ / "out").c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
      dup2(open((folder_ / "err").c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
      std::vector<char*> arguments;
      for (auto& word : command) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      execvp(arguments[0], arguments.data());
      _exit(127);
    }
  }

  pid_t pid() const { return pid_; }
  void send(int signal) const { kill(pid_, signal); }
  std::string printed() const { return read_text(folder_ / "out") + read_text(folder_ / "err"); }

  Ended wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_text(folder_ / "out"),
            read_text(folder_ / "err")};
  }

 private:
  TemporaryFolder folder_;
  pid_t pid_ = -1;
};
