#include "core/worker/client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "core/util/error.h"
#include "core/util/one_line.h"

namespace ablate {
namespace {

using nlohmann::json;

std::filesystem::path worker_program() {
  std::error_code failed;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (const char* other = std::getenv("ABLATE_WORKER"); other != nullptr && *other != '\0') return other;
  return own.parent_path() / "ablate-worker";
}

}  // namespace

std::string reason_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) return fmt::format("exit code {}", WEXITSTATUS(status));
  return "";
}

WorkerClient::WorkerClient() {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
    throw Error(fmt::format("no pipe to a worker: {}", std::strerror(errno)));
  const auto program = worker_program();
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A process group of its own: Ctrl-C reaches the scheduler alone, which then decides what to do with running trials.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const auto parent = std::to_string(getpid());
  char* arguments[] = {const_cast<char*>(program.c_str()), const_cast<char*>(parent.c_str()), nullptr};
  const int failed = posix_spawn(&pid_, program.c_str(), &files, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  close(in[0]);
  close(out[1]);
  to_ = in[1], from_ = out[0];
  if (failed != 0) throw Error(fmt::format("cannot start {}: {}", program.string(), std::strerror(failed)));
  std::signal(SIGPIPE, SIG_IGN);
  try {
    auto ready = next(120'000);
    if (!ready) throw WorkerEnded("it did not answer within 120 s");
    environment_ = ready->value("environment", json::object());
  } catch (const WorkerEnded& ended) {
    throw Error(fmt::format("{} did not start: {}", program.string(), ended.what()));
  }
}

WorkerClient::~WorkerClient() {
  close(to_);
  close(from_);
  if (pid_ > 0) {
    kill(-pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

void WorkerClient::send(const json& message) {
  const auto line = message.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  for (std::size_t done = 0; done < line.size();) {
    const auto n = write(to_, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;  // next() will tell how it ended
    done += static_cast<std::size_t>(n);
  }
}

std::optional<json> WorkerClient::next(int timeout_ms) {
  for (;;) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      auto message = json::parse(buffer_.substr(0, end), nullptr, false);
      buffer_.erase(0, end + 1);
      if (message.is_discarded()) continue;
      return message;
    }
    pollfd waiting{from_, POLLIN, 0};
    const int ready = poll(&waiting, 1, timeout_ms);
    if (ready <= 0) return std::nullopt;
    char chunk[65536];
    const auto n = read(from_, chunk, sizeof(chunk));
    if (n < 0 && errno == EINTR) return std::nullopt;
    if (n <= 0) {
      int status = 0;
      waitpid(pid_, &status, 0);
      pid_ = -1;
      const auto why = reason_of(status);
      throw WorkerEnded(why.empty() ? "it ended by itself" : why);
    }
    buffer_.append(chunk, static_cast<std::size_t>(n));
  }
}

json WorkerClient::ask(const std::string& kind, const json& spec, double timeout_s) {
  const int job = --last_ask_;  // negative: never the number of a trial
  send({{"do", "start"}, {"job", job}, {"kind", kind}, {"spec", spec}});
  const auto start = std::chrono::steady_clock::now();
  bool late = false;
  json answer;
  for (;;) {
    const auto event = next(timeout_s > 0 ? 200 : -1);
    if (timeout_s > 0 && !late && std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > timeout_s) {
      late = true;
      send({{"do", "kill"}, {"job", job}});
    }
    if (!event || event->value("job", 0) != job) continue;
    if (event->at("event") == "message") answer = event->at("data");
    if (event->at("event") != "ended") continue;
    if (late) return {{"failed", fmt::format("did not end within {:g} s", timeout_s)}, {"fault", true}, {"late", true}};
    const auto why = reason_of(event->at("status"));
    // A message of its own says more than the exit code that follows from it; a signal says more than what came before it.
    if (answer.contains("failed") || (why.empty() && !answer.is_null())) return answer;
    auto reason = why.empty() ? "it ended without an answer" : why;
    if (const auto output = event->value("output", ""); !output.empty())
      reason += "; its last output: " + one_line(output.substr(output.size() - std::min<std::size_t>(output.size(), 400)));
    return {{"failed", reason}, {"fault", true}};
  }
}

}  // namespace ablate
