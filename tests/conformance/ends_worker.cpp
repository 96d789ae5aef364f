// An attention that is right until it gets a mask. Then it kills the worker that checks it.
#include <unistd.h>

#include <csignal>

#include "ablate/headwise.h"

namespace {

class EndsWorker final : public ablate::HeadwiseAttention {
 public:
  explicit EndsWorker(const ablate::AttentionContext& context) : HeadwiseAttention(context, 2) {}

 private:
  ablate::HeadOutput attend(const ablate::HeadInput& input) override {
    if (input.mask.defined()) {
      kill(getppid(), SIGKILL);
      pause();
    }
    return {
        .values =
            (input.q.matmul(input.k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()))).softmax(-1).matmul(input.v)};
  }
};

}  // namespace

ABLATE_ATTENTION(EndsWorker, {.id = "ends-worker",
                              .version = "1.0.0",
                              .summary = "softmax attention that ends the worker",
                              .capabilities = {.key_padding = true, .time_exponent = 2, .memory_exponent = 2}})
