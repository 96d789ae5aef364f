#include "core/trial/conformance/task/opened_files.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

namespace ablate {
namespace {

namespace fs = std::filesystem;

constexpr int kSystemCall = SIGTRAP | 0x80;  // PTRACE_O_TRACESYSGOOD

long trace(int request, pid_t pid, std::uintptr_t address, std::uintptr_t data) {
  return ::ptrace(static_cast<__ptrace_request>(request), pid, reinterpret_cast<void*>(address), reinterpret_cast<void*>(data));
}

bool follow(pid_t pid) {
  return trace(PTRACE_SETOPTIONS, pid, 0,
               PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL) == 0;
}

/// Starts a child that waits at its first stop. Throws nothing, and returns -1 with errno if there is no child.
pid_t start(const std::function<void()>& run) {
  const auto pid = fork();
  if (pid != 0) {
    int status = 0;
    if (pid < 0 || (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))) return pid;
    errno = WIFEXITED(status) && WEXITSTATUS(status) > 0 ? WEXITSTATUS(status) : ECHILD;
    return -1;
  }
  if (trace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(errno);
  raise(SIGSTOP);
  try {
    run();
  } catch (...) {  // the same call in this process reports the exception
  }
  _exit(0);
}

bool opens(std::uint64_t call) {
#ifdef SYS_open
  if (call == SYS_open) return true;
#endif
  return call == SYS_openat || call == SYS_openat2;
}

bool is_the_systems(const fs::path& path) {
  for (const char* folder : {"/proc", "/sys", "/dev", "/etc", "/run", "/usr/lib", "/lib", "/usr/share/locale",
                             "/usr/share/zoneinfo", "/usr/share/i18n"})
    if (is_below(path, folder)) return true;
  return path.extension() == ".so" || path.filename().string().find(".so.") != std::string::npos;
}

/// Returns the file that a descriptor of another process has open.
fs::path opened_by(pid_t pid, std::int64_t descriptor) {
  std::error_code error;
  return fs::read_symlink("/proc/" + std::to_string(pid) + "/fd/" + std::to_string(descriptor), error);
}

}  // namespace

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

std::string tracing_refusal() {
  const auto pid = start([] {});
  const bool traced = pid > 0 && follow(pid);
  const auto why = traced ? "" : std::string("ptrace: ") + std::strerror(errno);
  if (pid > 0) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, __WALL);
  }
  return why;
}

std::set<fs::path> opened_files(const std::function<void()>& run, const fs::path& own) {
  std::set<fs::path> files;
  const auto child = start(run);
  if (child < 0 || !follow(child)) return files;
  std::map<pid_t, std::uint64_t> calls;  // current system call of each thread
  std::set<pid_t> known = {child};
  trace(PTRACE_SYSCALL, child, 0, 0);
  int status = 0;
  for (pid_t thread = 0; (thread = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
    if (thread <= 0 || !WIFSTOPPED(status)) continue;
    int signal = WSTOPSIG(status);
    if (signal == kSystemCall) {
      __ptrace_syscall_info info{};
      if (trace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, reinterpret_cast<std::uintptr_t>(&info)) > 0) {
        if (info.op == PTRACE_SYSCALL_INFO_ENTRY) calls[thread] = info.entry.nr;
        if (info.op == PTRACE_SYSCALL_INFO_EXIT && opens(calls[thread]) && info.exit.rval >= 0)
          if (const auto path = opened_by(thread, info.exit.rval);
              !is_the_systems(path) && !is_below(path, own) && fs::is_regular_file(path))
            files.insert(path);
      }
      signal = 0;
    } else if (status >> 16 != 0 || signal == SIGTRAP || (signal == SIGSTOP && known.insert(thread).second)) {
      signal = 0;  // a new thread or process, or a process that has executed another program
    }
    trace(PTRACE_SYSCALL, thread, 0, static_cast<std::uintptr_t>(signal));
  }
  return files;
}

}  // namespace ablate
