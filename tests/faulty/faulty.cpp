// An attention that fails on demand, in ways that the host must survive.
#include <ATen/Parallel.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "ablate/attention.h"
#include "ablate/linear.h"

namespace {

using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::text(
        "fault", "\"none\"",
        "none|throw-in-factory|null-factory|throw|throw-int|throw-lines|throw-on-step|segfault|null-write|null-call|recursion|"
        "corrupt-heap|crash-unheard|abort|exit|exit-at-end|nan|nan-in-evaluation|hang|memory|grow|wrong-shape|broadcast|wrong-"
        "type|"
        "undefined|strided|bad-loss|nan-metric|odd-metric|print|print-on|close|fork|chdir|orphan|daemon-and-hang|unpromised|"
        "kill-worker|threads|slow|"
        "forge|forge-and-crash",
        "what goes wrong"),
    ablate::integer("after", "2", {0, 1000}, "forward passes that go well before"),
};

/// Recurses for ever. Each call needs its own frame, because its result depends on the next call.
__attribute__((noinline)) std::int64_t recurse_without_end(std::int64_t depth) {
  volatile char frame[256];
  frame[0] = static_cast<char>(depth);
  if (depth < 0) return 0;
  return recurse_without_end(depth + 1) + frame[0];
}

/// Breaks malloc's lists: the next small allocation fails.
void corrupt_heap() {
  void* volatile blocks[2];
  for (std::size_t size = 24; size <= 1000; size += 16) {
    for (auto& block : blocks) block = std::malloc(size);
    for (auto& block : blocks) std::free(block);
    std::memset(blocks[1], 0x11, sizeof(void*));  // a freed block's link to the next one
  }
  for (auto& block : blocks) block = std::malloc(24);
}

/// Blocks standard error: every later write to it waits for ever.
void block_stderr() {
  int ends[2];
  if (pipe2(ends, O_NONBLOCK) != 0) std::abort();
  while (write(ends[1], "full", 4) > 0) {
  }
  fcntl(ends[1], F_SETFL, 0);
  dup2(ends[1], STDERR_FILENO);
}

/// Returns values without attention. The base class is not HeadwiseAttention, whose forward pass cannot go wrong.
class Faulty final : public ablate::Attention {
 public:
  explicit Faulty(const ablate::AttentionContext& context)
      : fault_(context.parameters.text("fault")), left_(context.parameters.integer("after")) {
    const auto project = [&](const char* name) {
      return register_module(name, ablate::make_linear(context.d_model, context.d_model, true, context.generator));
    };
    value_ = project("value");
    output_ = project("output");
    if (fault_ == "throw-in-factory") throw std::runtime_error("the factory has thrown, as it was asked to");
    if (fault_ == "unpromised") context.parts.compression("memory", {{1, 2}}, 1, context.d_model);
    if (fault_ == "exit-at-end") std::atexit([] { _exit(0); });
  }

 private:
  ablate::AttentionOutput do_forward(const ablate::AttentionInput& input) override {
    const auto& mask = input.mask;
    const auto context = mask.defined() ? input.context.masked_fill(mask.logical_not().unsqueeze(-1), 0) : input.context;
    ablate::AttentionOutput result{.output = output_->forward(attended(value_->forward(context)))};
    if (fault_ == "undefined") result.output = Tensor();
    if (fault_ == "broadcast") result.output = result.output.slice(1, 0, 1);
    if (fault_ == "wrong-type") result.output = result.output.to(ablate::kDouble);
    if (fault_ == "strided") result.output = result.output.transpose(1, 2).contiguous().transpose(1, 2);
    if (fault_ == "bad-loss") result.auxiliary_loss = result.output.sum(-1);
    if (fault_ == "nan-in-evaluation" && !is_training()) result.output = result.output * std::nan("");
    if (fault_ == "nan-metric") result.metrics.push_back({"share", std::nan(""), ""});
    if (fault_ == "odd-metric") result.metrics.push_back({"Share \"of\"\n", 1, ""});
    return result;
  }

