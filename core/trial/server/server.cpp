#include "core/trial/server/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "core/shared/build_identity.h"
#include "core/trial/server/job_process.h"
#include "core/util/error.h"
#include "core/util/one_line.h"
#include "core/util/orphans.h"
#include "core/util/outbox.h"

namespace ablate {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

/// Limit of bytes that the scheduler has not read. Above this limit, messages stay in the pipes of the jobs, and jobs wait.
constexpr std::size_t kMostUnread = std::size_t{1} << 26;
constexpr int kLongestWaitMs = 1000;                  ///< while a job runs
constexpr auto kOversleep = std::chrono::seconds(1);  ///< a wait that is late by this much shows that the process was stopped

std::string line(const json& message) { return message.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"; }

/// Returns how many jobs the limit of open files allows. A job keeps kOfAJob files open: one end of each of
/// two pipes, and a pidfd. kSpare is for the pipes' other ends, which are closed soon, and for plugins.
int most_jobs() {
  constexpr int kOfAJob = 3, kSpare = 32;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto open = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  const auto most = std::min<rlim_t>(limit.rlim_cur, 1'000'000);
  return std::max(1, (static_cast<int>(most) - static_cast<int>(open) - kSpare) / kOfAJob);
}

/// The input ends if the scheduler dies. A worker that is stopped at that moment must wake up to notice the end.
void wake_at_parents_end() { prctl(PR_SET_PDEATHSIG, SIGCONT); }

class Server {
 public:
  Server(int input, int output, ProcessState& state, Jobs& jobs) : input_(input), output_(output), jobs_(jobs), state_(state) {
    fcntl(output_, F_SETFL, O_NONBLOCK);
  }

  void run(const json& environment) {
    const auto word = secret_word();
    say(ReadyEvent{environment, most_jobs(), word, build_identity()});
    word_ = word;
    while (open_) {
      wait();
      std::vector<int> ended;
      for (auto& [job, child] : children_) {
        forward(job, child.read(reads_messages()));
        child.end_if_late();
        if (const auto bytes = child.look_at_size()) say(SizeEvent{job, *bytes});
        if (child.has_ended()) ended.push_back(job);
      }
      for (const int job : ended) reap(job);
    }
    children_.clear();
    end_orphans({});
  }

 private:
  /// Waits until there is work. A scheduler that does not read, because it is stopped or waits for a lock, blocks nobody:
  /// unread messages are stored here, up to kMostUnread.
  void wait() {
    flush();
    std::vector<pollfd> waiting{{input_, POLLIN, 0}};
    if (!unwritten_.empty()) waiting.push_back({output_, POLLOUT, 0});
    int left = -1;
    for (const auto& [job, child] : children_) {
      child.wait_for(waiting, reads_messages());
      if (const int its = child.milliseconds_left(); its >= 0) left = std::min(left < 0 ? kLongestWaitMs : left, its);
    }
    const auto start = Clock::now();
    if (poll(waiting.data(), waiting.size(), left) < 0 && errno != EINTR) throw std::runtime_error(std::strerror(errno));
    const auto overslept = Clock::now() - start - std::chrono::milliseconds(left);
    if (left >= 0 && overslept > kOversleep)
      for (auto& [job, child] : children_) child.forgive(overslept);
    if (waiting[0].revents != 0) commands();
  }

  void say(const Event& event) {
    unwritten_.add(word_ + line(event_to_json(event)));
    flush();
  }

  void flush() { open_ = unwritten_.flush(output_) && open_; }

  /// True if messages of jobs are read now.
  bool reads_messages() const { return unwritten_.size() < kMostUnread; }

  void commands() {
    char chunk[65536];
    const auto n = read(input_, chunk, sizeof(chunk));
    if (n == 0 || (n < 0 && errno != EINTR)) open_ = false;
    if (n > 0) unread_.append(chunk, static_cast<std::size_t>(n));
    for (std::size_t end; (end = unread_.find('\n')) != std::string::npos;) {
      const auto command = command_from_json(json::parse(unread_.substr(0, end)));
      unread_.erase(0, end + 1);
      std::visit([this](const auto& one) { obey(one); }, command);
    }
  }

  void obey(const PingCommand&) { say(PongEvent()); }

  void obey(const KillCommand& command) {
    if (const auto found = children_.find(command.job); found != children_.end()) found->second.kill();
  }

  void obey(const SaveCommand& command) {
    if (const auto found = children_.find(command.job); found != children_.end()) found->second.ask_to_save();
  }

  void obey(const LoadCommand& command) {
    const pid_t self = getpid();
    Event answer = LoadedEvent();
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // plugin code runs here and may never return to notice the end of the input
    try {
      jobs_.load(command);
    } catch (const Error& error) {
      answer = RefusedEvent{one_line(error.what()), error.code()};
    } catch (const std::exception& error) {
      answer = RefusedEvent{one_line(error.what())};
    } catch (...) {
      answer = RefusedEvent{"an exception that is no std::exception"};
    }
    if (getpid() != self) _exit(1);  // a plugin has forked: its copy of this process must not answer
    put_back();
    if (const auto lost = state_.lost(); !lost.empty())
      answer = RefusedEvent{"the loaded code changes the worker for good: " + lost, ExitCode::kPlugin, true};
    wake_at_parents_end();
    say(answer);
  }

  void obey(const StartCommand& command) {
    const auto prepare = [this] {
      close(input_);
      close(output_);
      for (const auto& [other, child] : children_) child.close_in_child();
      put_back();
    };
    const auto run = [&](const Say& say) {
      state_.keep_limits();  // the job's own, set after its process started
      jobs_.run(command.kind, command.spec, say);
    };
    try {
      children_.try_emplace(command.job, JobLimits{command.limit_s, command.memory_bytes, command.processors},
                            command.output_file, prepare, run);
    } catch (const std::system_error& error) {
      say(NotStartedEvent{command.job, error.what()});
    }
  }

  void put_back() const {
    state_.restore();
    ProcessState::restore_signals();
  }

  void forward(int job, std::vector<json> messages) {
    for (auto& data : messages) say(SaidEvent{job, std::move(data)});
  }

  void reap(int job) {
    std::vector<json> last;
    auto event = children_.at(job).end([&] { end_left_behind(job); }, last);
    forward(job, std::move(last));
    children_.erase(job);
    event.job = job;
    say(event);
  }

  void end_left_behind(int gone) {
    std::set<pid_t> jobs;
    for (const auto& [job, child] : children_)
      if (job != gone) jobs.insert(child.pid());
    end_orphans(jobs);
  }

  int input_, output_;
  Jobs& jobs_;
  ProcessState& state_;
  bool open_ = true;
  std::string word_;  ///< begins every message, because threads of libraries in this process may write, too
  std::string unread_;
  Outbox unwritten_;
  std::map<int, JobProcess> children_;
};

}  // namespace

void serve(int input, int output, const nlohmann::json& environment, ProcessState& state, Jobs& jobs) {
  for (const int end : {input, output}) fcntl(end, F_SETFD, FD_CLOEXEC);
  ProcessState::restore_signals();
  adopt_orphans();
  wake_at_parents_end();
  Server(input, output, state, jobs).run(environment);
}

}  // namespace ablate
