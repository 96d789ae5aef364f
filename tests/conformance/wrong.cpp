// Softmax attention with one fault. The parameter `fault` is a text, because the suite would try all values of a choice.
#include <unistd.h>

#include <csignal>
#include <thread>
#include <vector>

#include "ablate/headwise.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::text("fault", "\"padding\"", "",
                 "padding; throw, crash, exit, hang or wait where an item has nothing but padding; none"),
};

class Wrong final : public ablate::HeadwiseAttention {
 public:
  explicit Wrong(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, 2), fault_(context.parameters.text("fault")) {}

 private:
  ablate::HeadOutput attend(const ablate::HeadInput& input) override {
    const auto& mask = input.mask;
    auto scores = input.q.matmul(input.k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    if (mask.defined()) {
      const bool nothing = mask.any(1).logical_not().any().item().toBool();
      if (nothing && fault_ == "throw") throw std::runtime_error("thrown at a mask");
      if (nothing && fault_ == "crash") std::raise(SIGSEGV);
      if (nothing && fault_ == "exit") _exit(0);
      if (nothing && fault_ == "hang") {
        std::vector<std::jthread> all;  // 16 threads: with less processor time, the check would blame a busy machine
        for (int i = 0; i < 16; ++i)
          all.emplace_back([] {
            for (volatile bool spins = true; spins;) {
            }
          });
      }
      if (nothing && fault_ == "wait") pause();
      // With the fault "padding", padded keys stay in the denominator, although their scores and values are 0.
      if (fault_ != "padding") scores = scores.masked_fill(mask.logical_not().unsqueeze(1).unsqueeze(1), -1e9);
    }
    return {.values = scores.softmax(-1).matmul(input.v)};
  }

  std::string fault_;
};

}  // namespace

ABLATE_ATTENTION(Wrong, {.id = "wrong",
                         .version = "1.0.0",
                         .summary = "softmax attention with a fault",
                         .capabilities = {.key_padding = true, .time_exponent = 2, .memory_exponent = 2},
                         .parameters = parameters})