  void do_step(std::int64_t, const ablate::Generator&) override {
    if (fault_ == "throw-on-step") throw std::runtime_error("on_step has thrown, as it was asked to");
  }

  Tensor attended(const Tensor& values) {
    if (fault_ == "none" || left_-- > 0) return values;
    std::cout << "about to: " << fault_ << std::endl;
    if (fault_ == "throw") throw std::runtime_error("attend has thrown, as it was asked to");
    if (fault_ == "throw-int") throw 42;
    if (fault_ == "throw-lines") throw std::runtime_error("first\n\033[2Jsecond \xff line");
    if (fault_ == "segfault") std::raise(SIGSEGV);
    if (fault_ == "null-write") *null_ = 1;
    if (fault_ == "null-call") null_call_();
    if (fault_ == "corrupt-heap") corrupt_heap();
    if (fault_ == "crash-unheard") {
      block_stderr();
      *null_ = 1;
    }
    if (fault_ == "recursion") left_ = recurse_without_end(0);
    if (fault_ == "abort") std::abort();
    if (fault_ == "exit") _exit(0);
    if (fault_ == "nan" && is_training()) return values * std::nan("");
    if (fault_ == "hang") pause();
    if (fault_ == "grow") {
      static const std::vector<char> grown(std::size_t{400} << 20, 1);
      pause();
    }
    if (fault_ == "memory") return ablate::empty({std::int64_t{1} << 46});
    if (fault_ == "wrong-shape") return values.slice(2, 0, 1);
    if (fault_ == "print") std::cout << std::string(std::size_t{64} << 20, 'p') << std::endl;
    while (fault_ == "print-on") std::cout << std::string(1 << 20, 'p') << std::endl;
    if (fault_ == "close") closefrom(3);
    const bool first = left_ == -1;  // copies of copies would fill the machine
    if (fault_ == "fork" && first) fork();
    if (fault_ == "chdir" && chdir("/") != 0) std::abort();
    if (fault_ == "orphan" && first && fork() == 0) {
      setsid();
      execlp("sleep", "sleep", "98765", nullptr);
      _exit(1);
    }
    if (fault_ == "daemon-and-hang") {
      if (fork() == 0) {
        setsid();
        execlp("sleep", "sleep", "98764", nullptr);
      }
      pause();
    }
    if (fault_.starts_with("forge")) forge();
    if (fault_ == "forge-and-crash") std::raise(SIGSEGV);
    if (fault_ == "threads") at::set_num_threads(7);
    if (fault_ == "slow") usleep(10'000);
    if (fault_ == "kill-worker") kill(getppid(), SIGKILL);
    return values;
  }

  /// Writes the answer of a completed trial into every descriptor that accepts it.
  static void forge() {
    const std::string_view line = "{\"results\": {\"test/accuracy\": 100}, \"curve\": [], \"metrics\": []}\n{\"results\": 7}\n";
    for (int descriptor = 3; descriptor < 64; ++descriptor)
      if ((fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_WRONLY)
        if (write(descriptor, line.data(), line.size()) < 0) continue;
  }

  std::string fault_;
  std::int64_t left_;
  std::shared_ptr<ablate::Linear> value_, output_;
  volatile int* volatile null_ = nullptr;
  void (*volatile null_call_)() = nullptr;
};

}  // namespace

// ABLATE_ATTENTION written out, because the macro's factory cannot return null.
namespace {
constexpr ablate::Descriptor ablate_descriptor = [] {
  auto descriptor = ablate::detail::describe(ablate::Kind::kAttention, {.id = "faulty",
                                                                        .version = "1.0.0",
                                                                        .summary = "fails on demand",
                                                                        .capabilities = {.key_padding = true},
                                                                        .parameters = parameters});
  descriptor.make_attention = [](const ablate::AttentionContext& context) -> std::shared_ptr<ablate::Attention> {
    if (context.parameters.text("fault") == "null-factory") return nullptr;
    return std::make_shared<Faulty>(context);
  };
  return descriptor;
}();
}  // namespace
ABLATE_EXPORT_PLUGIN(ablate_descriptor)
