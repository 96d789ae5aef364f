// An attention that fails on demand: what the host must survive.
#include <ATen/ATen.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "ablate/headwise.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::text(
        "fault", "\"none\"",
        "none|throw-in-factory|throw|throw-int|segfault|abort|exit|nan|nan-gradient|hang|memory|wrong-shape|kill-worker",
        "what goes wrong"),
    ablate::integer("after", "2", {0, 1000}, "forward passes that go well before"),
};

class Faulty : public ablate::HeadwiseAttention {
 public:
  explicit Faulty(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, 1), fault_(context.parameters.text("fault")), left_(context.parameters.integer("after")) {
    if (fault_ == "throw-in-factory") throw std::runtime_error("the factory has thrown, as it was asked to");
  }

  torch::Tensor attend(const torch::Tensor& queries, const torch::Tensor&, const torch::Tensor& values,
                       const torch::Tensor&) override {
    if (fault_ == "none" || left_-- > 0) return values;
    std::cout << "about to: " << fault_ << std::endl;
    if (fault_ == "throw") throw std::runtime_error("attend has thrown, as it was asked to");
    if (fault_ == "throw-int") throw 42;
    if (fault_ == "segfault") std::raise(SIGSEGV);
    if (fault_ == "abort") std::abort();
    if (fault_ == "exit") _exit(0);
    if (fault_ == "nan") return values * std::nan("");
    if (fault_ == "hang") pause();
    if (fault_ == "memory") return at::empty({int64_t{1} << 46});
    if (fault_ == "wrong-shape") return queries.slice(2, 0, 1).slice(3, 0, 1);
    if (fault_ == "kill-worker") kill(getppid(), SIGKILL);
    return values;
  }

 private:
  std::string fault_;
  std::int64_t left_;
};

}  // namespace

ABLATE_ATTENTION(Faulty, {.id = "faulty",
                          .version = "1.0.0",
                          .summary = "fails on demand",
                          .capabilities = {.key_padding = true},
                          .parameters = parameters})
