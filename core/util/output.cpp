#include "core/util/output.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string>
#include <thread>

namespace ablate {
namespace {

constexpr std::size_t kMostBytes = 1 << 18;  ///< limit of the waiting text

/// Waits for a slow reader. Text that cannot be written for another reason (a full disk, a closed descriptor) is lost.
void write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(to, text.data(), text.size());
    if (n < 0 && errno == EAGAIN) {  // another program that shares the descriptor made it non-blocking
      pollfd ready{to, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (n < 0 && errno != EINTR) {
      return;
    }
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

struct Output::State {
  int descriptor = -1;
  std::mutex mutex;
  std::condition_variable more, idle;
  std::string waiting;
  std::size_t left_out = 0;  ///< lines left out since the latest accepted text
  bool has_thread = false, writing = false, late = false, ended = false;

  bool is_idle() const { return waiting.empty() && left_out == 0 && !writing; }
};

Output::Output(int descriptor, Milliseconds patience) : state_(std::make_shared<State>()), patience_(patience) {
  state_->descriptor = descriptor;
}

Output::~Output() {
  finish(patience_);
  const std::lock_guard lock(state_->mutex);
  state_->ended = true;
  state_->more.notify_all();
}

int Output::descriptor() const noexcept { return state_->descriptor; }

bool Output::start() noexcept try {
  // Only the thread that waits for events handles signals.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(&Output::run, state_).detach();
    state_->has_thread = true;
  } catch (const std::exception&) {  // no thread can be made: write() then blocks, as in other programs
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return state_->has_thread;
} catch (...) {
  return false;
}

bool Output::write(std::string_view text) noexcept try {
  std::unique_lock lock(state_->mutex);
  auto& state = *state_;
  if (!state.has_thread && !start()) {
    write_all(state.descriptor, text);
    return true;
  }
  if (state.left_out > 0 || state.waiting.size() + text.size() > kMostBytes) {
    state.left_out += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    return false;
  }
  state.waiting += text;
  state.more.notify_all();
  if (!state.late) state.late = !state.idle.wait_for(lock, patience_, [&] { return state.is_idle(); });
  return true;
} catch (...) {
  return false;
}

bool Output::flows() const noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->is_idle();
}

void Output::finish(Milliseconds longest) noexcept {
  std::unique_lock lock(state_->mutex);
  state_->idle.wait_for(lock, longest, [&] { return state_->is_idle(); });
}

void Output::run(const std::shared_ptr<State>& shared) {
  auto& state = *shared;
  std::unique_lock lock(state.mutex);
  for (;;) {
    state.more.wait(lock, [&] { return state.ended || !state.is_idle(); });
    if (state.ended) return;
    auto text = std::move(state.waiting);
    state.waiting.clear();
    if (text.empty()) {  // all text before the gap has been written
      text = "(" + std::to_string(state.left_out) + " lines are missing here, because no program read the output)\n";
      state.left_out = 0;
    }
    state.writing = true;
    lock.unlock();
    write_all(state.descriptor, text);
    lock.lock();
    state.writing = false;
    if (!state.is_idle()) continue;
    state.late = false;
    state.idle.notify_all();
  }
}

Output& standard_error() {
  static auto& output = *new Output(STDERR_FILENO);
  return output;
}

}  // namespace ablate
