#include "core/trial/server/crash_trace.h"

#define BACKWARD_HAS_DW 1
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <backward.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "core/registry/abi_check.h"
#include "core/shared/crash_trace_mark.h"

namespace ablate {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr std::size_t kFrames = 30;
constexpr std::size_t kNameLength = 200;  ///< maximum bytes of a function's name; all frames then fit into the stored output
constexpr std::size_t kStack = std::size_t{1} << 20;  ///< the reader of symbols needs much stack
constexpr std::size_t kPage = 4096;                   ///< nothing is mapped in the first page
constexpr unsigned kMostSeconds = 10;

// State that a signal handler can reach.
Say* say_crash = nullptr;
pid_t process = 0;
std::atomic<int> crashed_by{0};
std::atomic<pid_t> crashed_thread{0};

pid_t thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

/// Ends the process by the signal, as if it had no handler.
[[noreturn]] void end_by(int number) {
  std::signal(number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(number);
  _exit(128 + number);
}

void on_late(int) { end_by(crashed_by); }

/// True if code lies in a plugin's library. Reads the library's file: the loader may be in the middle of loading the library.
bool in_a_plugin(void* code) {
  Dl_info library{};
  return dladdr(code, &library) != 0 && abi_refusal(library.dli_fname, ABLATE_TORCH_VERSION).empty();
}

/// Returns the interrupted instruction or, if a null pointer was called, the call.
void* place_of(ucontext_t& context) {
#if defined(__x86_64__)
  auto* const registers = context.uc_mcontext.gregs;
  if (static_cast<std::size_t>(registers[REG_RIP]) < kPage) {
    registers[REG_RIP] = *reinterpret_cast<greg_t*>(registers[REG_RSP]);  // no unwinder knows a frame at 0
    registers[REG_RSP] += sizeof(greg_t);
  }
  return reinterpret_cast<void*>(registers[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(context.uc_mcontext.pc);
#else
  return nullptr;
#endif
}

void print_trace(int number, ucontext_t& context) {
  backward::StackTrace trace;
  void* const at = place_of(context);
  // Skips the handler's own frames, which come before the interrupted frame.
  trace.load_from(at, kFrames);
  backward::TraceResolver resolver;
  resolver.load_stacktrace(trace);
  std::string text = fmt::format("{}{}; the innermost frame first:\n", kCrashTrace, number), innermost;
  bool in_plugin = false;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (trace[i].addr == reinterpret_cast<void*>(-1)) break;  // caller of the first function
    const auto frame = resolver.resolve(trace[i]);
    auto name = frame.object_function.empty() ? fmt::format("{}", frame.addr) : frame.object_function;
    if (name.size() > kNameLength) name = name.substr(0, kNameLength - 3) + "...";
    auto line = fmt::format("{} in {}", name, std::filesystem::path(frame.object_filename).filename().string());
    if (!frame.source.filename.empty())
      line += fmt::format(" ({}:{})", std::filesystem::path(frame.source.filename).filename().string(), frame.source.line);
    text += fmt::format("  #{:<2} {}\n", i, line);
    if (!in_plugin && in_a_plugin(frame.addr)) {
      in_plugin = true;
      innermost = line;
    }
    if (innermost.empty()) innermost = line;
  }
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
  if (!innermost.empty()) (*say_crash)(to_json(Crashed{innermost}));
}

void on_crash(int number, siginfo_t*, void* context) {
  int none = 0;
  if (!crashed_by.compare_exchange_strong(none, number)) {
    if (crashed_thread == thread()) end_by(none);  // for example abort() while printing the trace
    for (;;) pause();                              // another thread prints the trace and ends the process
  }
  crashed_thread = thread();
  if (getpid() == process) {
    struct sigaction late {};
    late.sa_handler = on_late;
    late.sa_flags = SA_ONSTACK;
    sigaction(SIGALRM, &late, nullptr);
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
    alarm(kMostSeconds);
    try {
      print_trace(number, *static_cast<ucontext_t*>(context));
    } catch (...) {  // for example if memory ran out
    }
  }
  end_by(number);
}

}  // namespace

void trace_crashes(const Say& say) {
  if (kSanitized) return;
  unsetenv("DEBUGINFOD_URLS");  // else the reader of symbols would ask servers
  say_crash = new Say(say);     // never freed: lives as long as the process
  process = getpid();
  stack_t stack{};
  stack.ss_size = kStack;
  stack.ss_sp = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, nullptr) != 0) return;
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  // A fault in the handler ends the process at once, because a blocked fault is fatal.
  for (const int number : kSignals) sigaddset(&action.sa_mask, number);
  for (const int number : kSignals) sigaction(number, &action, nullptr);
}

}  // namespace ablate
